package bench

import (
	"strings"
	"testing"

	"ushuru/pkg/testenv"
)

func TestTheTableOfTheDocumentIsMeasured(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := EvaluateListings(t.Context(), &out, testenv.InRepository(t, "pkg/listing/testdata")); err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(testenv.Document(t, "docs/listings.md"), "| attribute |")
	if !found {
		t.Fatal("docs/listings.md has no table of attributes")
	}
	for _, row := range strings.Split(table, "\n")[2:] {
		if !strings.HasPrefix(row, "|") {
			break
		}
		if !strings.Contains(out.String(), row+"\n") {
			t.Errorf("got %s, want this row of docs/listings.md measured:\n%s", out.String(), row)
		}
	}
}

func TestAValueThatIsWrongOrLeftOutCounts(t *testing.T) {
	t.Parallel()
	attributes := map[string]bool{"make": true, "model": true, "year": true, "url": false}
	scores := scoresOf(map[string]string{"make": "MAZDA", "model": "DEMIO"}, map[string]string{"make": "MAZDA", "model": "AXELA", "year": "2013"}, attributes)
	if all := scores[allAttributes]; all != (score{there: 3, given: 2, right: 1}) || scores["model"].f1() != 0 || scores["make"].f1() != 1 {
		t.Errorf("got %+v", scores)
	}
	if d := deviation([]map[string]score{{"make": {1, 1, 1}}, {"make": {1, 1, 0}}}, "make"); d < 0.3 || d > 0.4 {
		t.Errorf("got a deviation of %.3f over two pages, want that of two draws", d)
	}
}
