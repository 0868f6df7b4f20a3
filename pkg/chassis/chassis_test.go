package chassis

import (
	"testing"
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
