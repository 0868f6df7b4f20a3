package sheet_test

import (
	"slices"
	"testing"
	"time"

	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/interpret"
	"ushuru/pkg/sheet/transcribe"
	"ushuru/pkg/sheet/transcribe/transcribetest"
	"ushuru/pkg/vehicle"
)

// read interprets a changed transcript.
func read(change func(*transcribe.Transcript)) *sheet.Report {
	raw := transcribetest.Prius()
	change(&raw)
	return interpret.Transcript(raw, interpret.Known{Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)})
}

func TestTheSheetIsHeldAgainstTheListing(t *testing.T) {
	for _, test := range []struct {
		name string
		car  vehicle.Car
		want []string
	}{
		{"the same", vehicle.Car{RawModelCode: "DAA-ZVW30", Year: 2014, YearBasis: "registration", EngineCC: 1797, MileageKM: new(87654), Colour: "Pearl White"}, nil},
		{"the code without its prefix, mileage in thousands", vehicle.Car{RawModelCode: "ZVW30", MileageKM: new(88000)}, nil},
		{"thousands cut off", vehicle.Car{MileageKM: new(87000)}, nil},
		{"nothing said", vehicle.Car{}, nil},
		{"a colour that we do not know", vehicle.Car{Colour: "Mystic"}, nil},
		{"all another", vehicle.Car{RawModelCode: "DBA-NZE141", Year: 2015, YearBasis: "", EngineCC: 1496, MileageKM: new(45000), Colour: "BLACK"}, []string{"chassis_code", "year", "cc", "mileage_km", "colour"}},
		{"a few kilometres", vehicle.Car{MileageKM: new(87655)}, []string{"mileage_km"}},
	} {
		var got []string
		for _, m := range sheet.Compare(read(func(*transcribe.Transcript) {}), test.car) {
			got = append(got, m.Field)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestWhatTheSheetDoesNotSayIsNotCompared(t *testing.T) {
	got := sheet.Compare(interpret.Transcript(transcribe.Transcript{Classification: transcribetest.Prius().Classification}, interpret.Known{}), vehicle.Car{RawModelCode: "DBA-NZE141", Year: 2015, YearBasis: "", EngineCC: 1496, MileageKM: new(45000), Colour: "BLACK"})
	if got == nil || len(got) > 0 {
		t.Errorf("%v", got)
	}
}

func TestMilesAndThousandsAreComparedInKilometres(t *testing.T) {
	miles := read(func(raw *transcribe.Transcript) { raw.Reading.Mileage.Unit, raw.Second.Unit = "mile", "mile" })
	if got := sheet.Compare(miles, vehicle.Car{MileageKM: new(141065)}); len(got) > 0 {
		t.Errorf("87,654 miles: %v", got)
	}
	short := read(func(raw *transcribe.Transcript) {
		raw.Reading.Mileage.Digits, raw.Second.Boxes = "089", []string{"0", "8", "9"}
	})
	if got := sheet.Compare(short, vehicle.Car{MileageKM: new(89000)}); len(got) > 0 {
		t.Errorf("089 may be 89,000: %v", got)
	}
}
