package sheet

import (
	"slices"
	"strings"
	"testing"
)

func TestWhereTwoLooksDifferNothingIsTaken(t *testing.T) {
	for _, test := range []struct {
		name, field string
		change      func(*Raw)
		null        func(*Report) bool
		readings    []string
	}{
		{
			"mileage", "mileage.value", func(raw *Raw) { raw.Again.Boxes[5] = "9" },
			func(r *Report) bool { return r.Mileage.Value == nil && r.Mileage.ValueKM == nil },
			[]string{"087654", "087659"},
		},
		{
			"a digit that cannot be read", "mileage.value", func(raw *Raw) { raw.Again.Boxes[1] = NotReadable },
			func(r *Report) bool { return r.Mileage.Value == nil },
			[]string{"087654", "0?7654"},
		},
		{
			"a second look that sees no digits", "mileage.value", func(raw *Raw) { raw.Again.Boxes = nil },
			func(r *Report) bool { return r.Mileage.Value == nil },
			[]string{"087654"},
		},
		{
			"grade", "grades.overall_raw", func(raw *Raw) { raw.Again.Overall = "4.5" },
			func(r *Report) bool { return r.Grades.OverallRaw == nil && r.Grades.Group == nil },
			[]string{"4", "4.5"},
		},
		{
			"colour", "vehicle.colour_jp", func(raw *Raw) { raw.Again.Colour = "クロ" },
			func(r *Report) bool { return r.Vehicle.ColourJP == nil && r.Vehicle.Colour == nil },
			[]string{"パール", "クロ"},
		},
		{
			"year", "dates.first_registration", func(raw *Raw) { raw.Again.FirstRegistration = "H28年4月" },
			func(r *Report) bool { return r.Dates.FirstRegistration == nil },
			[]string{"H26年4月", "H28年4月"},
		},
		{
			"flag", "mileage.flag", func(raw *Raw) { raw.Again.Flag = "#" },
			func(r *Report) bool { return r.Mileage.Flag == nil },
			[]string{"-", "#"},
		},
		{
			"unit", "mileage.unit", func(raw *Raw) { raw.Again.Unit = "mile" },
			func(r *Report) bool { return r.Mileage.Unit == nil && r.Mileage.ValueKM == nil },
			[]string{"km", "mile"},
		},
	} {
		r := read(test.change)
		at := slices.IndexFunc(r.Unreadable, func(u Unreadable) bool { return u.Field == test.field && u.Reason == ReadingsDiffer })
		if !test.null(r) || at < 0 {
			t.Errorf("%s: taken all the same: %+v", test.name, r.Unreadable)
			continue
		}
		if got := r.Unreadable[at].Readings; !slices.Equal(got, test.readings) {
			t.Errorf("%s: the readings are %q, want %q", test.name, got, test.readings)
		}
		text, _ := Render(r, English, nil)
		if !strings.Contains(text, "two looks gave different readings") || !raised(r, FlagReadingsDiffer) || r.Confidence.Overall == Sure {
			t.Errorf("%s: not said, or confidence is %s", test.name, r.Confidence.Overall)
		}
	}
}

func TestOtherWaysToWriteOneValueDoNotDiffer(t *testing.T) {
	r := read(func(raw *Raw) {
		raw.Again.Boxes = []string{"", "8", "7", "6", "5", "4"}
		raw.Again.Colour, raw.Again.FirstRegistration, raw.Again.Unit = "ﾊﾟｰﾙ", "H26/4", NotPrinted
	})
	if r.Mileage.Value == nil || r.Vehicle.ColourJP == nil || r.Dates.FirstRegistration == nil || r.Mileage.Unit == nil {
		t.Errorf("%+v", r.Unreadable)
	}
}

func TestWithoutASecondLookConfidenceIsLower(t *testing.T) {
	r := read(func(raw *Raw) { raw.Again = nil })
	if r.Mileage.Value == nil || r.Confidence.Mileage != Doubtful || r.Confidence.Grades != Doubtful || r.Confidence.Overall != Doubtful {
		t.Errorf("%+v", r.Confidence)
	}
	if full := read(func(*Raw) {}); full.Confidence.Overall != Sure {
		t.Errorf("with one: %+v", full.Confidence)
	}
}

func TestTheModelCanOnlyLowerConfidence(t *testing.T) {
	r := read(func(raw *Raw) { raw.Sheet.Clarity.Notes = "doubtful" })
	if r.Confidence.Notes != Doubtful {
		t.Errorf("%+v", r.Confidence)
	}
	r = read(func(raw *Raw) { raw.Sheet.Vehicle.CC = "1.8" })
	if r.Confidence.Vehicle != Doubtful || r.Vehicle.CC != nil || why(r, "vehicle.cc") != NotAllowed {
		t.Errorf("%+v", r.Confidence)
	}
}

func TestWhatIsNoValueBecomesUnreadable(t *testing.T) {
	r := read(func(raw *Raw) {
		s := &raw.Sheet
		s.Vehicle.ModelCode, s.Vehicle.ChassisNo, s.Vehicle.CC, s.Vehicle.Seats = "ZVW30!", "12345", "99999", "0"
		s.Vehicle.Fuel, s.Vehicle.Drive, s.Vehicle.Steering, s.Vehicle.ModelYear = "水素と夢", "6WD", "上", "1492"
		s.Dates = RawDates{"H26", "2027/4", ""}
		s.Mileage, s.Grades = RawMileage{"1234567", "li", "!"}, RawGrades{"4.7", "F", "Z"}
		s.Repair, s.Documents.Recycle, s.Tyres.FrontLeft, s.House.Name = "多分", "1000000", "99", "Sotheby's"
		raw.Again = nil
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
	for name, change := range map[string]func(*Raw){
		"no sheet":                 func(raw *Raw) { raw.Gate.IsAuctionSheet = false },
		"a photo":                  func(raw *Raw) { raw.Gate.Kind = kindPhoto },
		"one label":                func(raw *Raw) { raw.Gate.Anchors = []string{"走行"} },
		"one label twice":          func(raw *Raw) { raw.Gate.Anchors = []string{"走行", "走 行"} },
		"labels of another form":   func(raw *Raw) { raw.Gate.Anchors = []string{"Bluetooth", "Settings", "接続"} },
		"a blank form":             func(raw *Raw) { raw.Gate.FilledIn = false },
		"a fake":                   func(raw *Raw) { raw.Gate.MakesSense = false },
		"not to be read":           func(raw *Raw) { raw.Gate.Readability = "none" },
		"of no known readability":  func(raw *Raw) { raw.Gate.Readability = "superb" },
		"an answer without a gate": func(raw *Raw) { raw.Gate = Gate{} },
	} {
		r := read(change)
		if r.Readability.Overall != None || r.Vehicle != (Vehicle{}) || r.Mileage != (Mileage{}) || r.Grades != (Grades{}) ||
			len(r.allNotes()) > 0 || len(r.BodyMap) > 0 || r.Lot != nil || r.House.Name != nil || r.Dates != (Dates{}) {
			t.Errorf("%s: data of a car came out: %+v", name, r)
		}
		raw := prius()
		change(&raw)
		if gateError(&raw.Gate) == nil {
			t.Errorf("%s: the gate is open", name)
		}
	}
	open := prius().Gate
	if err := gateError(&open); err != nil {
		t.Errorf("a sheet: %v", err)
	}
}
