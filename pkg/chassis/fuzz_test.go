package chassis

import (
	"strings"
	"testing"
)

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
