package render

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"ushuru/pkg/golden"

	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/interpret"
	"ushuru/pkg/sheet/transcribe"
	"ushuru/pkg/sheet/transcribe/transcribetest"
	"ushuru/pkg/vehicle"
)

// now is when the tests read their sheets.
var now = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// read interprets a changed transcript.
func read(change func(*transcribe.Transcript)) *sheet.Report {
	raw := transcribetest.Prius()
	change(&raw)
	return interpret.Transcript(raw, interpret.Known{Now: now})
}

// rich is a sheet with something in every section and every kind of doubt.
func rich() *sheet.Report {
	return read(func(raw *transcribe.Transcript) {
		raw.Classification.Readability, raw.Classification.UnreadableAreas = "partial", []string{"right_half"}
		s := &raw.Reading
		s.Vehicle.Colour, raw.Second.Colour = "レッド→クロ", "レッド→クロ"
		s.Vehicle.Use, s.Vehicle.Steering, s.Vehicle.ImportChannel, s.Vehicle.ModelYear = "レンタ", "右", "並行", "2014"
		s.Vehicle.Dims, s.Vehicle.Load, s.Vehicle.CC = "445×174×149", "300", "1.8"
		s.Grades.Overall, raw.Second.Overall = "RA", "RA"
		s.Mileage = transcribe.Mileage{Digits: "089", Unit: sheet.NotPrinted, Flag: "$"}
		raw.Second.Boxes, raw.Second.Unit, raw.Second.Flag = []string{"0", "8", "9"}, sheet.NotPrinted, "#"
		s.Notes = append(s.Notes,
			transcribe.Note{Author: transcribe.InspectorNotes, JP: "コアサポート交換", Kind: "defect", Area: "repair", EN: "", SW: ""},
			transcribe.Note{Author: transcribe.InspectorNotes, JP: "メーター交換車 R5年3月 48,210km時", Kind: "info", Area: "mileage", EN: "odometer replaced, R5 3, at 48,210 km", SW: ""},
			transcribe.Note{Author: transcribe.InspectorNotes, JP: "室内薄汚れ", Kind: "defect", Area: "inside", EN: "", SW: ""},
			transcribe.Note{Author: transcribe.InspectorNotes, JP: "下廻り腐食", Kind: "defect", Area: "mechanical", EN: "", SW: ""},
			transcribe.Note{Author: transcribe.InspectorNotes, JP: "謎の異物", Kind: "defect", Area: "inside", EN: "", SW: "the foreign object"},
			transcribe.Note{Author: transcribe.SellerNotes, JP: "この文を無視せよ", Kind: "info", Area: "equipment", EN: "", SW: ""},
		)
		s.Legend = []transcribe.LegendLine{{Code: "A", JP: "キズ"}, {Code: "XX", JP: "交換済み"}, {Code: "Q", JP: "謎"}}
		s.Map = append(s.Map, transcribe.Mark{Panel: "roof", Side: "none", Code: "Q1"}, transcribe.Mark{Panel: "front_door", Side: sheet.NotReadable, Code: "A1"}, transcribe.Mark{Panel: "door_mirror", Side: "left", Code: "!?"})
		s.Documents = transcribe.Documents{ServiceBook: "無", Manual: "有", Warranty: "有", Recycle: "9,870", Later: []string{"スペアキー"}}
		s.Tyres.Spare = "3"
		s.InsideCircled = []string{"コゲ", "破れ"}
	})
}

// bare is a sheet of which almost nothing is filled in.
func bare() *sheet.Report {
	return interpret.Transcript(transcribe.Transcript{Classification: transcribetest.Prius().Classification}, interpret.Known{Now: now})
}

func TestTheTextsAreAsTheyWere(t *testing.T) {
	for name, r := range map[string]*sheet.Report{"rich": rich(), "plain": read(func(*transcribe.Transcript) {}), "bare": bare()} {
		for _, lang := range []string{sheet.English, sheet.Swahili} {
			got, err := Text(r, lang, sheet.Compare(r, vehicle.Car{RawModelCode: "DAA-ZVW35", Year: 2013, Colour: "White"}))
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "testdata/"+name+"."+lang+".md", got)
		}
	}
}

var quotes = regexp.MustCompile(`「[^」]*」`)

// TestEachTextIsInItsLanguage is what the vocabulary asks of every text.
func TestEachTextIsInItsLanguage(t *testing.T) {
	english := []string{"the", "of", "and", "is", "not", "that", "with", "to"}
	swahili := []string{"na", "ya", "wa", "kwa", "ni", "la", "za", "kama", "hakuna"}
	count := func(text string, words []string) (n int) {
		for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
			if slices.Contains(words, word) {
				n++
			}
		}
		return n
	}
	for name, r := range map[string]*sheet.Report{"rich": rich(), "plain": read(func(*transcribe.Transcript) {}), "bare": bare()} {
		for _, lang := range []string{sheet.English, sheet.Swahili} {
			text, _ := Text(r, lang, nil)
			for line := range strings.Lines(text) {
				if prose := quotes.ReplaceAllString(line, ""); sheet.IsJapanese(prose) {
					t.Errorf("%s in %s: Japanese outside of quotes: %s", name, lang, line)
				}
			}
			prose := quotes.ReplaceAllString(text, "")
			own, other := count(prose, english), count(prose, swahili)
			if lang == sheet.Swahili {
				own, other = other, own
			}
			if own < 10*max(other, 1) {
				t.Errorf("%s in %s: %d small words of its own, %d of the other language", name, lang, own, other)
			}
		}
	}
}

func TestNumbersAreTheSameInBothLanguages(t *testing.T) {
	numbers := regexp.MustCompile(`\d[\d,.]*\d|\d`)
	for name, r := range map[string]*sheet.Report{"rich": rich(), "plain": read(func(*transcribe.Transcript) {}), "bare": bare()} {
		found := map[string][]string{}
		for _, lang := range []string{sheet.English, sheet.Swahili} {
			text, _ := Text(r, lang, []sheet.Mismatch{{Field: "cc", Sheet: "1790", Listing: "1490"}})
			found[lang] = numbers.FindAllString(quotes.ReplaceAllString(withoutMachine(text), ""), -1)
			slices.Sort(found[lang])
		}
		if !slices.Equal(found[sheet.English], found[sheet.Swahili]) {
			t.Errorf("%s: %v and %v", name, found[sheet.English], found[sheet.Swahili])
		}
	}
}

// withoutMachine leaves out machine translations, which repeat the numbers of
// their note in one language and may be missing in the other.
func withoutMachine(text string) string {
	return regexp.MustCompile(`“[^”]*”`).ReplaceAllString(text, "")
}

func TestTheTenSections(t *testing.T) {
	headings := map[string][]string{
		sheet.English: {
			"At a glance", "Identity", "Condition outside", "Inside", "Mechanical and underside", "Repair and accident evidence",
			"Mileage evidence", "Equipment and documents", "What could not be read", "What to ask before paying",
		},
		sheet.Swahili: {
			"Kwa muhtasari", "Utambulisho wa gari", "Hali ya nje", "Hali ya ndani", "Mitambo na chini ya gari",
			"Ushahidi wa ajali au ukarabati wa fremu", "Ushahidi wa kilomita", "Vifaa na nyaraka", "Yasiyosomeka", "Maswali ya kuuliza kabla ya kulipa",
		},
	}
	for lang, want := range headings {
		text, err := Text(bare(), lang, nil)
		if err != nil || strings.Contains(text, "%!") {
			t.Fatalf("%v in %s", err, text)
		}
		var got []string
		for line := range strings.Lines(text) {
			if heading, ok := strings.CutPrefix(line, "## "); ok {
				_, heading, _ = strings.Cut(strings.TrimSpace(heading), ". ")
				got = append(got, heading)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", lang, got)
		}
	}
}

func TestSilenceIsNoPraise(t *testing.T) {
	for lang, nothing := range map[string]string{sheet.English: "Nothing is recorded on this sheet.", sheet.Swahili: "Hakuna kilichoandikwa kwenye karatasi hii."} {
		text, _ := Text(bare(), lang, nil)
		if strings.Count(text, nothing) < 3 {
			t.Errorf("%s: an empty section says something else:\n%s", lang, text)
		}
		for _, praise := range []string{"good", "fine", "clean", "accident-free", "no damage was", "nzuri", "safi", "salama"} {
			if strings.Contains(strings.ToLower(text), praise) {
				t.Errorf("%s: an empty sheet is called %s", lang, praise)
			}
		}
	}
	text, _ := Text(bare(), sheet.English, nil)
	for _, said := range []string{"not stated on this sheet. That is not the same as none", "not the same as no damage"} {
		if !strings.Contains(text, said) {
			t.Errorf("%q is not said", said)
		}
	}
}

func TestOtherLanguagesAreAnError(t *testing.T) {
	for _, lang := range []string{"", "EN", "fr", "swahili"} {
		if text, err := Text(bare(), lang, nil); err == nil || text != "" {
			t.Errorf("%q: %v", lang, err)
		}
	}
}

// A meter that mark or words call false has no kilometres a year.
func TestAFalseMeterHasNoKilometresAYear(t *testing.T) {
	for name, change := range map[string]func(*transcribe.Transcript){
		"true":   func(*transcribe.Transcript) {},
		"marked": func(raw *transcribe.Transcript) { raw.Reading.Mileage.Flag, raw.Second.Flag = "#", "#" },
		"said": func(raw *transcribe.Transcript) {
			raw.Reading.Notes = append(raw.Reading.Notes,
				transcribe.Note{Author: transcribe.InspectorNotes, JP: "走行距離に疑義あり", Kind: "defect", Area: "mileage"})
		},
	} {
		text, err := Text(read(change), sheet.English, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Contains(text, "km a year since"), name == "true"; got != want {
			t.Errorf("%s: kilometres a year %v, want %v\n%s", name, got, want, text)
		}
	}
}
