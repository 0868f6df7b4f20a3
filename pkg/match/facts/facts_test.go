package facts

import (
	"strings"
	"testing"

	"ushuru/pkg/chassis"
)

func TestFuelWordsFoldToClasses(t *testing.T) {
	for class, words := range map[Fuel][]string{
		Petrol:       {"PETROL", "Gasoline", "Gasoline/Petrol", "ガソリン", "ｶﾞｿﾘﾝ", "Regular"},
		Diesel:       {"DIESEL", "DEISEL", "DI ESEL", "gas oil", "軽油"},
		Hybrid:       {"HYBRID", "Hybrid(Petrol)", "PETROL/ELECTRIC", "PETROL & ELECTRIC", "Plug-in Hybrid", "PHEV", "PHV", "HEV", "HV", "e-POWER", "ハイブリッド", "ﾊｲﾌﾞﾘｯﾄﾞ", "mild hybrid"},
		DieselHybrid: {"Hybrid(Diesel)", "DIESEL HYBRID", "DIESEL & ELECTRIC"},
		Electric:     {"ELECTRIC", "ELECCTRIC", "ELECTRIC(EV)", "EV", "電気"},
		Gas:          {"LPG", "CNG"},
		FuelCell:     {"Hydrogen", "FCV"},
		"":           {"", "-", "Other", "SEVEN"},
	} {
		for _, word := range words {
			if got := FuelOf(word); got != class {
				t.Errorf("%q is %q, want %q", word, got, class)
			}
		}
	}
}

func TestLoadCSV(t *testing.T) {
	cat, _, err := LoadCSV(strings.NewReader("\ufeff# simulated\nid,make,label\n1,TOYOTA,OPA - ACT10 - WAGON\n# more\n2,HONDA,FIT - GD2 - HATCHBACK\n3,TOYOTA,\"A, B - C1D - SUV\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if cat.Len() != 3 || len(cat.Makes()) != 2 || cat.Labels("TOYOTA")[0].Text != "A, B - C1D - SUV" || cat.Makes()[0].ID != 2 {
		t.Errorf("%d labels, makes %v", cat.Len(), cat.Makes())
	}
	for _, bad := range []string{"", "id,make\n1,TOYOTA\n", "make,label\nTOYOTA\n", "make,label\n,X - Y1Z - SUV\n", "make,label\n\"TOYOTA\n"} {
		if _, _, err := LoadCSV(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestCodeYears(t *testing.T) {
	for code, want := range map[string][2]int{
		"SXE10": {1998, 2005}, "NZE121": {2000, 2006}, "XYZ99": {0, 0}, "": {0, 0},
	} {
		from, to := CodeYears(chassis.Code{Code: code})
		if got := [2]int{from, to}; got != want {
			t.Errorf("%s was built %v, want %v", code, got, want)
		}
	}
}
