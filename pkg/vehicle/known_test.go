package vehicle_test

import (
	"reflect"
	"testing"

	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

func TestKnownValuesOverrideTheListing(t *testing.T) {
	t.Parallel()
	price, err := money.ParseNumber("5000")
	if err != nil {
		t.Fatal(err)
	}
	listed := vehicle.Car{
		Make: "NISSAN", Model: "NOTE", Year: 2019, YearBasis: "registration", RawModelCode: "E12", ModelCode: "E12",
		FrameNumber: "E12-012345", Fuel: "PETROL", CFPriceUSD: &price,
	}
	warnings := []vehicle.Warning{
		{Code: "registration_year"},
		{Code: "listing_sold"},
		{Code: "several_prices"},
		{Code: "price_currency_unknown"},
		{Code: "model_code_differs"},
	}
	car := listed
	known := &vehicle.Known{Year: 2018, YearBasis: "manufacture", ModelCode: "HE12", RawModelCode: "DAA-HE12", FOBPriceUSD: &price}
	got := known.Override(&car, warnings)
	want := listed
	want.Year, want.YearBasis, want.ModelCode, want.RawModelCode, want.FrameNumber = 2018, "manufacture", "HE12", "DAA-HE12", ""
	want.FOBPriceUSD, want.CFPriceUSD = &price, nil
	want.Given = []string{"year", "modelCode", "fobPriceUSD"}
	if !reflect.DeepEqual(car, want) {
		t.Errorf("%+v\nwant %+v", car, want)
	}
	if len(got) != 2 || got[0].Code != "listing_sold" || got[1].Code != vehicle.WarnKnown ||
		got[1].Values["fields"] != "year, modelCode, fobPriceUSD" {
		t.Errorf("%+v", got)
	}
	car = listed
	registered := &vehicle.Known{Year: 2012, YearBasis: "registration", ListedYear: 2010}
	got = registered.Override(&car, []vehicle.Warning{{Code: "registration_year", Values: map[string]string{"year": "2019"}}})
	if car.Year != 2012 || car.ListedYear != 2010 || len(got) != 2 || got[0].Code != "registration_year" || got[0].Values["year"] != "2012" ||
		got[1].Values["fields"] != "year, listedYear" {
		t.Errorf("%+v %+v", car, got)
	}
	var none *vehicle.Known
	if car := listed; len(none.Override(&car, warnings)) != len(warnings) || !reflect.DeepEqual(car, listed) {
		t.Error("no values changed the car")
	}
}
