package transcribe

import (
	"slices"
	"testing"

	"ushuru/pkg/condition"
	"ushuru/pkg/sheet"
)

func TestOnlyAReadableSheetIsRead(t *testing.T) {
	sheet := func() *Classification {
		return &Classification{
			Kind: kindSheet, Anchors: []string{"評価点", "型式", "走行"}, IsAuctionSheet: true, FilledIn: true, MakesSense: true,
			Readability: "full",
		}
	}
	if err := sheet().refusal(); err != nil {
		t.Errorf("a sheet: %v", err)
	}
	for name, change := range map[string]func(*Classification){
		"no sheet":                 func(c *Classification) { c.IsAuctionSheet = false },
		"a photo":                  func(c *Classification) { c.Kind = "photo" },
		"one label":                func(c *Classification) { c.Anchors = []string{"走行"} },
		"one label twice":          func(c *Classification) { c.Anchors = []string{"走行", "走 行"} },
		"labels of another form":   func(c *Classification) { c.Anchors = []string{"Bluetooth", "Settings", "接続"} },
		"a blank form":             func(c *Classification) { c.FilledIn = false },
		"a fake":                   func(c *Classification) { c.MakesSense = false },
		"illegible":                func(c *Classification) { c.Readability = "none" },
		"of an unknown legibility": func(c *Classification) { c.Readability = "superb" },
		"an empty answer":          func(c *Classification) { *c = Classification{} },
	} {
		c := sheet()
		change(c)
		if c.refusal() == nil {
			t.Errorf("%s: the sheet is read", name)
		}
	}
}

// An answer may hold one more item than is used, so that the report says that more was cut.
func TestTheTableOfFieldsFitsTheLimits(t *testing.T) {
	var said []condition.Category
	for _, p := range Schema(ReadQuestion) {
		if want, ok := map[string]int{"notes": MaxNotes + 1, "map": MaxMarks + 1, "equipment": MaxEquipment + 1}[p.Name]; ok && p.MaxItems != want {
			t.Errorf("%s: got %d items, want %d", p.Name, p.MaxItems, want)
		}
		if p.Name == "said" {
			for _, subject := range p.Fields {
				said = append(said, condition.Category(subject.Name))
			}
		}
	}
	if !slices.Equal(said, sheet.Subjects) {
		t.Errorf("subjects: got %v, want %v", said, sheet.Subjects)
	}
}
