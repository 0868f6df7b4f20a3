package listing

import (
	"testing"

	"ushuru/pkg/listing/claim"
)

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

func TestReadYear(t *testing.T) {
	for text, want := range map[string]int{
		"2019/3": 2019, "2001/03": 2001, "12.2020": 2020, "1996.03": 1996, "2010 / Jan": 2010, "2019/Dec": 2019, "2019": 2019,
		"2020-01-01": 2020, "2009 Volkswagen Golf V GTI MY09": 2009, "Polestar 2 (2022)": 2022, "2019 to 2019": 2019,
		"": 0, "-": 0, "2019A": 0, "A2019": 0, "12019": 0, "19": 0, "1901": 0, "2015 or 2016": 0, "Confirm with the Seller": 0,
	} {
		if got, ok := claim.ParseYear(text); ok != (want != 0) || ok && got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, ok, want)
		}
	}
}

func TestReadEngine(t *testing.T) {
	for text, want := range map[string]int{
		"1,490cc": 1490, "1500 CC": 1500, "660 cc": 660, "2000cc": 2000, "1.8 liters": 1800, "2.0L": 2000, "1.5": 1500, "1,490": 1490, "1496": 1496,
		"4 cylinder Petrol Turbo Intercooled 2.0 L (1984 cc)": 1984, "1498 CMQ": 0, "12,800cc": 12800, "2.4L 4Cyl": 2400,
		"": 0, "0cc": 0, "0": 0, "80 kW": 0, "1NZ-1LM": 0, "1NZ": 0, "4.4- 443 HP Supercharged": 0, "99999999cc": 0, "V8": 0, "Good": 0,
	} {
		if got, ok := claim.ParseEngine(text); ok != (want != 0) || ok && got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, ok, want)
		}
	}
}

func TestReadMileage(t *testing.T) {
	for text, want := range map[string]int{
		"108,333 km": 108333, "118,000 km (73,200 mile)": 118000, "8 000 km": 8000, "218,000km": 218000, "66600": 66600, "18,000 mi": 28968, "5 км": 5,
		"": -1, "A lot": -1, "12 kmh": -1, "1,23 km": -1,
	} {
		if got, ok := claim.ParseMileage(text); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, ok, want)
		}
	}
}

func TestReadPrice(t *testing.T) {
	for text, want := range map[string]string{
		"$6,180": "USD 6180", "US$ 2,567": "USD 2567", "USD 5,160": "USD 5160", "¥1,705,000": "JPY 1705000", "229.5万円": "JPY 2295000", "1,200,000円": "JPY 1200000",
		"KSh 450,000": "KES 450000", "TZS 12,000,000": "TZS 12000000", "C$ 900": "CAD 900", "€1,000.50": "EUR 1000.5", "6180": " 6180", "19,995 USD": "USD 19995",
		"": "", "ASK": "", "$0": "", "US$": "", "38 % OFF": "", "You save US$ 780": "", "US$ 22,980 US$ 22,337": "", "$10,557 ¥1,705,000": "",
		"$1,900 (FOB)": "USD 1900", "FOB Price: US$ 1,900": "USD 1900", "Car Price ¥1,000": "JPY 1000", "4,350 YEN": "JPY 4350",
		"HK$ 45,000": "HKD 45000", "S$45,000": "SGD 45000", "R$ 45,000": "", "MX$45,000": "", "RMB ¥45,000": "", "CN¥45,000": "", "$4k": "", "$0.5m": "", "TSh 25 million": "",
		"US$ 120 pw": "", "US$ 120 per week": "", "Deposit US$ 500": "", "was US$ 5,500": "", "from US$ 4,000": "", "$4,350 + VAT": "", "$4,350 CIF Mombasa": "",
		"$4,350 C&F": "", "US$ 4.350": "USD 4350", "€ 4.350": "EUR 4350", "US$ 4.35": "USD 4.35",
		"$129/month": "", "$5,000 - $6,000": "", "24.500,00": " 24500", "1,50,000 KES": "", "TZS 12,500,000/=": "TZS 12500000", "KES 450,000/-": "KES 450000", "US$ 3.500,-": "USD 3500", "350 thousand yen": "JPY 350000", "1,23": "", "SOLD $5": "", "-$5": "", "1e9": "",
	} {
		got, ok := claim.ParsePrice(text)
		if ok != (want != "") || ok && got.String() != want {
			t.Errorf("%q: %q, %v; want %q", text, got, ok, want)
		}
	}
}

func FuzzValues(f *testing.F) {
	for _, seed := range []string{"1,490cc", "2010 / Jan", "US$ 2,567", "118,000 km (73,200 mile)", "229.5万円", "99999999999999999999 km"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if y, ok := claim.ParseYear(text); ok && (y < 1950 || y > 2099) {
			t.Errorf("year %d", y)
		}
		if cc, ok := claim.ParseEngine(text); ok && (cc < 50 || cc > 20000) {
			t.Errorf("engine %d", cc)
		}
		if km, ok := claim.ParseMileage(text); ok && km < 0 {
			t.Errorf("mileage %d", km)
		}
		if p, ok := claim.ParsePrice(text); ok && !p.Amount.Decimal().IsPositive() {
			t.Errorf("price %s", p)
		}
	})
}
