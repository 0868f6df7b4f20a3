package interpret

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/render"
	"ushuru/pkg/sheet/transcribe"
)

// TestTraps has every trap of the list in which readers of sheets were caught.
func TestTraps(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*transcribe.Transcript)
		holds  func(*sheet.Report) bool
	}{
		{"overall 3 with exterior E and interior B is reported as it stands", func(raw *transcribe.Transcript) {
			raw.Reading.Grades, raw.Second.Overall = transcribe.Grades{Overall: "3", Exterior: "E", Interior: "B"}, "3"
		}, func(r *sheet.Report) bool {
			return *r.Grades.OverallRaw == "3" && *r.Grades.Exterior == "E" && *r.Grades.Interior == "B" && *r.Grades.Group == sheet.Graded
		}},
		{"a trim R is no grade", func(raw *transcribe.Transcript) {
			raw.Reading.Vehicle.Trim, raw.Reading.Grades.Overall, raw.Second.Overall = "R", sheet.NotPrinted, sheet.NotPrinted
		}, func(r *sheet.Report) bool {
			return *r.Vehicle.Trim == "R" && r.Grades.OverallRaw == nil && r.RepairHistory.Status == sheet.RepairNotStated && !raised(r, sheet.FlagRepairGrade)
		}},
		{"a trim X is no code", func(raw *transcribe.Transcript) {
			raw.Reading.Vehicle.Trim, raw.Reading.Map = "X", nil
		}, func(r *sheet.Report) bool {
			return *r.Vehicle.Trim == "X" && len(r.BodyMap) == 0 && !raised(r, "exterior")
		}},
		{"130th keeps its digits", func(raw *transcribe.Transcript) {
			raw.Reading.Vehicle.Trim = "130thアニバーサリー"
		}, func(r *sheet.Report) bool { return *r.Vehicle.Trim == "130thアニバーサリー" }},
		{"IAT is a dash automatic", func(raw *transcribe.Transcript) {
			raw.Reading.Vehicle.Shift = "IAT"
		}, func(r *sheet.Report) bool {
			return strings.Contains(r.Vehicle.Shift.EN, "dashboard") && *r.Vehicle.ShiftRaw == "IAT"
		}},
		{"F6 is a six-speed floor manual", func(raw *transcribe.Transcript) {
			raw.Reading.Vehicle.Shift = "F6"
		}, func(r *sheet.Report) bool { return r.Vehicle.Shift.EN == "manual, 6 gears, floor lever" }},
		{"6/1 without era goes by the years of the code", func(raw *transcribe.Transcript) {
			raw.Reading.Vehicle.ModelCode, raw.Reading.Vehicle.ChassisNo = "E-BNR32", "BNR32-0305617"
			raw.Reading.Dates.FirstRegistration, raw.Second.FirstRegistration = "6/1", "6/1"
		}, func(r *sheet.Report) bool {
			return *r.Dates.FirstRegistration == "1994-01" && concluded(r, "dates.first_registration")
		}},
		{"6/1 without era and without a code is not guessed", func(raw *transcribe.Transcript) {
			raw.Reading.Vehicle.ModelCode, raw.Reading.Vehicle.ChassisNo = "フメイ", "不明"
			raw.Reading.Dates.FirstRegistration, raw.Second.FirstRegistration = "6/1", "6/1"
		}, func(r *sheet.Report) bool {
			return r.Dates.FirstRegistration == nil && *r.Dates.FirstRegistrationRaw == "6/1" && why(r, "dates.first_registration") == sheet.EraMissing
		}},
		{"X3 where the legend has only X", func(raw *transcribe.Transcript) {
			raw.Reading.Legend = []transcribe.LegendLine{{Code: "X", JP: "要交換"}, {Code: "XX", JP: "交換済み"}}
			raw.Reading.Map = []transcribe.Mark{{Panel: "front_bumper", Side: "none", Code: "X3"}}
		}, func(r *sheet.Report) bool {
			m := r.BodyMap[0]
			return m.CodeRaw == "X3" && m.Meaning.EN == "needs replacing" && *m.SizeRaw == 3 && m.SizeMeans == nil && m.FromLegend
		}},
		{"no repair mark anywhere is not stated", func(*transcribe.Transcript) {}, func(r *sheet.Report) bool { return r.RepairHistory.Status == sheet.RepairNotStated }},
		{"RA is repair history, and no airbag", func(raw *transcribe.Transcript) {
			raw.Reading.Grades.Overall, raw.Second.Overall = "RA", "RA"
		}, func(r *sheet.Report) bool {
			return *r.Grades.OverallRaw == "RA" && *r.Grades.Group == sheet.RepairGrade && r.RepairHistory.Status == sheet.RepairYes &&
				strings.Contains(r.Grades.Meaning.EN, "not standardised") && raised(r, sheet.FlagRepairGrade)
		}},
		{"miles stay miles", func(raw *transcribe.Transcript) {
			raw.Reading.Mileage, raw.Second.Unit = transcribe.Mileage{Digits: "031200", Unit: "mile", Flag: sheet.NotPrinted}, "mile"
			raw.Second.Boxes = []string{"0", "3", "1", "2", "0", "0"}
		}, func(r *sheet.Report) bool {
			return *r.Mileage.Value == 31200 && *r.Mileage.Unit == "mile" && *r.Mileage.RawDigits == "031200" && *r.Mileage.ValueKM == 50212
		}},
		{"a change of colour says both", func(raw *transcribe.Transcript) {
			raw.Reading.Vehicle.Colour, raw.Second.Colour = "レッド→クロ", "レッド→クロ"
		}, func(r *sheet.Report) bool {
			return r.Vehicle.ColourChanged && r.Vehicle.OriginalColour.EN == "red" && r.Vehicle.Colour.EN == "black" && raised(r, sheet.FlagColourChanged)
		}},
		{"無効 in the corner of accident cars", func(raw *transcribe.Transcript) {
			raw.Reading.Grades.Overall, raw.Second.Overall, raw.Reading.House.Corner = "無効", "無効", "事故・現状"
		}, func(r *sheet.Report) bool {
			return *r.Grades.Group == sheet.WreckGrade && raised(r, sheet.FlagWreckGrade) && raised(r, "accident")
		}},
		{"型式 フメイ is no code", func(raw *transcribe.Transcript) {
			raw.Reading.Vehicle.ModelCode, raw.Reading.Vehicle.ChassisNo = "フメイ", ""
		}, func(r *sheet.Report) bool {
			return r.Vehicle.ModelCodeRaw == nil && r.Vehicle.ChassisCode == nil && why(r, "vehicle.model_code_raw") == sheet.PrintedUnknown
		}},
		{"petrol on DAA-NHP10 is kept beside hybrid", func(raw *transcribe.Transcript) {
			raw.Reading.Vehicle.ModelCode, raw.Reading.Vehicle.ChassisNo = "DAA-NHP10", "NHP10-6212345"
		}, func(r *sheet.Report) bool {
			return *r.Vehicle.FuelPrinted == "petrol" && *r.Vehicle.FuelDerived == "hybrid"
		}},
		{"a covered lower half brings no damage of the rear", func(raw *transcribe.Transcript) {
			raw.Classification.Readability, raw.Classification.UnreadableAreas = "partial", []string{"lower_half"}
			raw.Reading.Map, raw.Reading.Notes = nil, nil
		}, func(r *sheet.Report) bool {
			return len(r.BodyMap) == 0 && slices.Contains(r.Readability.UnreadableAreas, "lower_half") && r.Confidence.BodyMap == sheet.Weak &&
				raised(r, sheet.FlagUnreadable)
		}},
		{"a parallel import gives a model year", func(raw *transcribe.Transcript) {
			raw.Reading.Vehicle.ImportChannel, raw.Reading.Vehicle.ModelYear = "並行", "2015"
		}, func(r *sheet.Report) bool {
			return *r.Vehicle.ImportChannel == "parallel" && *r.Vehicle.ModelYear == 2015
		}},
		{"1オーナー among selling points is the seller's claim", func(*transcribe.Transcript) {}, func(r *sheet.Report) bool {
			return len(r.SellerPoints) == 1 && r.SellerPoints[0].JP == "1オーナー" && r.SellerPoints[0].Translation.EN.Text == "one owner"
		}},
		{"E is a dimple, never the engine", func(raw *transcribe.Transcript) {
			raw.Reading.Map = []transcribe.Mark{{Panel: "bonnet", Side: "none", Code: "E"}}
		}, func(r *sheet.Report) bool { return strings.Contains(r.BodyMap[0].Meaning.EN, "dimple") }},
		{"a code of neither legend nor table has no meaning", func(raw *transcribe.Transcript) {
			raw.Reading.Map = []transcribe.Mark{{Panel: "bonnet", Side: "none", Code: "Q2"}}
		}, func(r *sheet.Report) bool { return r.BodyMap[0].Meaning == nil && r.BodyMap[0].CodeRaw == "Q2" }},
		{"AU stands for both letters", func(raw *transcribe.Transcript) {
			raw.Reading.Map = []transcribe.Mark{{Panel: "rear_door", Side: "left", Code: "AU2"}}
		}, func(r *sheet.Report) bool {
			return r.BodyMap[0].Meaning.EN == "scratch and dent, paint not broken" && r.BodyMap[0].SizeMeans.EN == "about 20 cm"
		}},
		{"a number of three digits may be thousands", func(raw *transcribe.Transcript) {
			raw.Reading.Mileage.Digits, raw.Second.Boxes = "089", []string{"/", "/", "/", "0", "8", "9"}
		}, func(r *sheet.Report) bool {
			return *r.Mileage.Value == 89 && r.Mileage.ScaleInferred && *r.Mileage.Thousands == 89000
		}},
		{"mileage unknown", func(raw *transcribe.Transcript) {
			raw.Reading.Mileage.Flag, raw.Second.Flag = "#", "#"
		}, func(r *sheet.Report) bool {
			return *r.Mileage.Flag == sheet.Unknown && raised(r, sheet.FlagMeterUnknown)
		}},
		{"words for a flag count where the sign was missed", func(raw *transcribe.Transcript) {
			raw.Reading.Notes = []transcribe.Note{{Author: transcribe.InspectorNotes, JP: "メーター改ざん車"}}
		}, func(r *sheet.Report) bool { return *r.Mileage.Flag == sheet.Tampered && concluded(r, "mileage.flag") }},
		{"flooded is found whatever the machine translates", func(raw *transcribe.Transcript) {
			raw.Reading.Notes = []transcribe.Note{{Author: transcribe.InspectorNotes, JP: "エンジンルーム冠水跡有", Kind: "info", Area: "equipment", EN: "a bit wet", SW: "unyevu kidogo"}}
		}, func(r *sheet.Report) bool {
			return raised(r, "flood") && r.InspectorNotes[0].Severity == sheet.High
		}},
		{"what is said not to be there raises nothing", func(raw *transcribe.Transcript) {
			raw.Reading.Notes = []transcribe.Note{{Author: transcribe.SellerPoints, JP: "冠水歴無し"}, {Author: transcribe.SellerPoints, JP: "修復歴なし"}}
		}, func(r *sheet.Report) bool {
			return !raised(r, "flood") && r.RepairHistory.Status == sheet.RepairNo && !raised(r, sheet.FlagRepairHistory)
		}},
		{"a repaired core support is evidence, not yet a repair history", func(raw *transcribe.Transcript) {
			raw.Reading.Notes = []transcribe.Note{{Author: transcribe.InspectorNotes, JP: "コアサポート交換"}}
		}, func(r *sheet.Report) bool {
			return r.RepairHistory.Status == sheet.RepairNotStated && raised(r, "frame") && len(r.RepairHistory.Evidence) == 1 &&
				strings.HasPrefix(r.RepairHistory.Parts[0].EN, "core support")
		}},
		{"a floor mat is no part of the frame", func(raw *transcribe.Transcript) {
			raw.Reading.Notes = []transcribe.Note{{Author: transcribe.InspectorNotes, JP: "フロアマット汚れ"}}
		}, func(r *sheet.Report) bool { return !raised(r, "frame") }},
		{"rental use", func(raw *transcribe.Transcript) { raw.Reading.Vehicle.Use = "レンタ" }, func(r *sheet.Report) bool {
			return *r.Vehicle.UseHistory == "rental" && raised(r, sheet.FlagUse)
		}},
		{"corrosion of a sill", func(raw *transcribe.Transcript) {
			raw.Reading.Map = []transcribe.Mark{{Panel: "sill", Side: "left", Code: "C1"}}
		}, func(r *sheet.Report) bool { return raised(r, "rust") }},
		{"full width is folded", func(raw *transcribe.Transcript) {
			raw.Reading.Vehicle.ModelCode, raw.Reading.Vehicle.CC, raw.Reading.Vehicle.ChassisNo = "ＤＢＡ−ＧＫ３", "１３１０", "ＧＫ３−１１０２４１７"
		}, func(r *sheet.Report) bool {
			return *r.Vehicle.ModelCodeRaw == "DBA-GK3" && *r.Vehicle.CC == 1310 && *r.Vehicle.ChassisNoMasked == "GK3-11*****"
		}},
	} {
		r := read(test.change)
		if !test.holds(r) {
			shown, _ := json.MarshalIndent(r, "", " ")
			t.Errorf("%s: not so in %s", test.name, shown)
		}
		for _, lang := range []string{sheet.English, sheet.Swahili} {
			text, err := render.Text(r, lang, nil)
			if low := strings.ToLower(text); err != nil || strings.Contains(low, "airbag") && strings.Contains(low, "fired") {
				t.Errorf("%s: %v in\n%s", test.name, err, text)
			}
		}
	}
}

func raised(r *sheet.Report, rule string) bool {
	return slices.ContainsFunc(r.RedFlags, func(f sheet.RedFlag) bool { return f.Rule == rule && f.Text.EN != "" && f.Text.SW != "" })
}

func concluded(r *sheet.Report, field string) bool {
	return slices.ContainsFunc(r.Inferred, func(i sheet.Inference) bool { return i.Field == field })
}

// why says why a field is null; "" when it is not.
func why(r *sheet.Report, field string) sheet.Reason {
	for _, u := range r.Unreadable {
		if u.Field == field {
			return u.Reason
		}
	}
	return ""
}
