package sheet

import (
	"encoding/csv"
	"os"
	"slices"
	"strings"
	"testing"

	"ushuru/pkg/condition"
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
		text, whole := Compose(Pieces(test.jp))
		if !whole || text.EN != test.en || text.SW != test.sw {
			t.Errorf("%s is %v %v", test.jp, text, whole)
		}
	}
}

func TestWhatIsNotAllOfOurTableIsNotComposed(t *testing.T) {
	for _, jp := range []string{"謎のキズ", "バンパー", "有", "右", "Fバンパー", "取説は後日発送", "", "右F"} {
		if text, whole := Compose(Pieces(jp)); whole {
			t.Errorf("%q is %v", jp, text)
		}
	}
}

func TestTheTablesAreWhole(t *testing.T) {
	for key, p := range glossary().byKey {
		if key == "" || p.Text.EN == "" || p.Text.SW == "" || IsJapanese(p.Text.EN+p.Text.SW) {
			t.Errorf("glossary %s: %+v", key, p)
		}
		if p.IsFinding() && (p.Severity == "" || p.Area == "") {
			t.Errorf("glossary %s has no weight or area", key)
		}
	}
	for key, s := range texts() {
		if s.Text.EN == "" || s.Text.SW == "" || strings.Count(s.Text.EN, "%s") != strings.Count(s.Text.SW, "%s") {
			t.Errorf("texts %v: %+v", key, s)
		}
	}
	for _, category := range condition.Categories {
		for _, level := range []condition.Severity{condition.Caution, condition.Doubt, condition.Grave, condition.Disqualify} {
			text := sayOf(condition.Finding{Category: category, Severity: level})
			if text.EN == "" || text.SW == "" ||
				strings.HasSuffix(text.EN, ": ") {
				t.Errorf("%s %s: got %+v, want a text in both languages", category, level, text)
			}
			if level.IsGrave() && (!strings.HasPrefix(text.EN, "the sheet says: ") || !strings.HasPrefix(text.SW, "karatasi inasema: ")) {
				t.Errorf("%s %s: got %+v, want it to say that the sheet says it", category, level, text)
			}
		}
		isHarmless := slices.Contains([]condition.Category{"interior", "equipment"}, category)
		if TextOf("ask", string(category)).EN == "" && !isHarmless {
			t.Errorf("%s: got no question", category)
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
			p, found := LookUpPhrase(jp)
			if !found || p.Severity != Severity(row[4]) || p.Kind != row[5] {
				t.Errorf("%s: %+v, want %s %s", jp, p, row[4], row[5])
			}
		}
	}
}
