package vehicle_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ushuru/pkg/vehicle"
)

// contract is what callers rely on: the fields of each resource in order, the
// nullable ones with a question mark.
var contract = []struct {
	resource any
	fields   string
}{
	{vehicle.Estimate{}, "input car matched tax cached"},
	{vehicle.Input{}, "url"},
	{
		vehicle.Car{},
		"make model modelCode rawModelCode version year engine_cc fuel fobPriceUSD? cfPriceUSD? images conditionReportUrl?",
	},
	{
		vehicle.Matched{},
		"make makeId modelBody matchType matchReason confidence adjustments yom country fuelType capacityBand",
	},
	{vehicle.Adjustment{}, "field from to reason"},
	{
		vehicle.Tax{},
		"referenceNumber make model bodyType modelBody yom country fuelType engineCapacity cifInUSD importDutyInUSD" +
			" exiseDutyInUSD exiseDutyDueToAgeInUSD vatInUSD customProcessingFeeInUSD railwayDevLevyInUSD indDevLevy" +
			" hivRespLevy totalImportTaxesInUSD totalImportTaxesInTZS vehicleRegistrationFeeInTZS totalTaxesInTZS quarter year",
	},
	{vehicle.Comparison{}, "car1 car2 condReport1? condReport2? recommendation cached"},
	{vehicle.ConditionReport{}, "summary cached"},
	{vehicle.Error{}, "error"},
}

func TestFieldsAreThoseOfTheSpecification(t *testing.T) {
	t.Parallel()
	for _, c := range contract {
		kind := reflect.TypeOf(c.resource)
		var got []string
		for field := range kind.Fields() {
			name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			if strings.Contains(options, "omitempty") || name == "-" {
				continue // additive, or not part of the JSON
			}
			if field.Type.Kind() == reflect.Pointer {
				name += "?"
			}
			got = append(got, name)
		}
		if want := strings.Fields(c.fields); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", kind, got, want)
		}
	}
}

func TestNothingThatTheListingLeavesOpenIsInvented(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(vehicle.Car{Images: []string{}})
	const want = `{"make":"","model":"","modelCode":"","rawModelCode":"","version":"","year":0,"engine_cc":0,"fuel":"",` +
		`"fobPriceUSD":null,"cfPriceUSD":null,"images":[],"conditionReportUrl":null}`
	if err != nil || string(data) != want {
		t.Fatalf("%s, %v", data, err)
	}
}
