package sheettest

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestTheSameSeedGivesTheSameSheet(t *testing.T) {
	for seed := 1; seed <= Number; seed++ {
		if a, b := Make(seed), Make(seed); !reflect.DeepEqual(a, b) {
			t.Errorf("%d: %+v and %+v", seed, a, b)
		}
	}
}

func TestTheSheetsHaveAllFormsStylesAndTraps(t *testing.T) {
	found := map[string]bool{}
	for seed := 1; seed <= Number; seed++ {
		s := Make(seed)
		found[s.Form], found[string(s.Style)], found[s.Trap] = true, true, true
	}
	for _, f := range forms {
		if !found[f.house] {
			t.Errorf("no sheet of %s", f.house)
		}
	}
	for _, set := range traps {
		if !found[set.name] {
			t.Errorf("no sheet with %s", set.name)
		}
	}
	if !found[string(Printed)] || !found[string(Mixed)] || !found[string(Handwritten)] || len(forms) != 11 {
		t.Errorf("found %v", found)
	}
}

func TestTrapsAreOnTheSheet(t *testing.T) {
	value := func(key string) func(Sheet) string { return func(s Sheet) string { return s.Truth.Fields[key] } }
	for seed, test := range map[int]struct {
		of   func(Sheet) string
		want string
	}{
		1: {value("exterior"), "E"}, 2: {value("trim"), "R"}, 6: {value("trim"), "C180 130thアニバーサリー"[:4]}, 7: {value("shift"), "IAT"},
		8: {value("shift"), "F6"}, 9: {value("first_registration"), "H26年4月"}, 10: {value("first_registration"), "R3/6"},
		11: {value("first_registration"), "R1年5月"}, 12: {value("first_registration"), "H31年4月"}, 14: {value("repair"), ""},
		15: {value("overall"), "RA"}, 17: {value("colour"), "レッド→クロ"}, 18: {value("overall"), "無効"},
		19: {value("model_code"), "フメイ"}, 20: {value("fuel"), "ガソリン"}, 21: {value("import_channel"), "並行"},
		28: {value("overall"), "***"}, 29: {value("interior"), "B'"}, 30: {value("overall"), "-"}, 31: {value("use"), "レンタ"},
		34: {value("overall"), "S"}, 35: {value("model_code"), "ＤＢＡ−ＧＫ３"},
		13: {func(s Sheet) string { return s.Truth.Marks[0].Code }, "X3"},
		16: {func(s Sheet) string { return s.Truth.Unit }, "マイル"},
		23: {func(s Sheet) string { return s.Truth.Flag }, "$"},
		26: {func(s Sheet) string { return s.Truth.Digits }, "089"},
		27: {func(s Sheet) string { return strings.Join(s.Truth.Inspector, " ") }, "冠水"},
	} {
		if got := test.of(Make(seed)); got != test.want && (test.want == "" || !strings.Contains(got, test.want)) {
			t.Errorf("%d (%s): %q, want %q", seed, Make(seed).Trap, got, test.want)
		}
	}
}

func TestNothingIsPrintedThatTheFormHasNoPlaceFor(t *testing.T) {
	for _, s := range every() {
		if s.Kind != Real {
			continue
		}
		for key := range s.Truth.Fields {
			if !formOf(s.Form).prints(key) {
				t.Errorf("%s: %s has no %s", s.ID, s.Form, key)
			}
		}
		for _, m := range s.Truth.Marks {
			if !slices.ContainsFunc(panels, func(p panel) bool { return p.name == m.Panel && p.sided == (m.Side != "") }) {
				t.Errorf("%s: no panel for %+v", s.ID, m)
			}
		}
	}
}

func TestCellsDoNotOverlapAndStayOnThePage(t *testing.T) {
	for _, f := range forms {
		cells := f.place()
		for i, a := range cells {
			if a.at.Empty() || a.at.Max.Y > f.size.Y || a.at.Max.X > f.size.X {
				t.Errorf("%s: %s at %v", f.house, a.key, a.at)
			}
			for _, b := range cells[:i] {
				if a.at.Overlaps(b.at) || a.key == b.key {
					t.Errorf("%s: %s at %v and %s at %v", f.house, a.key, a.at, b.key, b.at)
				}
			}
		}
	}
}

func TestWhatIsCoveredIsNotSeen(t *testing.T) {
	s, _ := Special("covered")
	seen := s.Seen()
	if len(seen.Marks) > 0 || len(seen.Inspector) > 0 || len(seen.Legend) > 0 || seen.Digits != s.Truth.Digits || len(s.Truth.Marks) == 0 {
		t.Errorf("%+v", seen)
	}
	if labels := s.Labels(); slices.Contains(labels, "車両展開図") || !slices.Contains(labels, "走行") {
		t.Errorf("labels %q", labels)
	}
}

func TestNothingIsSeenOfACarWhereThereIsNone(t *testing.T) {
	for _, id := range []string{"blank", "fake", "photo"} {
		if s, ok := Special(id); !ok || !reflect.DeepEqual(s.Seen(), Truth{}) {
			t.Errorf("%s: %+v", id, s.Seen())
		}
	}
}
