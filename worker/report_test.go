package worker

import (
	"reflect"
	"testing"

	"ushuru/pkg/vehicle"
)

// A fact that is not handed over is never held against the sheet.
func TestASheetIsHeldAgainstAllThatTheListingSays(t *testing.T) {
	km := 88_400
	facts := reflect.ValueOf(factsOf(vehicle.Car{
		RawModelCode: "DAA-NKE165", Year: 2016, YearBasis: "registration", EngineCC: 1490, MileageKM: &km, Colour: "Pearl",
	}))
	for i := range facts.NumField() {
		if facts.Field(i).IsZero() {
			t.Errorf("%s of the listing is not handed over", facts.Type().Field(i).Name)
		}
	}
}
