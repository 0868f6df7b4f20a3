package api

import "testing"

func TestRowsOfATableHaveKnownValues(t *testing.T) {
	t.Parallel()
	columns := map[string]int{"url": 0, "known.year": 1, "known.fobpriceusd": 2, "known.yearbasis": 3, "known.colour": 4}
	for _, c := range []struct {
		cells []string
		want  string
		bad   bool
	}{
		{[]string{"u", "2016", "5,200", "registration", ""}, `{"year":2016,"yearBasis":"registration","fobPriceUSD":5200}`, false},
		{[]string{"u", "", "", "", ""}, "", false},
		{[]string{"u", "soon", "", "", ""}, "", true},
		{[]string{"u", "2016", "", "", "red"}, "", true},
	} {
		cell := func(name string) string { return c.cells[columns[name]] }
		got, err := knownOfRow(rowRequest{Known: knownOfCells(columns, cell)})
		if string(got) != c.want || (err != nil) != c.bad {
			t.Errorf("%q: %s, %v; want %s", c.cells, got, err, c.want)
		}
	}
	if !isYes("TRUE") || isYes("") || isYes("no") {
		t.Error("isYes")
	}
}
