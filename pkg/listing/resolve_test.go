package listing

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/message"
)

// yearPage is a page of a car with more rows of labels and values in its table.
func yearPage(rows ...string) string {
	var table strings.Builder
	for i := 0; i+1 < len(rows); i += 2 {
		table.WriteString("<tr><th>" + rows[i] + "</th><td>" + rows[i+1] + "</td></tr>")
	}
	return `<title>TOYOTA PASSO for sale</title><table><tr><th>Make</th><td>TOYOTA</td></tr><tr><th>Model</th><td>PASSO</td></tr>
		<tr><th>Model Code</th><td>DBA-KGC30</td></tr><tr><th>Engine Size</th><td>996cc</td></tr>` + table.String() + "</table>"
}

func TestTheYearOfManufactureIsTakenByAnyOfItsNames(t *testing.T) {
	t.Parallel()
	for _, label := range []string{
		"YOM", "Y.O.M", "Y.O.M.", "yom:", "Production year", "Prod. date", "Prod. Year", "Production Date", "Date of manufacture",
		"Manufactured", "Manufacturing year", "Manufacturing Date", "Manufactured Year", "Built", "Build year", "Year built", "Year made",
		"Year of make", "Make Year", "Mfg. Year/Month", "MFG", "MFD", "Manuf. Year", "Manf. year", "Year of Manufacture (YOM)", "Manufacture<br>Year/month",
		"Production Year / Month", "Produced in", "Made in", "Vehicle production date", "Year manufactured",
		"Mwaka wa kutengenezwa", "mwaka wa uzalishaji", "Mwaka wa utengenezaji", "製造年", "製造年月", "Год выпуска", "год производства", "г.в.",
		"سنة الصنع", "سنة الإنتاج", "تاريخ الصنع", "Année de fabrication", "ANNEE DE FABRICATION", "Ano de fabricação", "Ano de fabrico",
		"Año de fabricación", "Baujahr", "Herstellungsjahr", "ปีที่ผลิต", "제조년월",
	} {
		for _, rows := range [][]string{{"Year", "2019", label, "2012"}, {label, "2012", "Registration Year/month", "2019/3"}} {
			l := read(t, yearPage(rows...), noteURL)
			if l.Car.Year != 2012 || l.Car.YearBasis != "manufacture" || len(l.Warnings) != 0 {
				t.Errorf("%s: %d by %s, warnings %+v", label, l.Car.Year, l.Car.YearBasis, l.Warnings)
			}
		}
	}
}

func TestAYearThatIsNotOfManufactureIsAWarning(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]string{
		"Registration Year/month": "registration", "1st Reg. Date": "registration", "First Registration": "registration", "Date of 1st registration": "registration",
		"Registered": "registration", "Year": "registration", "Reg. Year": "registration", "mwaka wa usajili": "registration", "初度登録年月": "registration",
		"年式": "registration", "дата первой регистрации": "registration", "Mise en circulation": "registration", "1ère immatriculation": "registration",
		"Año de matriculación": "registration", "Erstzulassung": "registration", "EZ": "registration", "최초등록일": "registration", "ปีจดทะเบียน": "registration",
		"Model Year": "model", "Year Model": "model", "MY": "model", "Vehicle Year": "model", "モデル年式": "model", "модельный год": "model", "Année modèle": "model",
		"millésime": "model", "Modelljahr": "model", "연식": "model", "ปีรถ": "model", "mwaka wa gari": "model",
	} {
		l := read(t, yearPage(label, "2014"), noteURL)
		if l.Car.Year != 2014 || l.Car.YearBasis != want {
			t.Errorf("%s: %d by %q, want %s", label, l.Car.Year, l.Car.YearBasis, want)
		}
		if len(l.Warnings) != 1 || l.Warnings[0].Code != want+"_year" || l.Warnings[0].Values["year"] != "2014" || l.Warnings[0].Level != message.Caution {
			t.Errorf("%s: warnings %+v", label, l.Warnings)
		}
	}
	l := read(t, strings.Replace(yearPage(), "TOYOTA PASSO for", "2014 TOYOTA PASSO for", 1), noteURL)
	if l.Car.Year != 2014 || l.Car.YearBasis != "title" || len(l.Warnings) != 1 || l.Warnings[0].Code != "title_year" {
		t.Errorf("title: %+v, %+v", l.Car, l.Warnings)
	}
}

func TestYearsInTheFormsOfTheWorld(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]int{
		"2012": 2012, "2012/05": 2012, "05.2012": 2012, "2012年5月": 2012, "２０１２": 2012, "２０１２年": 2012, "٢٠١٤": 2014, "๒๕๕๗": 2014, "2557": 2014,
		"令和3年": 2021, "令和元年5月": 2019, "平成26年": 2014, "平成26年3月": 2014, "H26": 2014, "H26.3": 2014, "R3": 2021, "R3年": 2021, "昭和63年": 1988, "S63": 1988,
		"-": 0, "N/A": 0, "Confirm with the Seller": 0, "平成99年": 0, "H77": 0, "R99": 0, "2014 2012": 0, "12": 0, "1890": 0,
	} {
		got, _ := claim.ParseDatedYear(value)
		if got != want {
			t.Errorf("%q: %d, want %d", value, got, want)
		}
		if l := read(t, yearPage("Year of manufacture", value, "Mileage", "10 km"), noteURL); l.Car.Year != want {
			t.Errorf("%q is read as %d, want %d", value, l.Car.Year, want)
		}
	}
}

func TestALabelOfTwoYearsIsReadByItsOwnOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		label, value string
		year         int
		basis        string
	}{
		{"Year (Reg/Mfg)", "2014 / 2012", 2012, "manufacture"},
		{"Year (Mfg/Reg)", "2012 / 2014", 2012, "manufacture"},
		{"Manufacture / Registration", "2013/2013", 2013, "manufacture"},
		{"Ano/Modelo", "2012/2013", 2012, "manufacture"},
		{"Year (Reg/Mfg)", "2014", 2014, "registration"},
		{"Ano/Modelo", "2013", 2013, "model"},
	} {
		l := read(t, yearPage(c.label, c.value, "Mileage", "10 km"), noteURL)
		if l.Car.Year != c.year || l.Car.YearBasis != c.basis {
			t.Errorf("%s %s: %d by %s", c.label, c.value, l.Car.Year, l.Car.YearBasis)
		}
	}
}

func TestDatesOfTheAdvertisementAreNoYearOfTheCar(t *testing.T) {
	t.Parallel()
	yesterday := time.Now().AddDate(0, 0, -1)
	for _, rows := range [][]string{
		{"Posted", "2024-05-01"},
		{"Listed on", "2025/01/02"},
		{"Last updated", "2026"},
		{"Date added", "2025"},
		{"Seatbelts Year", "2010"},
		{"Year", yesterday.Format("2006-01-02")},
		{"Registered", yesterday.Format("2 January 2006")},
		{"Registration", yesterday.Format("02.01.2006")},
		{"Manufactured", time.Now().AddDate(0, 2, 0).Format("2006/01/02")},
	} {
		if l := read(t, yearPage(append(rows, "Mileage", "10 km")...), noteURL); l.Car.Year != 0 {
			t.Errorf("%q: %d by %s", rows, l.Car.Year, l.Car.YearBasis)
		}
	}
	block := schemaPage(`{"@type":"Car","brand":"Toyota","model":"Passo","name":"Toyota Passo","releaseDate":"2026-11-02","vehicleEngine":"1.0L","mileageFromOdometer":{"value":5,"unitCode":"KMT"}}`)
	if l := schemaOf(t, block, ""); l.Car.Year != 0 {
		t.Errorf("release date: %d", l.Car.Year)
	}
	confirmed := strings.Replace(block, `"Toyota Passo","rel`, `"2026 Toyota Passo","rel`, 1)
	if l := schemaOf(t, confirmed, ""); l.Car.Year != 2026 || l.Car.YearBasis != "model" {
		t.Errorf("release date in the name: %d by %s", l.Car.Year, l.Car.YearBasis)
	}
}

func TestAYearOfTheTitleThatDiffersIsSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		title, h1 string
		want      int
	}{
		{"2012 TOYOTA PASSO", "", 0},
		{"2013 TOYOTA PASSO", "", 0},
		{"2011 TOYOTA PASSO", "", 0},
		{"TOYOTA PASSO", "TOYOTA PASSO", 0},
		{"2014 TOYOTA PASSO", "", 2014},
		{"2009 TOYOTA PASSO", "", 2009},
		{"TOYOTA PASSO", "2018 TOYOTA PASSO", 2018},
		{"2012 TOYOTA PASSO", "2016 TOYOTA PASSO", 2016},
	} {
		page := strings.Replace(yearPage("YOM", "2012"), "TOYOTA PASSO for sale</title>", c.title+"</title><h1>"+c.h1+"</h1>", 1)
		l := read(t, page, noteURL)
		if l.Car.Year != 2012 || l.Car.TitleYear != c.want {
			t.Errorf("%q, %q: %d, title %d", c.title, c.h1, l.Car.Year, l.Car.TitleYear)
		}
		if c.want == 0 {
			if len(l.Warnings) != 0 {
				t.Errorf("%q, %q: %+v", c.title, c.h1, l.Warnings)
			}
			continue
		}
		if len(l.Warnings) != 1 || l.Warnings[0].Code != "year_differs" || l.Warnings[0].Values["titleYear"] != strconv.Itoa(c.want) {
			t.Errorf("%q, %q: %+v", c.title, c.h1, l.Warnings)
		}
	}
}

func TestAProductionDateThatALabelCallsARegistrationIsOne(t *testing.T) {
	t.Parallel()
	block := schemaPage(`{"@type":"Car","brand":"Toyota","model":"Passo","productionDate":"2014-03-01"}`)
	l := read(t, block+yearPage("Erstzulassung", "03/2014"), "https://cars.example.com/toyota/passo/1")
	if l.Car.Year != 2014 || l.Car.YearBasis != "registration" {
		t.Errorf("%d by %s", l.Car.Year, l.Car.YearBasis)
	}
	l = read(t, block+yearPage("Erstzulassung", "03/2016"), "https://cars.example.com/toyota/passo/1")
	if l.Car.Year != 2014 || l.Car.YearBasis != "manufacture" {
		t.Errorf("%d by %s", l.Car.Year, l.Car.YearBasis)
	}
}

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
