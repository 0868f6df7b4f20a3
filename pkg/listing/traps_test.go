package listing

import (
	"net/url"
	"strings"
	"testing"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
)

// The traps of labels, each by its name.

func TestSeatbeltsYearIsNoYear(t *testing.T) {
	for _, page := range []string{notePage("Seatbelts Year", "2011"), notePage("Seatbelts Year", "2011", "Year", "2015/2")} {
		car := read(t, page, noteURL).Car
		if car.Year != 2015 || car.Manufacture != "" { // of the title, or of Year
			t.Errorf("year %d by %s", car.Year, car.YearBasis)
		}
	}
}

func TestEngineCodeIsNoEngineSizeAndNoChassisCode(t *testing.T) {
	for _, name := range []string{"Engine Code", "Engine Type"} {
		for _, value := range []string{"1NZ-1LM", "HR12", "2AZ", "1500"} {
			page := strings.Replace(notePage(name, value), "<dt>Model Code</dt><dd>DBA-E12</dd>", "<dt>Year</dt><dd>2015</dd>", 1)
			if car := read(t, page, noteURL).Car; car.EngineCC != 0 || car.RawModelCode != "" {
				t.Errorf("%s %s: %d cc, code %q", name, value, car.EngineCC, car.RawModelCode)
			}
		}
	}
}

func TestEngineRowHoldsNoEngineCode(t *testing.T) {
	for _, value := range []string{"HR12", "1NZ-FE", "Good", "V6", "80kW", "0cc", "-"} {
		if car := read(t, notePage("Engine", value), noteURL).Car; car.EngineCC != 0 {
			t.Errorf("%q: %d cc", value, car.EngineCC)
		}
	}
}

func TestScoreLabelsAreNoVersion(t *testing.T) {
	for _, name := range []string{"Auc. Grade", "Auction Grade", "RATE", "Scores", "評価点"} {
		if car := read(t, notePage(name, "4.5"), noteURL).Car; car.Version != "" || car.Auction == nil || car.Auction.Score != "4.5" {
			t.Errorf("%s: version %q, auction %+v", name, car.Version, car.Auction)
		}
	}
}

func TestScoreUnderGradeIsNoVersion(t *testing.T) {
	for value, want := range map[string]string{"4.5": "", "4": "", "6": "", "S": "S", "20S": "20S", "13G": "13G", "2.0I-L": "2.0I-L"} {
		if car := read(t, notePage("Grade", value), noteURL).Car; car.Version != want {
			t.Errorf("%q: version %q", value, car.Version)
		}
	}
}

func TestStruckCouponAndInstalmentPricesAreNone(t *testing.T) {
	for value, want := range map[string]string{
		"<s>US$ 2,500</s> US$ 1,850":                        "1850",
		"<del>US$ 2,500</del><b>US$ 1,850</b>":              "1850",
		"<strike>$2,500</strike>US$1,850":                   "1850",
		`<span style="display: none">$2,500</span>US$1,850`: "1850",
		"US$ 1,850 (You save US$ 650)":                      "null",
		"26 % OFF":                                          "null",
		"US$ 100 coupon":                                    "null",
		"US$ 99 / month":                                    "null",
		"US$ 2,500 US$ 1,850":                               "null",
		"SOLD":                                              "null",
		"Under Offer":                                       "null",
		"POA":                                               "null",
		"Contact us":                                        "null",
		"US$ 0":                                             "null",
		"1,850":                                             "null",
		"<script>var fbq_vc_value = '$1,849';</script>US$1,850": "1850",
	} {
		if got := amountOf(read(t, notePage("FOB Price", value), noteURL).Car.FOBPriceUSD); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
}

func TestOtherCurrenciesAreNoDollars(t *testing.T) {
	for value, want := range map[string]string{
		"¥1,705,000": "JPY", "229.5万円": "JPY", "1,200,000 YEN": "JPY", "KES 450,000": "KES", "TZS 12,000,000": "TZS", "€ 4,300": "EUR", "£3,900": "GBP",
		"C$ 9,000": "CAD", "$4,300 (¥640,000)": "",
	} {
		car := read(t, notePage("Price", value), noteURL).Car
		if car.FOBPriceUSD != nil || car.Currency != want || (car.AskingPrice != nil) != (want != "") {
			t.Errorf("%s: FOB %v, %s %v", value, car.FOBPriceUSD, car.Currency, car.AskingPrice)
		}
	}
}

func TestLineBreakInALabelIsASpace(t *testing.T) {
	page := plainTitle + `<table><tr><th><span>Registration<br>Year/month</span></th><td>2014/3</td></tr><tr><th>Fuel</th><td>Petrol</td></tr></table>`
	if car := read(t, page, noteURL).Car; car.Registration != "2014/3" {
		t.Errorf("registration %q", car.Registration)
	}
}

func TestCommentBetweenLabelAndValue(t *testing.T) {
	page := plainTitle + `<table><tr><th>Steering</th><!-- note --> <td><!-- x -->Right</td></tr><tr><th>Fuel</th><td>Petrol</td></tr><tr><th>Year</th><td>2015</td></tr></table>`
	if car := read(t, page, noteURL).Car; car.Steering != "Right" {
		t.Errorf("steering %q", car.Steering)
	}
}

func TestRowspanDoesNotShiftValues(t *testing.T) {
	page := plainTitle + `<table><tr><th rowspan="2">Manufacture<br>Year/month</th><td rowspan="2">-</td><th>Fuel</th><td>Petrol</td></tr>
		<tr><th>Engine Size</th><td>1,190cc</td></tr><tr><th>Max.Cap</th><td>-</td></tr></table>`
	if car := read(t, page, noteURL).Car; car.Manufacture != "" || car.EngineCC != 1190 || car.Fuel != "PETROL" {
		t.Errorf("%+v", car)
	}
}

func TestHelpTextOfALabelIsNotRead(t *testing.T) {
	page := plainTitle + `<table><tr><td>Reg.Year / Month <span title="Registered in 1999"></span></td><td>
		2015
		/
		Feb</td></tr><tr><td>Fuel Type</td><td>PETROL</td></tr></table>`
	if car := read(t, page, noteURL).Car; car.Registration != "2015 / Feb" || car.Year != 2015 {
		t.Errorf("registration %q", car.Registration)
	}
}

func TestCellWithItsOwnEmptyValueIsNotALabel(t *testing.T) {
	page := plainTitle + `<table><tr><td><span>Steering:</span> -</td><td><span>Auc. Grade:</span> 4.5</td><td><span>Year:</span> 2015</td></tr><tr><td>Fuel: Petrol</td></tr></table>`
	if car := read(t, page, noteURL).Car; car.Steering != "" || car.Auction == nil || car.Auction.Score != "4.5" || car.Fuel != "PETROL" {
		t.Errorf("steering %q, auction %+v", car.Steering, car.Auction)
	}
}

func TestVINIsAFrameNumberAndNoCode(t *testing.T) {
	page := strings.Replace(notePage("Chassis No.", "WBA3A16000J123456"), "<dt>Model Code</dt><dd>DBA-E12</dd>", "<dt>Year</dt><dd>2015</dd>", 1)
	if car := read(t, page, noteURL).Car; car.FrameNumber != "WBA3A16000J123456" || car.ModelCode != "" {
		t.Errorf("frame %q, code %q", car.FrameNumber, car.ModelCode)
	}
}

func TestFrameNumberWithoutHyphenIsNoCode(t *testing.T) {
	page := strings.Replace(notePage("Chassis No.", "GP23109876"), "<dt>Model Code</dt><dd>DBA-E12</dd>", "<dt>Year</dt><dd>2015</dd>", 1)
	if car := read(t, page, noteURL).Car; car.FrameNumber != "GP23109876" || car.RawModelCode == "GP23109876" && car.ModelCode == "GP23109876" {
		t.Errorf("frame %q, code %q", car.FrameNumber, car.ModelCode)
	}
}

func TestDirtyChassisCodes(t *testing.T) {
	for listed, want := range map[string]string{
		"DBA ZRE152": "ZRE152", "CBA TR1120UU PRADO": "TR1120UU", "AXIO DAA-NKE165": "NKE165", "DBA−ZRE152": "ZRE152", "ＤＢＡ－ＺＲＥ１５２": "ZRE152",
		"DBA-ZRE152, DBA-ZRE154": "ZRE152", "dba-zre152": "ZRE152", "A202S code": "A202S", "6AA-MXWH60-AHXHB": "MXWH60", "NKE165": "NKE165",
	} {
		page := strings.Replace(notePage("Year", "2015"), "DBA-E12", listed, 1)
		if car := read(t, page, noteURL).Car; car.ModelCode != want || car.RawModelCode != listed {
			t.Errorf("%q: code %q, raw %q", listed, car.ModelCode, car.RawModelCode)
		}
	}
}

func TestNamesShapedLikeCodesStayNames(t *testing.T) {
	for _, model := range []string{"X-TRAIL", "CX-30", "C-HR", "N-BOX", "RAV-4"} {
		page := "<title>2015 NISSAN " + model + "</title>" + strings.TrimPrefix(notePage("Year", "2015", "Model", model), plainTitle)
		page = strings.Replace(page, "<dt>Model Code</dt><dd>DBA-E12</dd>", "", 1)
		if car := read(t, page, "").Car; car.Model != model || car.ModelCode != "" {
			t.Errorf("model %q, code %q", car.Model, car.ModelCode)
		}
	}
}

func TestManufactureInKiswahiliIsTheYear(t *testing.T) {
	car := read(t, fixture(t, "kiswahili.html"), "").Car
	if car.Year != 2005 || car.YearBasis != "manufacture" || car.EngineCC != 1490 || car.Fuel != "PETROLI" {
		t.Errorf("%+v", car)
	}
}

func FuzzLabelValues(f *testing.F) {
	for _, seed := range []string{"¥1,705,000", "229.5万円", "12.2020", "2010 / Jan", "1,490cc", "1.8 liters", "118,000 km (73,200 mile)", "DBA−ZRE152", "NCP51-0235***", "X ｱｯﾌﾟ", "15.07.2026", "4.0", "US$ 22,980 US$ 22,337"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		found := &claim.List{Source: "fuzz", Rank: claim.RankLabel}
		for _, r := range readers {
			found.Add(r.field, value)
		}
		found.Add(claim.FieldChassis, value)
		found.Add(claim.FieldDrive, value)
		doc := &page.Document{URL: &url.URL{}, Base: &url.URL{}}
		car := resolve(found, doc).Car
		if car.Year != 0 && (car.Year < claim.MinYear || car.Year > claim.MaxYear()) || car.EngineCC < 0 || car.EngineCC > 20000 {
			t.Errorf("%q: %+v", value, car)
		}
		if p := car.FOBPriceUSD; p != nil && (!p.Decimal().IsPositive() || p.Decimal().IntPart() > 3_000_000) {
			t.Errorf("%q: FOB %s", value, p)
		}
		if car.MileageKM != nil && (*car.MileageKM < 0 || *car.MileageKM > claim.MaxMileage) {
			t.Errorf("%q: %d km", value, *car.MileageKM)
		}
	})
}
