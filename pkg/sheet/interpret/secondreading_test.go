package interpret

import (
	"slices"
	"strings"
	"testing"

	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/render"
	"ushuru/pkg/sheet/transcribe"
)

func TestWhereTwoLooksDifferNothingIsTaken(t *testing.T) {
	for _, test := range []struct {
		name, field string
		change      func(*transcribe.Transcript)
		null        func(*sheet.Report) bool
		readings    []string
	}{
		{
			"mileage", "mileage.value", func(raw *transcribe.Transcript) { raw.Second.Boxes[5] = "9" },
			func(r *sheet.Report) bool { return r.Mileage.Value == nil && r.Mileage.ValueKM == nil },
			[]string{"087654", "087659"},
		},
		{
			"a digit that cannot be read", "mileage.value", func(raw *transcribe.Transcript) { raw.Second.Boxes[1] = sheet.NotReadable },
			func(r *sheet.Report) bool { return r.Mileage.Value == nil },
			[]string{"087654", "0?7654"},
		},
		{
			"a second look that sees no digits", "mileage.value", func(raw *transcribe.Transcript) { raw.Second.Boxes = nil },
			func(r *sheet.Report) bool { return r.Mileage.Value == nil },
			[]string{"087654"},
		},
		{
			"grade", "grades.overall_raw", func(raw *transcribe.Transcript) { raw.Second.Overall = "4.5" },
			func(r *sheet.Report) bool { return r.Grades.OverallRaw == nil && r.Grades.Group == nil },
			[]string{"4", "4.5"},
		},
		{
			"colour", "vehicle.colour_jp", func(raw *transcribe.Transcript) { raw.Second.Colour = "クロ" },
			func(r *sheet.Report) bool { return r.Vehicle.ColourJP == nil && r.Vehicle.Colour == nil },
			[]string{"パール", "クロ"},
		},
		{
			"year", "dates.first_registration", func(raw *transcribe.Transcript) { raw.Second.FirstRegistration = "H28年4月" },
			func(r *sheet.Report) bool { return r.Dates.FirstRegistration == nil },
			[]string{"H26年4月", "H28年4月"},
		},
		{
			"flag", "mileage.flag", func(raw *transcribe.Transcript) { raw.Second.Flag = "#" },
			func(r *sheet.Report) bool { return r.Mileage.Flag == nil },
			[]string{"-", "#"},
		},
		{
			"unit", "mileage.unit", func(raw *transcribe.Transcript) { raw.Second.Unit = "mile" },
			func(r *sheet.Report) bool { return r.Mileage.Unit == nil && r.Mileage.ValueKM == nil },
			[]string{"km", "mile"},
		},
	} {
		r := read(test.change)
		at := slices.IndexFunc(r.Unreadable, func(u sheet.Unreadable) bool { return u.Field == test.field && u.Reason == sheet.ReadingsDiffer })
		if !test.null(r) || at < 0 {
			t.Errorf("%s: taken all the same: %+v", test.name, r.Unreadable)
			continue
		}
		if got := r.Unreadable[at].Readings; !slices.Equal(got, test.readings) {
			t.Errorf("%s: the readings are %q, want %q", test.name, got, test.readings)
		}
		text, _ := render.Text(r, sheet.English, nil)
		if !strings.Contains(text, "two readings differ") || !raised(r, sheet.FlagReadingsDiffer) || r.Confidence.Overall == sheet.Sure {
			t.Errorf("%s: not said, or confidence is %s", test.name, r.Confidence.Overall)
		}
	}
}

func TestOtherWaysToWriteOneValueDoNotDiffer(t *testing.T) {
	r := read(func(raw *transcribe.Transcript) {
		raw.Second.Boxes = []string{"", "8", "7", "6", "5", "4"}
		raw.Second.Colour, raw.Second.FirstRegistration, raw.Second.Unit = "ﾊﾟｰﾙ", "H26/4", sheet.NotPrinted
	})
	if r.Mileage.Value == nil || r.Vehicle.ColourJP == nil || r.Dates.FirstRegistration == nil || r.Mileage.Unit == nil {
		t.Errorf("%+v", r.Unreadable)
	}
}

func TestWithoutASecondLookConfidenceIsLower(t *testing.T) {
	r := read(func(raw *transcribe.Transcript) { raw.Second = nil })
	if r.Mileage.Value == nil || r.Confidence.Mileage != sheet.Doubtful || r.Confidence.Grades != sheet.Doubtful || r.Confidence.Overall != sheet.Doubtful {
		t.Errorf("%+v", r.Confidence)
	}
	if full := read(func(*transcribe.Transcript) {}); full.Confidence.Overall != sheet.Sure {
		t.Errorf("with one: %+v", full.Confidence)
	}
}

func TestTheModelCanOnlyLowerConfidence(t *testing.T) {
	r := read(func(raw *transcribe.Transcript) { raw.Reading.Clarity["notes"] = "doubtful" })
	if r.Confidence.Notes != sheet.Doubtful {
		t.Errorf("%+v", r.Confidence)
	}
	r = read(func(raw *transcribe.Transcript) { raw.Reading.Vehicle.CC = "1.8" })
	if r.Confidence.Vehicle != sheet.Doubtful || r.Vehicle.CC != nil || why(r, "vehicle.cc") != sheet.NotAllowed {
		t.Errorf("%+v", r.Confidence)
	}
}

func TestWhatIsNoValueBecomesUnreadable(t *testing.T) {
	r := read(func(raw *transcribe.Transcript) {
		s := &raw.Reading
		s.Vehicle.ModelCode, s.Vehicle.ChassisNo, s.Vehicle.CC, s.Vehicle.Seats = "ZVW30!", "12345", "99999", "0"
		s.Vehicle.Fuel, s.Vehicle.Drive, s.Vehicle.Steering, s.Vehicle.ModelYear = "水素と夢", "6WD", "上", "1492"
		s.Dates = transcribe.Dates{FirstRegistration: "H26", ShakenUntil: "2127/4", NameChange: ""}
		s.Mileage, s.Grades = transcribe.Mileage{Digits: "1234567", Unit: "li", Flag: "!"}, transcribe.Grades{Overall: "4.7", Exterior: "F", Interior: "Z"}
		s.Repair, s.Documents.Recycle, s.Tyres.FrontLeft, s.House.Name = "多分", "1000000", "99", "Sotheby's"
		raw.Second = nil
	})
	for _, field := range []string{
		"vehicle.model_code_raw", "vehicle.chassis_no_masked", "vehicle.cc", "vehicle.seats", "vehicle.fuel_printed", "vehicle.drive",
		"vehicle.steering", "vehicle.model_year", "dates.first_registration", "dates.shaken_until", "mileage.value", "mileage.unit",
		"mileage.flag", "grades.overall_raw", "grades.exterior", "grades.interior", "repair_history.status", "documents.recycle_yen",
		"tyres_mm.front_left", "house.name",
	} {
		if why(r, field) == "" {
			t.Errorf("%s is not said to be unreadable", field)
		}
	}
	v := &r.Vehicle
	if v.ModelCodeRaw != nil || v.ChassisNoMasked != nil || v.CC != nil || v.Seats != nil || v.FuelPrinted != nil || v.Drive != nil ||
		v.Steering != nil || v.ModelYear != nil || r.Dates.FirstRegistration != nil || r.Dates.ShakenUntil != nil || r.Mileage.Value != nil ||
		r.Grades.OverallRaw != nil || r.Grades.Exterior != nil || r.TyresMM.FrontLeft != nil || r.Documents.RecycleYen != nil || r.House.Name != nil {
		t.Errorf("a value that is none was taken: %+v", r)
	}
}

func TestTheGate(t *testing.T) {
	for name, change := range map[string]func(*transcribe.Transcript){
		"no sheet":        func(raw *transcribe.Transcript) { raw.Classification.IsAuctionSheet = false },
		"a photo":         func(raw *transcribe.Transcript) { raw.Classification.Kind = "photo" },
		"one label":       func(raw *transcribe.Transcript) { raw.Classification.Anchors = []string{"走行"} },
		"one label twice": func(raw *transcribe.Transcript) { raw.Classification.Anchors = []string{"走行", "走 行"} },
		"labels of another form": func(raw *transcribe.Transcript) {
			raw.Classification.Anchors = []string{"Bluetooth", "Settings", "接続"}
		},
		"a blank form":             func(raw *transcribe.Transcript) { raw.Classification.FilledIn = false },
		"a fake":                   func(raw *transcribe.Transcript) { raw.Classification.MakesSense = false },
		"not to be read":           func(raw *transcribe.Transcript) { raw.Classification.Readability = "none" },
		"of no known readability":  func(raw *transcribe.Transcript) { raw.Classification.Readability = "superb" },
		"an answer without a gate": func(raw *transcribe.Transcript) { raw.Classification = transcribe.Classification{} },
	} {
		r := read(change)
		if r.Readability.Overall != sheet.None || r.Vehicle != (sheet.Vehicle{}) || r.Mileage != (sheet.Mileage{}) || r.Grades != (sheet.Grades{}) ||
			len(r.AllNotes()) > 0 || len(r.BodyMap) > 0 || r.Lot != nil || r.House.Name != nil || r.Dates != (sheet.Dates{}) {
			t.Errorf("%s: data of a car came out: %+v", name, r)
		}
	}
}
