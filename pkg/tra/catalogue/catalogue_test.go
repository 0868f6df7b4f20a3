package catalogue

import (
	"slices"
	"testing"
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
