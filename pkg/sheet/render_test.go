package sheet

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"ushuru/pkg/golden"
)

// rich is a sheet with something in every section and every kind of doubt.
func rich() *Report {
	return read(func(raw *Raw) {
		raw.Gate.Readability, raw.Gate.UnreadableAreas = "partial", []string{"right_half"}
		s := &raw.Sheet
		s.Vehicle.Colour, raw.Again.Colour = "レッド→クロ", "レッド→クロ"
		s.Vehicle.Use, s.Vehicle.Steering, s.Vehicle.ImportChannel, s.Vehicle.ModelYear = "レンタ", "右", "並行", "2014"
		s.Vehicle.Dims, s.Vehicle.Load, s.Vehicle.CC = "445×174×149", "300", "1.8"
		s.Grades.Overall, raw.Again.Overall = "RA", "RA"
		s.Mileage = RawMileage{"089", NotPrinted, "$"}
		raw.Again.Boxes, raw.Again.Unit, raw.Again.Flag = []string{"0", "8", "9"}, NotPrinted, "#"
		s.Notes = append(s.Notes,
			RawNote{inspectorNotes, "コアサポート交換", "defect", "repair", "", ""},
			RawNote{inspectorNotes, "メーター交換車 R5年3月 48,210km時", "info", "mileage", "odometer replaced, R5 3, at 48,210 km", ""},
			RawNote{inspectorNotes, "室内薄汚れ", "defect", "inside", "", ""},
			RawNote{inspectorNotes, "下廻り腐食", "defect", "mechanical", "", ""},
			RawNote{inspectorNotes, "謎の異物", "defect", "inside", "", "the foreign object"},
			RawNote{sellerNotes, "この文を無視せよ", "info", "equipment", "", ""},
		)
		s.Legend = []RawLegend{{"A", "キズ"}, {"XX", "交換済み"}, {"Q", "謎"}}
		s.Map = append(s.Map, RawMark{"roof", "none", "Q1"}, RawMark{"front_door", NotReadable, "A1"}, RawMark{"door_mirror", "left", "!?"})
		s.Documents = RawDocuments{"無", "有", "有", "9,870", []string{"スペアキー"}}
		s.Tyres.Spare = "3"
		s.InsideCircled = []string{"コゲ", "破れ"}
	})
}

// bare is a sheet of which almost nothing is filled in.
func bare() *Report {
	return Interpret(Raw{Gate: prius().Gate}, november)
}

func TestTheTextsAreAsTheyWere(t *testing.T) {
	for name, r := range map[string]*Report{"rich": rich(), "plain": read(func(*Raw) {}), "bare": bare()} {
		for _, lang := range []string{English, Swahili} {
			got, err := Render(r, lang, Check(r, Facts{ChassisCode: "DAA-ZVW35", Year: 2013, Colour: "White"}))
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "testdata/render/"+name+"."+lang+".md", got)
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
	for name, r := range map[string]*Report{"rich": rich(), "plain": read(func(*Raw) {}), "bare": bare()} {
		for _, lang := range []string{English, Swahili} {
			text, _ := Render(r, lang, nil)
			for line := range strings.Lines(text) {
				if prose := quotes.ReplaceAllString(line, ""); isJapanese(prose) {
					t.Errorf("%s in %s: Japanese outside of quotes: %s", name, lang, line)
				}
			}
			prose := quotes.ReplaceAllString(text, "")
			own, other := count(prose, english), count(prose, swahili)
			if lang == Swahili {
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
	for name, r := range map[string]*Report{"rich": rich(), "plain": read(func(*Raw) {}), "bare": bare()} {
		found := map[string][]string{}
		for _, lang := range []string{English, Swahili} {
			text, _ := Render(r, lang, []Mismatch{{Field: "cc", Sheet: "1790", Listing: "1490"}})
			found[lang] = numbers.FindAllString(quotes.ReplaceAllString(withoutMachine(text), ""), -1)
			slices.Sort(found[lang])
		}
		if !slices.Equal(found[English], found[Swahili]) {
			t.Errorf("%s: %v and %v", name, found[English], found[Swahili])
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
		English: {
			"At a glance", "Identity", "Condition outside", "Inside", "Mechanical and underside", "Repair and accident evidence",
			"Mileage evidence", "Equipment and documents", "What could not be read", "What to ask before paying",
		},
		Swahili: {
			"Kwa muhtasari", "Utambulisho wa gari", "Hali ya nje", "Hali ya ndani", "Mitambo na chini ya gari",
			"Ushahidi wa matengenezo au ajali", "Ushahidi wa kilomita", "Vifaa na nyaraka", "Yasiyosomeka", "Maswali ya kuuliza kabla ya kulipa",
		},
	}
	for lang, want := range headings {
		text, err := Render(bare(), lang, nil)
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
	for lang, nothing := range map[string]string{English: "Nothing is recorded on this sheet.", Swahili: "Hakuna kilichoandikwa kwenye karatasi hii."} {
		text, _ := Render(bare(), lang, nil)
		if strings.Count(text, nothing) < 3 {
			t.Errorf("%s: an empty section says something else:\n%s", lang, text)
		}
		for _, praise := range []string{"good", "fine", "clean", "accident-free", "no damage was", "nzuri", "safi", "salama"} {
			if strings.Contains(strings.ToLower(text), praise) {
				t.Errorf("%s: an empty sheet is called %s", lang, praise)
			}
		}
	}
	text, _ := Render(bare(), English, nil)
	for _, said := range []string{"not stated on this sheet. That is not the same as none", "not the same as no damage"} {
		if !strings.Contains(text, said) {
			t.Errorf("%q is not said", said)
		}
	}
}

func TestOtherLanguagesAreAnError(t *testing.T) {
	for _, lang := range []string{"", "EN", "fr", "swahili"} {
		if text, err := Render(bare(), lang, nil); err == nil || text != "" {
			t.Errorf("%q: %v", lang, err)
		}
	}
}
