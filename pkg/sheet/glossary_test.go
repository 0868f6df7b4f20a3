package sheet

import (
	"encoding/csv"
	"os"
	"strings"
	"testing"

	"ushuru/pkg/testenv"
)

func TestNotesAreTranslatedByOurTableFirst(t *testing.T) {
	for _, test := range []struct{ jp, en, sw string }{
		{"エンジン異音", "engine noise", "injini ina mlio usio wa kawaida"},
		{"ｴﾝｼﾞﾝ 異音", "engine noise", "injini ina mlio usio wa kawaida"},
		{"Fバンパー下キズ", "front bumper: scratch on the lower edge", "bampa ya mbele: mkwaruzo upande wa chini"},
		{"右Fドア小キズ有", "right front door: some small scratches", "mlango wa mbele wa kulia: mikwaruzo midogo ipo"},
		{"スペアキー無し", "no spare key", "hakuna funguo ya akiba"},
		{"記録簿有り", "service record, present", "kumbukumbu za huduma, ipo"},
		{"シートすれ・コゲ穴", "seat scuffed; burn hole(s)", "siti imechakaa; siti au kitambaa kina tundu la moto"},
		{"コアサポート交換", "core support (radiator support): replaced", "fremu ya mbele ya rejeta: imebadilishwa"},
		{"右Fインサイドパネル曲がり", "right front inner panel: bent", "bodi ya ndani ya mbele ya kulia: imepinda"},
		{"右Fピラー", "right front pillar", "nguzo ya mbele ya kulia"},
		{"傷", "scratch", "mkwaruzo"},
		{"冠水", "flooded", "lilizama majini (mafuriko)"},
	} {
		text, whole := compose(glossary().pieces(test.jp))
		if !whole || text.EN != test.en || text.SW != test.sw {
			t.Errorf("%s is %v %v", test.jp, text, whole)
		}
	}
}

func TestWhatIsNotAllOfOurTableIsNotComposed(t *testing.T) {
	for _, jp := range []string{"謎のキズ", "バンパー", "有", "右", "Fバンパー", "取説は後日発送", "", "右F"} {
		if text, whole := compose(glossary().pieces(jp)); whole {
			t.Errorf("%q is %v", jp, text)
		}
	}
}

// TestSourcesOfATranslation goes from our table to the machine to none.
func TestSourcesOfATranslation(t *testing.T) {
	notes := func(raw RawNote) Note {
		raw.Author = inspectorNotes
		return read(func(r *Raw) { r.Sheet.Notes = []RawNote{raw} }).InspectorNotes[0]
	}
	n := notes(RawNote{JP: "エンジン異音", EN: "engine is fine", SW: "injini ni nzuri"})
	if n.Translation.EN != (Rendering{"engine noise", FromGlossary}) || n.Kind != Defect || n.Severity != High || n.Area != Mechanical {
		t.Errorf("a phrase of ours: %+v", n)
	}
	n = notes(RawNote{JP: "謎の部品ガタツキ", EN: "a mystery part rattles", SW: "the part rattles", Kind: "defect", Area: "mechanical"})
	if n.Translation.EN.Source != FromMachine || n.Translation.SW != (Rendering{"", NoText}) || n.Severity != NotKnown {
		t.Errorf("a phrase that is not ours: %+v", n)
	}
	n = notes(RawNote{JP: "謎のオイル漏れ跡か", EN: "", SW: ""})
	if n.Translation.EN != (Rendering{"oil leak", InPart}) || n.Translation.SW != (Rendering{"inavuja oili", InPart}) || n.Severity != High {
		t.Errorf("a phrase that is ours in part: %+v", n)
	}
}

func TestTheTablesAreWhole(t *testing.T) {
	for key, p := range glossary().byKey {
		if key == "" || p.text.EN == "" || p.text.SW == "" || isJapanese(p.text.EN+p.text.SW) {
			t.Errorf("glossary %s: %+v", key, p)
		}
		if p.finding() && (p.weight == "" || p.area == "") {
			t.Errorf("glossary %s has no weight or area", key)
		}
	}
	for key, s := range texts() {
		if s.text.EN == "" || s.text.SW == "" || strings.Count(s.text.EN, "%s") != strings.Count(s.text.SW, "%s") {
			t.Errorf("texts %v: %+v", key, s)
		}
	}
	for _, p := range panels {
		if nameOf("panel", p).SW == "" {
			t.Errorf("panel %s has no name", p)
		}
	}
	for _, a := range areas {
		if nameOf("area", a).SW == "" {
			t.Errorf("area %s has no name", a)
		}
	}
	for _, f := range flagged() {
		if textOf("flag", f.rule).text.EN == "" || f.rule != FlagRepairHistory && textOf("ask", f.rule).text.EN == "" {
			t.Errorf("the rule %s of %s has no text or question", f.rule, f.word)
		}
	}
	for _, mark := range overallMarks {
		if mark == NotPrinted || mark == NotReadable {
			continue
		}
		if group := groupOf(mark); group == Graded && textOf("grade", mark).text.EN == "" || textOf("grade", string(group)).text.EN == "" && group != Graded {
			t.Errorf("the mark %s has no meaning", mark)
		}
	}
}

// TestEveryPhraseOfTheSharedGlossaryIsKnown runs where the reference data are.
func TestEveryPhraseOfTheSharedGlossaryIsKnown(t *testing.T) {
	file, err := os.Open(testenv.Reference(t, "sheets", "glossary.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		for jp := range strings.SplitSeq(row[1], " / ") {
			if row[5] == "grammar" {
				continue
			}
			p, found := glossary().byKey[fold(jp)]
			if !found || p.weight != Severity(row[4]) || p.kind != row[5] {
				t.Errorf("%s: %+v, want %s %s", jp, p, row[4], row[5])
			}
		}
	}
}
