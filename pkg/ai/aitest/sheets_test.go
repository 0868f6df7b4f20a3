package aitest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/ai"
	"ushuru/pkg/ai/aitest"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/sheettest"
	"ushuru/pkg/testenv"

	"ushuru/pkg/sheet/transcribe"
)

// committed is a picture of the demo, which needs no fonts.
func committed(t *testing.T, id string) ai.Picture {
	t.Helper()
	picture, err := os.ReadFile(filepath.Join("..", "..", "listing", "listingtest", "sheets", id+".jpg"))
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// asked puts a question about a picture, as package sheet does.
func asked[T any](t *testing.T, f aitest.Faults, name string, schema ai.Schema, picture ai.Picture) (T, error) {
	t.Helper()
	server := aitest.Start(t, aitest.Options{Faults: f})
	client, err := ai.New(ai.Options{Endpoints: []ai.Endpoint{{BaseURL: server.URL, Key: "k", Model: "m"}}, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	q := ai.Question{Name: name, System: "Read.", Schema: schema, MaxTokens: 9000, Pictures: []ai.Picture{picture}}
	answer, _, err := ai.Ask[T](context.Background(), client, q, nil)
	return answer, err
}

func TestADemoSheetIsReadByItsMark(t *testing.T) {
	picture := committed(t, "sm100002")
	gate, err := asked[transcribe.Classification](t, aitest.Faults{}, transcribe.ClassifyQuestion, transcribe.Schema(transcribe.ClassifyQuestion), picture)
	if err != nil || !gate.IsAuctionSheet || !gate.FilledIn || !gate.MakesSense || gate.Readability != "full" || !slices.Contains(gate.Anchors, "評価点") {
		t.Fatalf("%+v, %v", gate, err)
	}
	read, err := asked[transcribe.Reading](t, aitest.Faults{}, transcribe.ReadQuestion, transcribe.Schema(transcribe.ReadQuestion), picture)
	if err != nil {
		t.Fatal(err)
	}
	truth, _ := sheettest.Demo("sm100002")
	if read.Vehicle.ModelCode != "DBA-KGC30" || read.Mileage.Digits != "96120" || read.Mileage.Unit != "km" || read.Grades.Overall != "R" ||
		read.House.Name != "TAA" || read.Dates.FirstRegistration != "H25年6月" || read.Tyres.RearLeft != "7" || read.Repair != "not_printed" ||
		read.Documents.Warranty != "有" || len(read.Map) != len(truth.Truth.Marks) || len(read.Legend) != 10 || len(read.Notes) != 9 {
		t.Errorf("%+v", read)
	}
	again, err := asked[transcribe.SecondReading](t, aitest.Faults{}, transcribe.SecondReadingQuestion, transcribe.Schema(transcribe.SecondReadingQuestion), picture)
	if err != nil || strings.Join(again.Boxes, "") != "96120" || again.Overall != "R" || again.Colour != truth.Truth.Fields["colour"] {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestFaultsOfReadingSheets(t *testing.T) {
	picture := committed(t, "sm100001")
	for name, f := range map[string]aitest.Faults{
		"cut": {CutJSON: true}, "no choices": {EmptyChoices: true}, "busy": {Status: 429},
	} {
		if read, err := asked[transcribe.Reading](t, f, transcribe.ReadQuestion, transcribe.Schema(transcribe.ReadQuestion), picture); err == nil {
			t.Errorf("%s: %+v", name, read)
		}
	}
	read, err := asked[transcribe.Reading](t, aitest.Faults{InventValue: true}, transcribe.ReadQuestion, transcribe.Schema(transcribe.ReadQuestion), picture)
	if err != nil || read.Grades.Overall != sheet.NotReadable || read.Vehicle.ModelCode != "BEST CAR EVER" {
		t.Errorf("invented values: %+v, %v", read, err)
	}
	again, err := asked[transcribe.SecondReading](t, aitest.Faults{OtherDigits: true}, transcribe.SecondReadingQuestion, transcribe.Schema(transcribe.SecondReadingQuestion), picture)
	if err != nil || strings.Join(again.Boxes, "") != "88401" {
		t.Errorf("other digits: %+v, %v", again, err)
	}
}

func TestAPictureWithoutAMarkIsAPhotograph(t *testing.T) {
	none, _ := sheettest.Special("photo")
	picture, err := none.Picture()
	if err != nil {
		t.Fatal(err)
	}
	gate, err := asked[transcribe.Classification](t, aitest.Faults{}, transcribe.ClassifyQuestion, transcribe.Schema(transcribe.ClassifyQuestion), picture)
	if err != nil || gate.IsAuctionSheet || gate.Kind != "photo" || len(gate.Anchors) > 0 {
		t.Errorf("%+v, %v", gate, err)
	}
	gate, err = asked[transcribe.Classification](t, aitest.Faults{SeeSheet: true}, transcribe.ClassifyQuestion, transcribe.Schema(transcribe.ClassifyQuestion), picture)
	if err != nil || !gate.IsAuctionSheet || len(gate.Anchors) > 0 {
		t.Errorf("who sees a sheet in everything says %+v, %v", gate, err)
	}
	read, err := asked[transcribe.Reading](t, aitest.Faults{SeeSheet: true}, transcribe.ReadQuestion, transcribe.Schema(transcribe.ReadQuestion), picture)
	if err != nil || read.Grades.Overall == sheet.NotPrinted {
		t.Errorf("and %+v, %v", read, err)
	}
}

func TestAnOrderOnASheetIsObeyedOnDemand(t *testing.T) {
	s, _ := sheettest.Special("injection")
	picture, err := s.Picture()
	if errors.Is(err, sheettest.ErrNoFonts) {
		testenv.Missing(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for f, want := range map[aitest.Faults]string{{}: "R", {Obey: true}: "5"} {
		read, err := asked[transcribe.Reading](t, f, transcribe.ReadQuestion, transcribe.Schema(transcribe.ReadQuestion), picture)
		if err != nil || read.Grades.Overall != want {
			t.Errorf("obey %v: %+v, %v", f.Obey, read, err)
		}
	}
}

func TestPicturesThatAreNone(t *testing.T) {
	server := aitest.Start(t, aitest.Options{})
	for name, content := range map[string]string{
		"not base64":     `[{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,!"}}]`,
		"not a picture":  `[{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,AAAA"}}]`,
		"a link":         `[{"type":"image_url","image_url":{"url":"https://example.com/a.jpg"}}]`,
		"another type":   `[{"type":"audio"}]`,
		"no parts":       `[]`,
		"a number":       `7`,
		"a strange part": `[{"type":"text","text":"x","colour":"red"}]`,
	} {
		a := post(t, server, `{"model":"m","messages":[{"role":"user","content":`+content+`}]}`)
		if a.status != 400 || a.Error.Code == "" {
			t.Errorf("%s: status %d, %s", name, a.status, a.text)
		}
	}
	if a := post(t, server, `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"Hello"}]}]}`); a.content() != "SIMULATED answer." {
		t.Error(a.text)
	}
}
