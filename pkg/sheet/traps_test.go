package sheet

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestTraps has every trap of the list in which readers of sheets were caught.
func TestTraps(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Raw)
		holds  func(*Report) bool
	}{
		{"overall 3 with exterior E and interior B is reported as it stands", func(raw *Raw) {
			raw.Sheet.Grades, raw.Again.Overall = RawGrades{"3", "E", "B"}, "3"
		}, func(r *Report) bool {
			return *r.Grades.OverallRaw == "3" && *r.Grades.Exterior == "E" && *r.Grades.Interior == "B" && *r.Grades.Group == Graded
		}},
		{"a trim R is no grade", func(raw *Raw) {
			raw.Sheet.Vehicle.Trim, raw.Sheet.Grades.Overall, raw.Again.Overall = "R", NotPrinted, NotPrinted
		}, func(r *Report) bool {
			return *r.Vehicle.Trim == "R" && r.Grades.OverallRaw == nil && r.RepairHistory.Status == RepairNotStated && !raised(r, FlagRepairGrade)
		}},
		{"a trim X is no code", func(raw *Raw) {
			raw.Sheet.Vehicle.Trim, raw.Sheet.Map = "X", nil
		}, func(r *Report) bool {
			return *r.Vehicle.Trim == "X" && len(r.BodyMap) == 0 && !raised(r, FlagReplacedPart)
		}},
		{"130th keeps its digits", func(raw *Raw) {
			raw.Sheet.Vehicle.Trim = "130thアニバーサリー"
		}, func(r *Report) bool { return *r.Vehicle.Trim == "130thアニバーサリー" }},
		{"IAT is a dash automatic", func(raw *Raw) {
			raw.Sheet.Vehicle.Shift = "IAT"
		}, func(r *Report) bool {
			return strings.Contains(r.Vehicle.Shift.EN, "dashboard") && *r.Vehicle.ShiftRaw == "IAT"
		}},
		{"F6 is a six-speed floor manual", func(raw *Raw) {
			raw.Sheet.Vehicle.Shift = "F6"
		}, func(r *Report) bool { return r.Vehicle.Shift.EN == "manual, 6 gears, floor lever" }},
		{"6/1 without era goes by the years of the code", func(raw *Raw) {
			raw.Sheet.Vehicle.ModelCode, raw.Sheet.Vehicle.ChassisNo = "E-BNR32", "BNR32-0305617"
			raw.Sheet.Dates.FirstRegistration, raw.Again.FirstRegistration = "6/1", "6/1"
		}, func(r *Report) bool {
			return *r.Dates.FirstRegistration == "1994-01" && concluded(r, "dates.first_registration")
		}},
		{"6/1 without era and without a code is not guessed", func(raw *Raw) {
			raw.Sheet.Vehicle.ModelCode, raw.Sheet.Vehicle.ChassisNo = "フメイ", "不明"
			raw.Sheet.Dates.FirstRegistration, raw.Again.FirstRegistration = "6/1", "6/1"
		}, func(r *Report) bool {
			return r.Dates.FirstRegistration == nil && *r.Dates.FirstRegistrationRaw == "6/1" && why(r, "dates.first_registration") == EraMissing
		}},
		{"X3 where the legend has only X", func(raw *Raw) {
			raw.Sheet.Legend = []RawLegend{{"X", "要交換"}, {"XX", "交換済み"}}
			raw.Sheet.Map = []RawMark{{"front_bumper", "none", "X3"}}
		}, func(r *Report) bool {
			m := r.BodyMap[0]
			return m.CodeRaw == "X3" && m.Meaning.EN == "needs replacing" && *m.SizeRaw == 3 && m.SizeMeans == nil && m.FromLegend
		}},
		{"no repair mark anywhere is not stated", func(*Raw) {}, func(r *Report) bool { return r.RepairHistory.Status == RepairNotStated }},
		{"RA is repair history, and no airbag", func(raw *Raw) {
			raw.Sheet.Grades.Overall, raw.Again.Overall = "RA", "RA"
		}, func(r *Report) bool {
			return *r.Grades.OverallRaw == "RA" && *r.Grades.Group == RepairGrade && r.RepairHistory.Status == RepairYes &&
				strings.Contains(r.Grades.Meaning.EN, "not standardised") && raised(r, FlagRepairGrade)
		}},
		{"miles stay miles", func(raw *Raw) {
			raw.Sheet.Mileage, raw.Again.Unit = RawMileage{"031200", "mile", NotPrinted}, "mile"
			raw.Again.Boxes = []string{"0", "3", "1", "2", "0", "0"}
		}, func(r *Report) bool {
			return *r.Mileage.Value == 31200 && *r.Mileage.Unit == "mile" && *r.Mileage.RawDigits == "031200" && *r.Mileage.ValueKM == 50212
		}},
		{"a change of colour says both", func(raw *Raw) {
			raw.Sheet.Vehicle.Colour, raw.Again.Colour = "レッド→クロ", "レッド→クロ"
		}, func(r *Report) bool {
			return r.Vehicle.ColourChanged && r.Vehicle.OriginalColour.EN == "red" && r.Vehicle.Colour.EN == "black" && raised(r, FlagColourChanged)
		}},
		{"無効 in the corner of accident cars", func(raw *Raw) {
			raw.Sheet.Grades.Overall, raw.Again.Overall, raw.Sheet.House.Corner = "無効", "無効", "事故・現状"
		}, func(r *Report) bool {
			return *r.Grades.Group == NotGraded && raised(r, FlagNotGraded) && raised(r, FlagAccidentCorner)
		}},
		{"型式 フメイ is no code", func(raw *Raw) {
			raw.Sheet.Vehicle.ModelCode, raw.Sheet.Vehicle.ChassisNo = "フメイ", ""
		}, func(r *Report) bool {
			return r.Vehicle.ModelCodeRaw == nil && r.Vehicle.ChassisCode == nil && why(r, "vehicle.model_code_raw") == PrintedUnknown
		}},
		{"petrol on DAA-NHP10 is kept beside hybrid", func(raw *Raw) {
			raw.Sheet.Vehicle.ModelCode, raw.Sheet.Vehicle.ChassisNo = "DAA-NHP10", "NHP10-6212345"
		}, func(r *Report) bool { return *r.Vehicle.FuelPrinted == "petrol" && *r.Vehicle.FuelDerived == "hybrid" }},
		{"a covered lower half brings no damage of the rear", func(raw *Raw) {
			raw.Gate.Readability, raw.Gate.UnreadableAreas = "partial", []string{"lower_half"}
			raw.Sheet.Map, raw.Sheet.Notes = nil, nil
		}, func(r *Report) bool {
			return len(r.BodyMap) == 0 && slices.Contains(r.Readability.UnreadableAreas, "lower_half") && r.Confidence.BodyMap == Weak &&
				raised(r, FlagUnreadable)
		}},
		{"a parallel import gives a model year", func(raw *Raw) {
			raw.Sheet.Vehicle.ImportChannel, raw.Sheet.Vehicle.ModelYear = "並行", "2015"
		}, func(r *Report) bool { return *r.Vehicle.ImportChannel == "parallel" && *r.Vehicle.ModelYear == 2015 }},
		{"1オーナー among selling points is the seller's claim", func(*Raw) {}, func(r *Report) bool {
			return len(r.SellerPoints) == 1 && r.SellerPoints[0].JP == "1オーナー" && r.SellerPoints[0].Translation.EN.Text == "one owner"
		}},
		{"E is a dimple, never the engine", func(raw *Raw) {
			raw.Sheet.Map = []RawMark{{"bonnet", "none", "E"}}
		}, func(r *Report) bool { return strings.Contains(r.BodyMap[0].Meaning.EN, "dimple") }},
		{"a code of neither legend nor table has no meaning", func(raw *Raw) {
			raw.Sheet.Map = []RawMark{{"bonnet", "none", "Q2"}}
		}, func(r *Report) bool { return r.BodyMap[0].Meaning == nil && r.BodyMap[0].CodeRaw == "Q2" }},
		{"AU stands for both letters", func(raw *Raw) {
			raw.Sheet.Map = []RawMark{{"rear_door", "left", "AU2"}}
		}, func(r *Report) bool {
			return r.BodyMap[0].Meaning.EN == "scratch and dent, paint not broken" && r.BodyMap[0].SizeMeans.EN == "about 20 cm"
		}},
		{"a number of three digits may be thousands", func(raw *Raw) {
			raw.Sheet.Mileage.Digits, raw.Again.Boxes = "089", []string{"/", "/", "/", "0", "8", "9"}
		}, func(r *Report) bool {
			return *r.Mileage.Value == 89 && r.Mileage.ScaleInferred && *r.Mileage.Thousands == 89000 && r.Condition().MileageKM == nil
		}},
		{"mileage unknown", func(raw *Raw) {
			raw.Sheet.Mileage.Flag, raw.Again.Flag = "#", "#"
		}, func(r *Report) bool { return *r.Mileage.Flag == Unknown && raised(r, FlagMeterUnknown) }},
		{"words for a flag count where the sign was missed", func(raw *Raw) {
			raw.Sheet.Notes = []RawNote{{Author: inspectorNotes, JP: "メーター改ざん車"}}
		}, func(r *Report) bool { return *r.Mileage.Flag == Tampered && concluded(r, "mileage.flag") }},
		{"flooded is found whatever the machine translates", func(raw *Raw) {
			raw.Sheet.Notes = []RawNote{{inspectorNotes, "エンジンルーム冠水跡有", "info", "equipment", "a bit wet", "unyevu kidogo"}}
		}, func(r *Report) bool { return raised(r, FlagFlood) && r.InspectorNotes[0].Severity == High }},
		{"what is said not to be there raises nothing", func(raw *Raw) {
			raw.Sheet.Notes = []RawNote{{Author: sellerPoints, JP: "冠水歴無し"}, {Author: sellerPoints, JP: "修復歴なし"}}
		}, func(r *Report) bool {
			return !raised(r, FlagFlood) && r.RepairHistory.Status == RepairNo && !raised(r, FlagRepairHistory)
		}},
		{"a repaired core support is evidence, not yet a repair history", func(raw *Raw) {
			raw.Sheet.Notes = []RawNote{{Author: inspectorNotes, JP: "コアサポート交換"}}
		}, func(r *Report) bool {
			return r.RepairHistory.Status == RepairNotStated && raised(r, FlagFrame) && len(r.RepairHistory.Evidence) == 1 &&
				strings.HasPrefix(r.RepairHistory.Parts[0].EN, "core support")
		}},
		{"a floor mat is no part of the frame", func(raw *Raw) {
			raw.Sheet.Notes = []RawNote{{Author: inspectorNotes, JP: "フロアマット汚れ"}}
		}, func(r *Report) bool { return !raised(r, FlagFrame) }},
		{"rental use", func(raw *Raw) { raw.Sheet.Vehicle.Use = "レンタ" }, func(r *Report) bool {
			return *r.Vehicle.UseHistory == "rental" && raised(r, FlagUse)
		}},
		{"corrosion of a sill", func(raw *Raw) {
			raw.Sheet.Map = []RawMark{{"sill", "left", "C1"}}
		}, func(r *Report) bool { return raised(r, FlagCorrosion) }},
		{"full width is folded", func(raw *Raw) {
			raw.Sheet.Vehicle.ModelCode, raw.Sheet.Vehicle.CC, raw.Sheet.Vehicle.ChassisNo = "ＤＢＡ−ＧＫ３", "１３１０", "ＧＫ３−１１０２４１７"
		}, func(r *Report) bool {
			return *r.Vehicle.ModelCodeRaw == "DBA-GK3" && *r.Vehicle.CC == 1310 && *r.Vehicle.ChassisNoMasked == "GK3-11*****"
		}},
	} {
		r := read(test.change)
		if !test.holds(r) {
			shown, _ := json.MarshalIndent(r, "", " ")
			t.Errorf("%s: not so in %s", test.name, shown)
		}
		for _, lang := range []string{English, Swahili} {
			text, err := Render(r, lang, nil)
			if low := strings.ToLower(text); err != nil || strings.Contains(low, "airbag") && strings.Contains(low, "fired") {
				t.Errorf("%s: %v in\n%s", test.name, err, text)
			}
		}
	}
}

func raised(r *Report, rule string) bool {
	return slices.ContainsFunc(r.RedFlags, func(f RedFlag) bool { return f.Rule == rule && f.Text.EN != "" && f.Text.SW != "" })
}

func concluded(r *Report, field string) bool {
	return slices.ContainsFunc(r.Inferred, func(i Inference) bool { return i.Field == field })
}

// why says why a field is null; "" when it is not.
func why(r *Report, field string) Reason {
	for _, u := range r.Unreadable {
		if u.Field == field {
			return u.Reason
		}
	}
	return ""
}
