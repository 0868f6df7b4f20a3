package facts

import "testing"

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
