package chassis

import (
	"os"
	"strings"
	"testing"

	"ushuru/pkg/testenv"
)

func TestParseReadsWhatExportersWrite(t *testing.T) {
	for cell, want := range map[string]Code{
		// With the emission prefix, and what may follow the code.
		"DAA-NKE165":          {Prefix: "DAA", Code: "NKE165"},
		"6AA-MXPH10":          {Prefix: "6AA", Code: "MXPH10"},
		"CBE-NCP51V":          {Prefix: "CBE", Code: "NCP51V"},
		"ZAA-ZE1":             {Prefix: "ZAA", Code: "ZE1"},
		"DBA-JF1-AEXEK":       {Prefix: "DBA", Code: "JF1", Suffix: "AEXEK"},
		"6AA-MXWH60-AHXHB":    {Prefix: "6AA", Code: "MXWH60", Suffix: "AHXHB"},
		"4BA-HA36S/ASWF-A3":   {Prefix: "4BA", Code: "HA36S"},
		"E-AT211G":            {Prefix: "E", Code: "AT211G"},
		"TA-JCG10":            {Prefix: "TA", Code: "JCG10"},
		"GH-BE5":              {Prefix: "GH", Code: "BE5"},
		"CBA-253388":          {Prefix: "CBA", Code: "253388"},
		"3AA-CDDLAV":          {Prefix: "3AA", Code: "CDDLAV"},
		"DBA-NCP51-0235***":   {Prefix: "DBA", Code: "NCP51", Suffix: "0235***", Frame: true},
		"AXIO DAA-NKE165":     {Prefix: "DAA", Code: "NKE165"},
		"G/DAA-NKE165":        {Prefix: "DAA", Code: "NKE165"},
		"DBA ZRE152":          {Prefix: "DBA", Code: "ZRE152"},
		"CBA TR1120UU PRADO":  {Prefix: "CBA", Code: "TR1120UU"},
		"daa-nke165":          {Prefix: "DAA", Code: "NKE165"},
		"DBA−ZRE152":          {Prefix: "DBA", Code: "ZRE152"},
		"ＤＢＡ－ＺＲＥ１５２":          {Prefix: "DBA", Code: "ZRE152"},
		"DBAーZRE152":          {Prefix: "DBA", Code: "ZRE152"},
		"DBA – ZRE152\u200b":  {Prefix: "DBA", Code: "ZRE152"},
		"DBA--ZRE152":         {Prefix: "DBA", Code: "ZRE152"},
		"DBA-ZRE152, ZRE154":  {Prefix: "DBA", Code: "ZRE152"},
		"-DAA-NKE165-":        {Prefix: "DAA", Code: "NKE165"},
		"dbaagh30w":           {Prefix: "DBA", Code: "AGH30W"},
		"6aaaxuh80":           {Prefix: "6AA", Code: "AXUH80"},
		"DAA-NKE165 (hybrid)": {Prefix: "DAA", Code: "NKE165"},
		// Bare.
		"NKE165":       {Code: "NKE165"},
		"NKE165-AEXEB": {Code: "NKE165", Suffix: "AEXEB"},
		"GRB":          {Code: "GRB"},
		"3CDPC":        {Code: "3CDPC"},
		"3CDFCF":       {Code: "3CDFCF"},
		"A202S **code**": {
			Code: "A202S",
		},
		"NZT-260": {Code: "NZT260"},
		"T-31":    {Code: "T31"},
		"NKE 165": {Code: "NKE165"},
		// Glued: only the catalogue can tell a short prefix from the code.
		"taazt240":      {Code: "TAAZT240"},
		"GFC27":         {Code: "GFC27"},
		"cbablffp":      {Code: "CBABLFFP"},
		"NKE1657161960": {Code: "NKE1657161960"},
		// Frame numbers.
		"NKE165-7161960": {Code: "NKE165", Suffix: "7161960", Frame: true},
		"NCP51-0235***":  {Code: "NCP51", Suffix: "0235***", Frame: true},
		"CWEFW-5432227":  {Code: "CWEFW", Suffix: "5432227", Frame: true},
		"SKE-012345":     {Code: "SKE", Suffix: "012345", Frame: true},
	} {
		got, ok := Parse(cell)
		want.Raw = cell
		if !ok || got != want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", cell, got, ok, want)
		}
	}
}

func TestParseRefusesWhatIsNoCode(t *testing.T) {
	for _, cell := range []string{
		"", " ", "-", "N/A", "2017", "7161960", "12", "GD", "WBA3B16030F123456", "X-TRAIL", "N-BOX", "C-HR",
		"e-NV200", "E-CLASS", "D-MAX", "***", "LAND CRUISER PRADO", "ハイブリッド", "20170123456789",
	} {
		if got, ok := Parse(cell); ok {
			t.Errorf("Parse(%q) = %+v, want no code", cell, got)
		}
	}
}

func TestParseAllReadsEveryCode(t *testing.T) {
	for cell, want := range map[string][]string{
		"DBA-ZRE152, DBA-ZRE154": {"ZRE152", "ZRE154"},
		"NCP51V/NCP55V":          {"NCP51V", "NCP55V"},
		"NZE141・NZE144":          {"NZE141", "NZE144"},
		"NZE141 or ZRE142":       {"NZE141", "ZRE142"},
		"DBA-JF1 (JF1)":          {"JF1"},
		"4BA-HA36S/ASWF-A3":      {"HA36S"},
		"JF1; JF1":               {"JF1"},
		"none":                   {"NONE"},
		"":                       nil,
	} {
		var got []string
		for _, c := range ParseAll(cell) {
			got = append(got, c.Code)
		}
		if len(got) != len(want) {
			t.Errorf("ParseAll(%q) = %v, want %v", cell, got, want)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("ParseAll(%q) = %v, want %v", cell, got, want)
			}
		}
	}
}

func TestFromFrameReadsFrameNumbersOnly(t *testing.T) {
	for cell, want := range map[string]string{
		"NKE165-7161960":    "NKE165",
		"NCP51-0235***":     "NCP51",
		"HF50-600***":       "HF50",
		"ncp51 0235***":     "NCP51",
		"NCP51-0235XXX":     "NCP51",
		"NCP51-*******":     "NCP51",
		"NT31-012345":       "NT31",
		"VNU35-1234567":     "VNU35",
		"DBA-NCP51-0235***": "NCP51",
		"7161960":           "", // a serial alone
		"2017":              "",
		"WBA3B16030F123456": "", // a VIN
		"NKE165":            "",
		"NKE165-AEXEB":      "",
		"DAA-NKE165":        "",
		"NKE1657161960":     "",
		"":                  "",
	} {
		got, ok := FromFrame(cell)
		if got.Code != want || ok != (want != "") || ok && (!got.Frame || got.Raw != cell) {
			t.Errorf("FromFrame(%q) = %+v, %v; want code %q", cell, got, ok, want)
		}
	}
}

func TestRunTogetherOffersEveryCut(t *testing.T) {
	var got []string
	for _, c := range RunTogether("NKE1657161960") {
		got = append(got, c.Code+"|"+c.Suffix)
	}
	want := []string{"NKE16571|61960", "NKE1657|161960", "NKE165|7161960", "NKE16|57161960"}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

func TestInTextFindsOnlyRealPrefixes(t *testing.T) {
	for text, want := range map[string]string{
		"Used 2019 TOYOTA COROLLA AXIO HYBRID G/DAA-NKE165 for Sale CE566767": "NKE165",
		"SUBARU IMPREZA WRX STI CBA-GRB 2.0":                                  "GRB",
		"トヨタ　カローラ　ＤＢＡ－ＮＺＥ１４１　２００７年":                                           "NZE141",
		"1996 TOYOTA CALDINA E-AT211G-AEXEK":                                  "AT211G",
		"GF-EU1 stream":                                                       "EU1",

		"NISSAN X-TRAIL 20X":    "",
		"MAZDA CX-30 20S":       "",
		"MAZDA MX-30":           "",
		"engine 1NZ-1LM":        "",
		"TOYOTA C-HR G-T":       "",
		"HONDA N-BOX G":         "",
		"ISUZU D-MAX":           "",
		"TOYOTA RAV-4":          "",
		"SUZUKI S-CROSS":        "",
		"NISSAN e-NV200":        "",
		"NISSAN NV-200":         "",
		"MERCEDES E-CLASS E250": "",
		"JAGUAR F-TYPE R":       "",
		"VW T-ROC 110":          "",
		"BMW E-46, E-36":        "",
		"NISSAN T-31 R-34":      "",
		"frame NKE165-7161960":  "",
		"AAA-RATED condition":   "",
		"W-airbag A-TRC T-5":    "",
		"":                      "",
	} {
		got, ok := InText(text)
		if got.Code != want || ok != (want != "") {
			t.Errorf("InText(%q) = %+v, %v; want %q", text, got, ok, want)
		}
	}
}

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

// officialSample always runs; TestOfficialDesignations reads all 2,942.
var officialSample = []string{
	"DBA-NZE141", "3BA-AGH30W", "ABA-ANH20W", "5BA-MH85S", "CBA-NCP85G", "3DA-GDJ150W", "DAA-NKE165", "6AA-MXPH10", "LDA-KE2FW",
	"5AA-ZVW51", "3CA-KF2P", "4AA-B11A", "6BA-LA650S", "4BA-HA36S", "3AA-12ET44", "EBD-S321V", "RBA-MA15S", "3BD-DR17V", "CBF-TRH200V",
	"3DF-GDH206V", "HBD-DA64V", "3BF-TRH200V", "5BD-S700V", "LDF-KDH201V", "DBF-NCP51V", "QDF-GDH201V", "ABF-SLP2L", "5BF-P02V",
	"MBA-NDERC", "AAA-GWS191", "CAA-GS450", "GBD-HA6", "5BE-NCP165V", "DBE-NCP160V", "LCA-CWEFW", "6AE-NHP160V", "3BE-NCP165V",
	"CHJ-JC2F23", "CGE-VY12", "3LA-GG3W", "3AA-CDDLAV", "CBA-253388", "3BA-12AP20", "ABA-970CWBAX", "ABA-FVDNFF",
}

func checkDesignation(t *testing.T, designation string) {
	t.Helper()
	prefix, code, _ := strings.Cut(designation, "-")
	want := Code{Raw: designation, Prefix: prefix, Code: code}
	if got, ok := Parse(designation); !ok || got != want {
		t.Errorf("Parse(%q) = %+v, %v", designation, got, ok)
	}
	got, ok := Parse(strings.ToLower(designation) + "-aexek")
	if !ok || got.Prefix != prefix || got.Code != code || got.Suffix != "AEXEK" {
		t.Errorf("%s with a version suffix: %+v, %v", designation, got, ok)
	}
}

func TestOfficialSample(t *testing.T) {
	for _, designation := range officialSample {
		checkDesignation(t, designation)
	}
}

func TestOfficialDesignations(t *testing.T) {
	data, err := os.ReadFile(testenv.Reference(t, "matching", "type_designations.txt"))
	if err != nil {
		t.Fatal(err)
	}
	n, inText := 0, 0
	for line := range strings.FieldsSeq(string(data)) {
		checkDesignation(t, line)
		if got, ok := InText("Used " + line + " for sale"); ok && got.Prefix+"-"+got.Code == line {
			inText++
		}
		n++
	}
	if n != 2942 {
		t.Errorf("read %d designations, want 2,942", n)
	}
	if n != inText {
		t.Errorf("found %d of %d inside a text", inText, n)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range append(officialSample, "NKE165-7161960", "4BA-HA36S/ASWF-A3", "ＤＢＡ－ＺＲＥ１５２", "NZT-260", "A,B;C/D", "--", "E-", "\xff-ZRE152") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		for _, code := range ParseAll(cell) {
			if !isAlnum(code.Code) || len(code.Code) < 2 || len(code.Code) > maxGlued {
				t.Errorf("%q gives the code %q", cell, code.Code)
			}
			if code.Prefix != "" && !IsPrefix(code.Prefix) {
				t.Errorf("%q gives the prefix %q", cell, code.Prefix)
			}
			bare, ok := Parse(code.Code)
			if code.Prefix == "" && (!ok || !strings.HasSuffix(code.Code, bare.Code)) {
				t.Errorf("%q gives %q, which is no code itself: %+v", cell, code.Code, bare)
			}
		}
		if code, ok := FromFrame(cell); ok && (!code.Frame || code.Suffix == "") {
			t.Errorf("FromFrame(%q) = %+v", cell, code)
		}
	})
}

func FuzzInText(f *testing.F) {
	f.Add("Used 2019 TOYOTA COROLLA AXIO HYBRID G/DAA-NKE165 for Sale")
	f.Add("MAZDA CX-30 e-NV200 T-31")
	f.Fuzz(func(t *testing.T, text string) {
		code, ok := InText(text)
		if ok && (!IsPrefix(code.Prefix) || !isAlnum(code.Code) || !strings.Contains(Normalise(text), code.Raw)) {
			t.Errorf("InText(%q) = %+v", text, code)
		}
	})
}
