package table

import (
	"encoding/csv"
	"strings"
	"testing"
)

func TestFormulasAreEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"LOT 1": "LOT 1", "": "", "a-b": "a-b", "1=1": "1=1", "https://cars.example/?a=b": "https://cars.example/?a=b",
		"=1": "'=1", " =1": "' =1", "\t=1": "' =1", "\r=1": "' =1", "\n=1": "' =1", "\u00a0=1": "'\u00a0=1",
		"\ufeff=1": "'=1", "\u200b=1": "'=1", "\u202e=1": "'=1", "\u2066=1": "'=1", "\x00=1": "'=1", "\u00ad=1": "'=1",
		"\ufe0f=1": "'=1", "\u3164=1": "'=1", "\u180e=1": "'=1", "\ufffe=1": "'=1", "\u2063\ufeff\u200d=1": "'=1",
		"＝1": "'＝1", "＋1": "'＋1", "－1": "'－1", "＠a": "'＠a", "﹦1": "'﹦1", "﹣1": "'﹣1",
		"a;=1": "a;'=1", "a,=1": "a,'=1", "a\t=1": "a '=1", "a|=1": "a|'=1", "a; \ufeff=1": "a; '=1", "a;\"=1": "a;\"'=1",
		"a;b;@x": "a;b;'@x", "a\n=1": "a '=1", "a\u2028b": "a b", "x\u202ey": "xy", ";=1": ";'=1",
	} {
		if got := Safe(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// Whatever a spreadsheet splits the lines of the table at, no cell is a formula.
func FuzzNoCellIsAFormula(f *testing.F) {
	for _, seed := range []string{"=1", "a;=1", "a;\"=1\"", "\ufeff+1", "a\t@x", "x,\"\"=1", "'=1", "a;'=1", "\"=1", "'\"=1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, separator := range cellSeparators {
			lines := csv.NewReader(strings.NewReader("1" + string(separator) + Safe(text)))
			lines.Comma, lines.LazyQuotes, lines.FieldsPerRecord = separator, true, -1
			cells, err := lines.Read()
			if err != nil {
				continue
			}
			for _, cell := range cells {
				begin := strings.TrimLeft(cell, " \"\u00a0\u3000")
				if begin != "" && strings.ContainsRune(formulaSigns, []rune(begin)[0]) {
					t.Errorf("%q split at %q has the cell %q", text, separator, cell)
				}
			}
		}
	})
}
