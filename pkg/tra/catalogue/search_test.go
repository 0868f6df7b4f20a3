package catalogue_test

import (
	"slices"
	"testing"

	"ushuru/pkg/tra/catalogue"
)

func TestSearchOfLabels(t *testing.T) {
	t.Parallel()
	toyota := catalogue.Make{ID: 1, Name: "TOYOTA"}
	entries, _ := catalogue.New([]catalogue.MakeLabels{{Make: toyota, Labels: []string{
		"COROLLA AXIO - NKE165 - HYBRID - SEDAN", "COROLLA FIELDER - NKE165 - HYBRID - WAGON", "COROLLA FIELDER - NZE161 - WAGON",
		"IST - NCP110 - HATCHBACK", "NOAH HYBRID - ZWR80 - MINIVAN", "VITZ - NCP131 - HATCHBACK",
	}}}).Of("toyota")
	for query, want := range map[string][]string{
		"NKE165":           {"COROLLA AXIO - NKE165 - HYBRID - SEDAN", "COROLLA FIELDER - NKE165 - HYBRID - WAGON"},
		"daa-nke165 wagon": {"COROLLA FIELDER - NKE165 - HYBRID - WAGON"},
		"ｆｉｅｌｄｅｒ":          {"COROLLA FIELDER - NKE165 - HYBRID - WAGON", "COROLLA FIELDER - NZE161 - WAGON"},
		"ncp":              {"IST - NCP110 - HATCHBACK", "VITZ - NCP131 - HATCHBACK"},
		"hybrid": { // of the model before of anything
			"NOAH HYBRID - ZWR80 - MINIVAN", "COROLLA AXIO - NKE165 - HYBRID - SEDAN", "COROLLA FIELDER - NKE165 - HYBRID - WAGON",
		},
		"vitz - hatchback": {"VITZ - NCP131 - HATCHBACK"},
		"prius":            nil,
	} {
		var got []string
		for _, label := range entries.Search(query) {
			got = append(got, label.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	if got := entries.Search(" "); len(got) != 6 {
		t.Errorf("an empty query lists %d", len(got))
	}
}
