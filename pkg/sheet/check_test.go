package sheet

import (
	"slices"
	"testing"
)

func TestTheSheetIsHeldAgainstTheListing(t *testing.T) {
	for _, test := range []struct {
		name string
		car  Facts
		want []string
	}{
		{"the same", Facts{"DAA-ZVW30", 2014, "registration", 1797, new(87654), "Pearl White"}, nil},
		{"the code without its prefix, mileage in thousands", Facts{ChassisCode: "ZVW30", MileageKM: new(88000)}, nil},
		{"thousands cut off", Facts{MileageKM: new(87000)}, nil},
		{"nothing said", Facts{}, nil},
		{"a colour that we do not know", Facts{Colour: "Mystic"}, nil},
		{"all another", Facts{"DBA-NZE141", 2015, "", 1496, new(45000), "BLACK"}, []string{"chassis_code", "year", "cc", "mileage_km", "colour"}},
		{"a few kilometres", Facts{MileageKM: new(87655)}, []string{"mileage_km"}},
	} {
		var got []string
		for _, m := range Check(read(func(*Raw) {}), test.car) {
			got = append(got, m.Field)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestWhatTheSheetDoesNotSayIsNotCompared(t *testing.T) {
	got := Check(bare(), Facts{"DBA-NZE141", 2015, "", 1496, new(45000), "BLACK"})
	if got == nil || len(got) > 0 {
		t.Errorf("%v", got)
	}
}

func TestMilesAndThousandsAreComparedInKilometres(t *testing.T) {
	miles := read(func(raw *Raw) { raw.Sheet.Mileage.Unit, raw.Again.Unit = "mile", "mile" })
	if got := Check(miles, Facts{MileageKM: new(141065)}); len(got) > 0 {
		t.Errorf("87,654 miles: %v", got)
	}
	short := read(func(raw *Raw) { raw.Sheet.Mileage.Digits, raw.Again.Boxes = "089", []string{"0", "8", "9"} })
	if got := Check(short, Facts{MileageKM: new(89000)}); len(got) > 0 {
		t.Errorf("089 may be 89,000: %v", got)
	}
}

func TestConditionForAComparison(t *testing.T) {
	c := read(func(*Raw) {}).Condition()
	if c.Grade != "4" || c.GradeGroup != Graded || c.Exterior != "C" || c.Interior != "B" || c.Repair != RepairNotStated ||
		*c.MileageKM != 87654 || c.MileageFlag != NoFlag || c.Confidence != Sure {
		t.Errorf("%+v", c)
	}
	if c.Findings[High] != 3 || c.Findings[Medium] != 2 || c.Findings[Low] != 3 || c.Findings[NotKnown] != 1 {
		t.Errorf("findings %v", c.Findings)
	}
	empty := bare().Condition()
	if empty.Grade != "" || empty.MileageKM != nil || len(empty.Findings) > 0 {
		t.Errorf("%+v", empty)
	}
}
