package api

import "testing"

func TestRowsOfATableHaveKnownValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cells map[string]string
		want  string
		bad   bool
	}{
		{map[string]string{"year": "2016", "fobpriceusd": "5,200", "yearbasis": "registration"}, `{"year":2016,"yearBasis":"registration","fobPriceUSD":5200}`, false},
		{nil, "", false},
		{map[string]string{"year": "soon"}, "", true},
		{map[string]string{"year": "2016", "colour": "red"}, "", true},
	} {
		got, err := knownOfRow(rowRequest{Known: knownOfCells(c.cells)})
		if string(got) != c.want || (err != nil) != c.bad {
			t.Errorf("%q: %s, %v; want %s", c.cells, got, err, c.want)
		}
	}
}
