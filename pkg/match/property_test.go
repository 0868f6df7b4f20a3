package match

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ushuru/pkg/chassis"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// Small alphabets, so that codes, letters and names meet often.
var (
	makeNames = rapid.SampledFrom([]string{"TOYOTA", "SUBARU", "LANDROVER"})
	codes     = rapid.StringMatching(`[AB][12][0-1][GVW]?`)
	modelText = rapid.SampledFrom([]string{"COROLLA", "COROLLA AXIO", "COROLLA FIELDER", "X-TRAIL", "HIACE", "HIACE VAN", "VITZ", "86"})
	bodies    = rapid.SampledFrom([]string{"SEDAN", "WAGON", "VAN", "SUV"})
	labels    = rapid.Custom(func(t *rapid.T) string {
		hybrid := ""
		if rapid.Bool().Draw(t, "hybrid") {
			hybrid = "HYBRID - "
		}
		return fmt.Sprintf("%s - %s - %s%s", modelText.Draw(t, "model"), codes.Draw(t, "code"), hybrid, bodies.Draw(t, "body"))
	})
	catalogues = rapid.Custom(func(t *rapid.T) []catalogue.MakeLabels {
		var makes []catalogue.MakeLabels
		for i, name := range []string{"TOYOTA", "SUBARU", "LANDROVER"} {
			makes = append(makes, catalogue.MakeLabels{Make: catalogue.Make{ID: i + 1, Name: name}, Labels: rapid.SliceOfN(labels, 0, 12).Draw(t, name)})
		}
		return makes
	})
	cars = rapid.Custom(func(t *rapid.T) vehicle.Car {
		code := codes.Draw(t, "code")
		written := rapid.SampledFrom([]string{code, "DBA-" + code, "DAA-" + code + "-AEXEK", code + "-0123456", strings.ToLower("ta" + code), ""}).Draw(t, "written")
		return vehicle.Car{
			Make: makeNames.Draw(t, "make"), Model: rapid.OneOf(modelText, rapid.Just(""), rapid.Just("VITS")).Draw(t, "model"), RawModelCode: written,
			FrameNumber: rapid.SampledFrom([]string{"", code + "-7654321", "A10-7654321"}).Draw(t, "frame"),
			Year:        rapid.SampledFrom([]int{0, 2003, 2018}).Draw(t, "year"),
			Fuel:        rapid.SampledFrom([]string{"", "PETROL", "HYBRID", "DIESEL"}).Draw(t, "fuel"),
			BodyType:    rapid.OneOf(bodies, rapid.Just("")).Draw(t, "body"),
		}
	})
)

func TestPropertyChooseKeepsToMakeAndCode(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		car, cat := cars.Draw(t, "car"), catalogue.New(catalogues.Draw(t, "catalogue"))
		choice, err := choose(car, cat)
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("not a refusal: %v", err)
			}
			return
		}
		accepted++
		if choice.Make.Name != car.Make {
			t.Fatalf("a %s became a %s", car.Make, choice.Make.Name)
		}
		label := catalogue.ParseLabel(choice.Make, choice.Label)
		listed := rapidCode(car)
		if !chassis.StemMatch(listed, label.Codes[0]) && !chassis.StemMatch(strings.TrimPrefix(listed, "TA"), label.Codes[0]) {
			t.Fatalf("code %q became %q", listed, label.Codes[0])
		}
		// A name that the make does not have may be a shorter one and a grade.
		known := len(entriesNamed(cat, car.Make).ByModel(chassis.NameKey(car.Model))) > 0
		if known && Confidence(choice.MatchType, choice.Adjustments) != vehicle.Low &&
			strings.TrimSuffix(label.Model, " VAN") != strings.TrimSuffix(car.Model, " VAN") {
			t.Fatalf("%q became %q without a model adjustment: %+v", car.Model, label.Model, choice)
		}
	})
	if accepted == 0 {
		t.Error("nothing was ever accepted: the property is empty")
	}
}

func entriesNamed(cat *catalogue.Catalogue, mk string) *catalogue.Entries {
	entries, _ := cat.Of(mk)
	return entries
}

// rapidCode is the code of a generated car.
func rapidCode(car vehicle.Car) string {
	cell := car.RawModelCode
	if cell == "" {
		cell = car.FrameNumber
	}
	code, _ := chassis.Parse(cell)
	return code.Code
}

func TestPropertyChooseDoesNotDependOnTheCataloguesOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		car, makes := cars.Draw(t, "car"), catalogues.Draw(t, "catalogue")
		choice, err := choose(car, catalogue.New(makes))
		shuffled := rapid.Permutation(makes).Draw(t, "makes")
		for i := range shuffled {
			shuffled[i].Labels = rapid.Permutation(shuffled[i].Labels).Draw(t, "labels")
		}
		again, errAgain := choose(car, catalogue.New(shuffled))
		refused, _ := errors.AsType[*Error](err)
		refusedAgain, _ := errors.AsType[*Error](errAgain)
		if !reflect.DeepEqual(choice, again) || (refused == nil) != (refusedAgain == nil) ||
			refused != nil && (refused.Message != refusedAgain.Message || !reflect.DeepEqual(refused.Candidates, refusedAgain.Candidates)) {
			t.Fatalf("%+v, %v\nbecame %+v, %v", choice, err, again, errAgain)
		}
	})
}

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
