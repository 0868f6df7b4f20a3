package catalogue

import (
	"encoding/csv"
	"os"
	"slices"
	"strings"
	"testing"

	"ushuru/pkg/testenv"
)

func testCatalogue() *Catalogue {
	return New([]MakeLabels{
		{Make: Make{3, "TOYOTA"}, Labels: []string{
			"SUCCEED - NCP51V - VAN", "PROBOX - NCP51V - VAN", "PROBOX - NCP51 - VAN", "PROBOX - NCP51G - WAGON",
			"PROBOX - NCP51V - VAN", "LAND CRUISER - UZJ100W - SUV",
		}},
		{Make: Make{5, "MERCEDES"}, Labels: []string{"C180 - 204046 - SEDAN"}},
		{Make: Make{9, "DAF CF / XF"}},
	})
}

func texts(labels []Label) []string {
	var all []string
	for _, l := range labels {
		all = append(all, l.Text)
	}
	return all
}

func TestCatalogueFindsMakesInBothSpellings(t *testing.T) {
	t.Parallel()
	c := testCatalogue()
	for name, want := range map[string]string{
		"TOYOTA": "TOYOTA", "Toyota": "TOYOTA", "Mercedes-Benz": "MERCEDES", "MERCEDES": "MERCEDES", "DAF XF": "DAF CF / XF",
		"DAF": "", "LEXUS": "", "": "",
	} {
		if mk, ok := c.Make(name); mk.Name != want || ok != (want != "") {
			t.Errorf("Make(%q) = %v, %v; want %q", name, mk, ok, want)
		}
	}
	if c.Len() != 6 || len(c.Makes()) != 3 || c.Makes()[0].Name != "DAF CF / XF" {
		t.Errorf("Len %d, Makes %v", c.Len(), c.Makes())
	}
}

func TestCatalogueFindsCodesWithinTheMake(t *testing.T) {
	t.Parallel()
	c := testCatalogue()
	of := func(name string) *Entries {
		entries, ok := c.Of(name)
		if !ok {
			t.Fatalf("no make %s", name)
		}
		return entries
	}
	for _, test := range []struct {
		name string
		got  []Label
		want []string
	}{
		{"a code under two names", of("TOYOTA").ByCode("NCP51V"), []string{"PROBOX - NCP51V - VAN", "SUCCEED - NCP51V - VAN"}},
		{"a code without its letter", of("TOYOTA").ByCode("UZJ100"), nil},
		{"another make's code", of("Mercedes-Benz").ByCode("NCP51V"), nil},
		{
			"a stem", of("TOYOTA").ByStem("NCP51"),
			[]string{"PROBOX - NCP51 - VAN", "PROBOX - NCP51G - WAGON", "PROBOX - NCP51V - VAN", "SUCCEED - NCP51V - VAN"},
		},
		{"labels of a make", c.Labels("Mercedes-Benz"), []string{"C180 - 204046 - SEDAN"}},
		{"labels of an unknown make", c.Labels("LEXUS"), nil},
	} {
		if !slices.Equal(texts(test.got), test.want) {
			t.Errorf("%s: %q, want %q", test.name, texts(test.got), test.want)
		}
	}
}

func TestCatalogueFindsModelsWhateverTheirSpacing(t *testing.T) {
	t.Parallel()
	entries, ok := testCatalogue().Of("TOYOTA")
	if !ok || len(entries.ByModel("LANDCRUISER")) != 1 || !entries.HasModel([]byte("PROBOX")) || entries.HasModel([]byte("PRO")) {
		t.Error("models are not found by their folded names")
	}
}

func TestAMakeListedTwiceKeepsBothLists(t *testing.T) {
	t.Parallel()
	c := New([]MakeLabels{{Make: Make{1, "KIA"}, Labels: []string{"A - B1C - SUV"}}, {Make: Make{2, "KIA"}, Labels: []string{"D - E1F - SUV"}}})
	kia, _ := c.Of("KIA")
	if c.Len() != 2 || len(c.Makes()) != 1 || kia.ByCode("E1F")[0].Make.ID != 2 {
		t.Errorf("%d labels of %v", c.Len(), c.Makes())
	}
}

func TestParseLabelReadsEveryShape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Label{
		"COROLLA FIELDER - NKE165 - HYBRID - WAGON": {Model: "COROLLA FIELDER", Codes: []string{"NKE165"}, Extras: []string{"HYBRID"}, Body: "WAGON"},
		"IST - NCP110 - HATCHBACK":                  {Model: "IST", Codes: []string{"NCP110"}, Body: "HATCHBACK"},
		"X-TRAIL - T32 - SUV":                       {Model: "X-TRAIL", Codes: []string{"T32"}, Body: "SUV"},
		"N-BOX - JF1 - WAGON":                       {Model: "N-BOX", Codes: []string{"JF1"}, Body: "WAGON"},
		"IMPREZA WRX STI - GRB - HATCHBACK":         {Model: "IMPREZA WRX STI", Codes: []string{"GRB"}, Body: "HATCHBACK"},
		"IST  -  NCP110 - HATCHBACK ":               {Model: "IST", Codes: []string{"NCP110"}, Body: "HATCHBACK"},
		"PROBOX - NCP51 / NCP55 - VAN":              {Model: "PROBOX", Codes: []string{"NCP51", "NCP55"}, Body: "VAN"},
		"PROBOX - NCP51V,NCP55V - VAN":              {Model: "PROBOX", Codes: []string{"NCP51V", "NCP55V"}, Body: "VAN"},
		"PROBOX - DBE-NCP51V - VAN":                 {Model: "PROBOX", Codes: []string{"NCP51V"}, Body: "VAN"},
		"COROLLA - HYBRID - NKE165 - WAGON":         {Model: "COROLLA", Codes: []string{"NKE165"}, Extras: []string{"HYBRID"}, Body: "WAGON"},
		"HIACE - TRH200 - 4WD - LONG - VAN":         {Model: "HIACE", Codes: []string{"TRH200"}, Extras: []string{"4WD", "LONG"}, Body: "VAN"},
		"C180 - 204046 - SEDAN":                     {Model: "C180", Codes: []string{"204046"}, Body: "SEDAN"},
		"VITZ - NCP10":                              {Model: "VITZ", Codes: []string{"NCP10"}},
		"VITZ - HATCHBACK":                          {Model: "VITZ", Body: "HATCHBACK"},
		"VITZ - HYBRID - HATCHBACK":                 {Model: "VITZ", Extras: []string{"HYBRID"}, Body: "HATCHBACK"},
		"VITZ":                                      {Model: "VITZ"},
		"":                                          {},
		" - - ":                                     {Model: "- -"},
	} {
		mk := Make{ID: 7, Name: "ANY"}
		got := ParseLabel(mk, text)
		if got.Make != mk || got.Text != text || got.Model != want.Model || got.Body != want.Body ||
			!slices.Equal(got.Codes, want.Codes) || !slices.Equal(got.Extras, want.Extras) {
			t.Errorf("ParseLabel(%q) = %+v", text, got)
		}
	}
}

func TestOnlyFourPartLabelsSayHybrid(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"COROLLA FIELDER - NKE165 - HYBRID - WAGON": true,
		"FIT HYBRID - GP1 - HATCHBACK":              true,
		"PRIUS - ZVW30 - HATCHBACK":                 false,
	} {
		if got := ParseLabel(Make{}, text).Hybrid(); got != want {
			t.Errorf("%q: hybrid %v, want %v", text, got, want)
		}
	}
}

// The simulated catalogue gives model, code and body beside each label.
func TestParseLabelAgreesWithTheSimulatedCatalogue(t *testing.T) {
	t.Parallel()
	file, err := os.Open(testenv.Reference(t, "matching", "catalogue.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		label := ParseLabel(Make{Name: row[1]}, row[2])
		if label.Model != row[3] || strings.Join(label.Codes, "|") != row[4] || label.Body != row[5] {
			t.Errorf("%q: %+v, want %v", row[2], label, row[3:6])
		}
	}
}

func FuzzParseLabel(f *testing.F) {
	f.Add("COROLLA FIELDER - NKE165 - HYBRID - WAGON")
	f.Add("A - B - C - D - E")
	f.Add(" -  - ")
	f.Fuzz(func(t *testing.T, text string) {
		label := ParseLabel(Make{}, text)
		if label.Text != text {
			t.Errorf("text %q became %q", text, label.Text)
		}
		folded := strings.Join(strings.Fields(text), " ")
		if !strings.HasPrefix(folded, label.Model) || !strings.HasSuffix(folded, label.Body) {
			t.Errorf("%q gives model %q and body %q", text, label.Model, label.Body)
		}
	})
}
