package listing

import "testing"

// Ways to write a value that are read, and others that are none.
func TestWaysToWriteAValue(t *testing.T) {
	t.Parallel()
	var cases []hostileCase
	for label, ways := range map[string]map[string]string{
		"Mileage": {
			"71,000 Kms.":                           "mileage_km=71000",
			"71,000km (44,117 mi)":                  "mileage_km=71000",
			"71000 KM | Odometer OK":                "mileage_km=",
			"approx. 71,000 km":                     "mileage_km=",
			"71,000 km on meter":                    "mileage_km=71000",
			"71,000 kilometres":                     "mileage_km=71000",
			"71,000 km*":                            "mileage_km=71000",
			"71.000":                                "mileage_km=71000",
			"71 000 km":                             "mileage_km=71000",
			"Under 71,000 km":                       "mileage_km=",
			"9.5 km/l":                              "mileage_km=",
			"71,000 km, 18 km/l":                    "mileage_km=71000",
			"71,000 KM (Verified by auction sheet)": "mileage_km=71000",
		},
		"Engine": {
			"1.3 Litre":                 "engine_cc=1300",
			"1300 CC Petrol":            "engine_cc=1300",
			"1,329 cc / 1.3 L":          "engine_cc=1329",
			"1300cc-1500cc":             "engine_cc=",
			"1329cm3":                   "engine_cc=1329",
			"1NR (1,329cc)":             "engine_cc=1329",
			"4-cylinder, 1,329 cc":      "engine_cc=1329",
			"1.3L I4 VVT-i":             "engine_cc=1300",
			"1329 cc, 99 hp @ 6000 rpm": "engine_cc=1329",
			"up to 1,500 cc":            "engine_cc=",
			"1300":                      "engine_cc=1300",
			"13B-REW 654 cc x 2 rotors": "engine_cc=",
		},
		"Price": {
			"USD 3,450 (FOB)":        "fobPriceUSD=3450",
			"$3,450 USD":             "fobPriceUSD=3450",
			"US$3,450 - Negotiable":  "fobPriceUSD=3450",
			"US$ 3,450/-":            "fobPriceUSD=3450",
			"US$ 3,450 FOB Yokohama": "fobPriceUSD=3450",
		},
		"Price (FOB)": {
			"US$ 3,450": "fobPriceUSD=3450",
		},
		"Price in USD": {
			"3450": "fobPriceUSD=3450",
		},
		"Price [USD]": {
			"3450": "fobPriceUSD=3450",
		},
		"Price JPY": {
			"345,000": "currency=JPY",
		},
		"Цена FOB": {
			"3 450 USD": "fobPriceUSD=3450",
		},
		"Price FOB (US$)": {
			"3,450": "fobPriceUSD=3450",
		},
	} {
		for value, want := range ways {
			cases = append(cases, hostileCase{label + ": " + value, "", vitz(vitzRow(label, value), ""), want})
		}
	}
	checkHostile(t, cases)
}

// What a heading sells decides, whatever facts stand below it.
func TestWhatAHeadingSells(t *testing.T) {
	t.Parallel()
	facts := `<table>` + vitzRow("Make", "TOYOTA") + vitzRow("Model", "VITZ") + vitzRow("Model Code", "NSP130") + vitzRow("Year", "2012") +
		vitzRow("Mileage", "71,000 km") + vitzRow("Engine", "1,329cc") + vitzRow("Price", "US$ 3,450") + `</table>`
	for head, want := range map[string]string{
		"Toyota Vitz 2012 – engine 1300cc, automatic":        "model=VITZ",
		"Toyota Vitz 2012 with new tyres":                    "model=VITZ",
		"2012 Toyota Vitz for sale, duty paid":               "model=VITZ",
		"Toyota Vitz 2012, import duty included":             "model=VITZ",
		"Toyota Vitz 1NR engine complete with gearbox":       "error=not_a_listing",
		"Used Toyota Vitz parts: left door":                  "error=not_a_listing",
		"Left front door Toyota Vitz 2012":                   "error=not_a_listing",
		"Car wanted: Toyota Vitz 2012 or newer":              "error=not_a_listing",
		"I want to buy a Toyota Vitz":                        "error=not_a_listing",
		"Comprehensive insurance quote for Toyota Vitz 2012": "error=not_a_listing",
		"Motor Vehicle Register: T 123 ABC Toyota Vitz":      "error=not_a_listing",
		"Wheels and tyres 15 inch Toyota Vitz":               "error=not_a_listing",
		"Toyota Vitz 2012 Engine":                            "error=not_a_listing",
		"2012 Toyota Vitz 1.3 VVT-i engine":                  "model=VITZ",
		"Toyota Vitz 2012 low mileage, insurance till March": "model=VITZ",
		"Toyota Vitz 2012 - Wanted":                          "error=not_a_listing",
		"Toyota Vitz 2012 car hire Arusha":                   "error=not_a_listing",
		"Brand new seats Toyota Vitz":                        "error=not_a_listing",
		"Toyota Vitz 2012 7 seats family car":                "model=VITZ",
		"Automatic Toyota Vitz 2012":                         "model=VITZ",
	} {
		checkHostile(t, []hostileCase{{head, "", "<title>" + head + "</title><h1>" + head + "</h1>" + facts, want}})
	}
}
