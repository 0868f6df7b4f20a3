package chassis

import "testing"

func TestTwoDifferentBodyLettersNeverMatch(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"NKE165", "NKE165", true},
		{"NKE165G", "NKE165", true},
		{"NKE165", "NKE165G", true},
		{"ZGE20G", "ZGE20W", false},
		{"S331N", "S331V", false},
		{"GJ2AP", "GJ2A", false}, // the last letter stands after a letter
		{"GRB", "GR", false},
		{"NZT240", "ZZT240", false},
		{"NZE141", "NZE1411", false},
		{"", "", false},
	} {
		if got := StemMatch(c.a, c.b); got != c.want {
			t.Errorf("StemMatch(%q, %q) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestStemDropsOneLetterAfterADigit(t *testing.T) {
	for code, want := range map[string]string{
		"NCP51V": "NCP51", "HA36S": "HA36", "NKE165": "NKE165", "GRB": "GRB", "DY3W": "DY3", "GJ2AP": "GJ2AP", "ZC6": "ZC6", "W8T": "W8T",
	} {
		got, dropped := Stem(code)
		if got != want || dropped != (got != code) {
			t.Errorf("Stem(%q) = %q, %v; want %q", code, got, dropped, want)
		}
	}
}

func TestPowerReadsThePrefix(t *testing.T) {
	for prefix, want := range map[string]Power{
		"DAA": Hybrid, "6AA": Hybrid, "6LA": Hybrid, "DBA": Petrol, "3BA": Petrol, "LDA": Diesel, "3CA": DieselHybrid, "4CA": DieselHybrid,
		"ZAA": Electric, "ZBA": FuelCell, "GH": "", "E": "", "": "", "CGE": "",
	} {
		if got := (Code{Prefix: prefix}).Power(); got != want {
			t.Errorf("prefix %q: %q, want %q", prefix, got, want)
		}
	}
}

func TestUnglueKeepsToTheClosedList(t *testing.T) {
	var got []string
	for _, c := range Unglue(Code{Code: "UAZE10"}) {
		got = append(got, c.Prefix+"-"+c.Code)
	}
	if len(got) != 2 || got[0] != "UA-ZE10" || got[1] != "U-AZE10" {
		t.Errorf("UAZE10 has two readings, got %v", got)
	}
	if ways := Unglue(Code{Code: "NKE165"}); len(ways) != 1 || ways[0].Prefix != "N" {
		t.Errorf("NKE165: %v", ways)
	}
	if ways := Unglue(Code{Prefix: "DBA", Code: "TAAZT240"}); ways != nil {
		t.Errorf("a code with a prefix has no second one: %v", ways)
	}
}

func TestPrefixFitsTheYearsItWasGiven(t *testing.T) {
	for _, c := range []struct {
		prefix string
		year   int
		want   bool
	}{
		{"TA", 2004, true},
		{"GF", 2017, false},
		{"GF", 0, false},
		{"DBA", 0, true},
		{"DBA", 2024, true},
		{"3BA", 2012, false},
		{"E", 1996, true},
		{"E", 2010, false},
		{"QQ", 2000, false},
	} {
		if got := PrefixFits(c.prefix, c.year); got != c.want {
			t.Errorf("PrefixFits(%q, %d) = %v, want %v", c.prefix, c.year, got, c.want)
		}
	}
}

func TestAuthorityMakeSpellsAsTheAuthority(t *testing.T) {
	for name, want := range map[string]string{
		"Land Rover": "LANDROVER", "RANGE ROVER": "LANDROVER", "Mercedes-Benz": "MERCEDES", "mercedes benz": "MERCEDES",
		"SKODA": "SCODA", "Infiniti": "INFINITY", "JEEP": "CHRYSLER JEEP", "DAF XF": "DAF CF / XF",
		"Toyota": "TOYOTA", "ＴＯＹＯＴＡ": "TOYOTA", "alfa romeo": "ALFA ROMEO", "DAF": "DAF", "BYD": "BYD", "": "",
	} {
		if got := AuthorityMake(name); got != want {
			t.Errorf("AuthorityMake(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestNameKeyIgnoresSpacesAndHyphens(t *testing.T) {
	for _, names := range [][]string{
		{"X-TRAIL", "X TRAIL", "xtrail"}, {"LAND CRUISER", "Landcruiser"}, {"DELICA D:5", "DELICA D5"}, {"アルファード", "ｱﾙﾌｧｰﾄﾞ"},
	} {
		for _, name := range names[1:] {
			if NameKey(name) != NameKey(names[0]) {
				t.Errorf("%q and %q differ: %q, %q", names[0], name, NameKey(names[0]), NameKey(name))
			}
		}
	}
}
