package match

import (
	"testing"

	"ushuru/pkg/chassis"
)

func TestFuelWordsFoldToClasses(t *testing.T) {
	for class, words := range map[fuelClass][]string{
		petrol:       {"PETROL", "Gasoline", "Gasoline/Petrol", "ガソリン", "ｶﾞｿﾘﾝ", "Regular"},
		diesel:       {"DIESEL", "DEISEL", "DI ESEL", "gas oil", "軽油"},
		hybrid:       {"HYBRID", "Hybrid(Petrol)", "PETROL/ELECTRIC", "PETROL & ELECTRIC", "Plug-in Hybrid", "PHEV", "PHV", "HEV", "HV", "e-POWER", "ハイブリッド", "ﾊｲﾌﾞﾘｯﾄﾞ", "mild hybrid"},
		dieselHybrid: {"Hybrid(Diesel)", "DIESEL HYBRID", "DIESEL & ELECTRIC"},
		electric:     {"ELECTRIC", "ELECCTRIC", "ELECTRIC(EV)", "EV", "電気"},
		gas:          {"LPG", "CNG"},
		fuelCell:     {"Hydrogen", "FCV"},
		"":           {"", "-", "Other", "SEVEN"},
	} {
		for _, word := range words {
			if got := classOfWord(word); got != class {
				t.Errorf("%q is %q, want %q", word, got, class)
			}
		}
	}
}

func TestThePrefixDecidesOverTheWord(t *testing.T) {
	for _, c := range []struct {
		word, prefix string
		want         fuelClass
	}{
		{"PETROL", "DAA", hybrid},
		{"PETROL", "DBA", petrol},
		{"HYBRID", "DBA", hybrid},
		{"PETROL", "LDA", diesel},
		{"", "ZAA", electric},
		{"PETROL", "E", petrol},
		{"", "", ""},
		{"DIESEL", "3CA", dieselHybrid},
		{"HYBRID", "ZBA", fuelCell},
	} {
		if got := carClass(c.word, chassis.Code{Prefix: c.prefix}, ""); got != c.want {
			t.Errorf("%q with prefix %q is %q, want %q", c.word, c.prefix, got, c.want)
		}
	}
}
