package catalogue

import (
	"encoding/csv"
	"os"
	"slices"
	"strings"
	"testing"

	"ushuru/pkg/testenv"
)

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
