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
