package match

import (
	"fmt"
	"testing"

	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// largeCatalogue has 20,000 labels of ten makes with 300 models each.
func largeCatalogue() *catalogue.Catalogue {
	var makes []catalogue.MakeLabels
	for m := range 10 {
		mk := catalogue.MakeLabels{Make: catalogue.Make{ID: m, Name: fmt.Sprintf("MAKE%d", m)}}
		for i := range 2000 {
			mk.Labels = append(mk.Labels, fmt.Sprintf("MODEL%c%c - %c%cE%d%c - WAGON", 'A'+i%300/26, 'A'+i%26, 'A'+i/26%26, 'A'+i%26, 100+i/26, 'G'+m))
		}
		makes = append(makes, mk)
	}
	return catalogue.New(makes)
}

func BenchmarkChooseExactHit(b *testing.B) {
	cat := largeCatalogue()
	if cat.Len() != 20000 {
		b.Fatal(cat.Len())
	}
	label := cat.Labels("MAKE3")[777]
	car := vehicle.Car{Make: "MAKE3", Model: label.Model, Version: "1.5 G EDITION", RawModelCode: "DBA-" + label.Codes[0], Year: 2012, Fuel: "PETROL"}
	matcher := New(Options{})
	b.ReportAllocs()
	for b.Loop() {
		if choice, err := matcher.Choose(b.Context(), car, cat); err != nil || choice.Label != label.Text {
			b.Fatal(choice, err)
		}
	}
}

func BenchmarkChooseRefusalWithCandidates(b *testing.B) {
	cat := largeCatalogue()
	car := vehicle.Car{Make: "MAKE3", Model: cat.Labels("MAKE3")[777].Model, RawModelCode: "DBA-ZZZ999"}
	matcher := New(Options{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := matcher.Choose(b.Context(), car, cat); err == nil {
			b.Fatal("accepted")
		}
	}
}

func BenchmarkNewCatalogue(b *testing.B) {
	for b.Loop() {
		largeCatalogue()
	}
}
