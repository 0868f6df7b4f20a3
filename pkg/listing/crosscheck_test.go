package listing

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/listing/claim"
)

// notePage is a page about its labels only; LABELS become its list.
func notePage(pairs ...string) string {
	var page strings.Builder
	page.WriteString(plainTitle + `<dl><dt>Stock No.</dt><dd>N1</dd><dt>Transmission</dt><dd>AT</dd><dt>Model Code</dt><dd>DBA-E12</dd><dt>Fuel</dt><dd>Petrol</dd>`)
	for i := 0; i < len(pairs); i += 2 {
		page.WriteString("<dt>" + pairs[i] + "</dt><dd>" + pairs[i+1] + "</dd>")
	}
	return page.String() + "</dl>"
}

func TestWhatCannotBeIsNotTaken(t *testing.T) {
	next := strconv.Itoa(time.Now().Year() + 2)
	for name, pair := range map[string][2]string{
		"year to come":     {"Manufacture Year", next},
		"year before cars": {"Manufacture Year", "1901"},
		"engine of an oil": {"Engine Size", "25,000cc"},
		"engine of a toy":  {"Engine Size", "10cc"},
		"price of nothing": {"FOB Price", "US$ 0"},
		"price of a ship":  {"FOB Price", "US$ 9,000,000"},
		"price on request": {"FOB Price", "ASK"},
		"mileage too far":  {"Mileage", "9,999,999 km"},
		"volume of zero":   {"M3", "0.000"},
	} {
		car := read(t, notePage(pair[0], pair[1]), noteURL).Car
		if car.Manufacture != "" || car.YearBasis == "manufacture" || car.EngineCC != 0 || car.FOBPriceUSD != nil || car.AskingPrice != nil || car.MileageKM != nil || car.M3 != nil {
			t.Errorf("%s: %+v", name, car)
		}
	}
}

func TestTotalNotAboveThePriceIsNoCF(t *testing.T) {
	for total, want := range map[string]string{"US$ 2,000": "null", "US$ 1,900": "null", "US$ 3,300": "3300"} {
		listing := read(t, notePage("FOB Price", "US$ 2,000", "C&amp;F Dar es Salaam", total), noteURL)
		if got := amountOf(listing.Car.CFPriceUSD); got != want {
			t.Errorf("%s: %s, want %s", total, got, want)
		}
		for _, f := range listing.Fields {
			if f.Name == claim.FieldCF && want == "null" && (f.Source != "" || !strings.Contains(f.Others[0].Reason, "destination")) {
				t.Errorf("%s: %+v", total, f)
			}
		}
	}
}

func TestPricesThatDifferAreNone(t *testing.T) {
	page := notePage("Price", "US$ 2,000", "Vehicle Price", "US$ 2,400")
	if car := read(t, page, noteURL).Car; car.FOBPriceUSD != nil || car.AskingPrice != nil {
		t.Errorf("FOB %v", car.FOBPriceUSD)
	}
	withPrice := strings.Replace(page, "<dl>", `<meta property="og:description" content="FOB US$2,400"><dl>`, 1)
	if car := read(t, withPrice, noteURL).Car; amountOf(car.FOBPriceUSD) != "2400" {
		t.Errorf("FOB %v", car.FOBPriceUSD)
	}
	if car := read(t, notePage("Price", "US$ 2,000", "FOB Price", "$2,000"), noteURL).Car; amountOf(car.FOBPriceUSD) != "2000" {
		t.Errorf("FOB %v", car.FOBPriceUSD)
	}
}

func TestManufactureAfterRegistrationIsNotBelieved(t *testing.T) {
	listing := read(t, notePage("Registration Year/month", "2015/2", "Manufacture Year/month", "2016/1"), noteURL)
	if car := listing.Car; car.Year != 2015 || car.YearBasis != "registration" || car.Manufacture != "" || len(listing.Notes) == 0 {
		t.Errorf("%d by %s, notes %v", car.Year, car.YearBasis, listing.Notes)
	}
	car := read(t, notePage("Registration Year/month", "2015/2", "Manufacture Year/month", "2014/12"), noteURL).Car
	if car.Year != 2014 || car.YearBasis != "manufacture" {
		t.Errorf("%d by %s", car.Year, car.YearBasis)
	}
}

func TestFrameNumberOfAnotherCarIsNoted(t *testing.T) {
	for frame, noted := range map[string]bool{"NCP51-0235***": true, "E12-0612***": false, "E-0612***": false} {
		listing := read(t, notePage("Chassis No.", frame), noteURL)
		if got := len(listing.Notes) > 0; got != noted || listing.Car.ModelCode != "E12" {
			t.Errorf("%s: notes %v, code %v", frame, listing.Notes, listing.Car.ModelCode)
		}
	}
}

func TestEveryValueSaysWhereItCameFrom(t *testing.T) {
	for name, url := range fixtures {
		listing := read(t, fixture(t, name+".html"), url)
		for _, f := range listing.Fields {
			if f.Source != "" && (f.Rank < claim.RankSite || f.Rank > claim.RankMeta || f.Value == "") {
				t.Errorf("%s: %+v", name, f)
			}
		}
		has := func(field string) bool {
			for _, f := range listing.Fields {
				if f.Name == field && f.Source != "" {
					return true
				}
			}
			return false
		}
		if len(listing.Car.Images) > 0 != has("images") || (listing.Car.ConditionReportURL != nil) != has("conditionReportUrl") {
			t.Errorf("%s: pictures without a source", name)
		}
	}
}
