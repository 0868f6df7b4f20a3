package facts

import (
	"strings"
	"testing"
)

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
