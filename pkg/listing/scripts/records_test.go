package scripts

import (
	"net/http"
	"strings"
	"testing"

	"ushuru/pkg/fetch"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
)

// rscPage pushes rows to the script of a page, cut at every so many bytes.
func rscPage(rows string, every int) string {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace
	var markup strings.Builder
	for rows != "" {
		n := min(every, len(rows))
		markup.WriteString(`<script>self.__next_f.push([1,"` + quoted(rows[:n]) + `"])</script>`)
		rows = rows[n:]
	}
	return markup.String()
}

func parsed(t *testing.T, markup, url string) *page.Document {
	t.Helper()
	doc, err := page.Parse(nil, &fetch.Page{URL: url, FinalURL: url, Status: http.StatusOK, Header: http.Header{}, Body: []byte(markup)})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestRSCRowsAreReadWhereverTheyAreCut(t *testing.T) {
	const rows = "0:\"$L1\"\n1:I[1,[],\"\"]\n2:T10,{\"k\":\"in text\"}\n\n3:[\"$\",\"div\",null,{\"a\":[{\"k\":\"one\",\"v\":\"$$5\",\"r\":\"$12\",\"n\":12.50}]}]\n4:HL[\"x\"]\n5:{\"k\":\"two\"}"
	for _, every := range []int{1, 7, 1000} {
		found := Records(parsed(t, rscPage(rows, every), ""), "k")
		if len(found) != 2 || found[0].Text("k") != "one" || found[1].Text("k") != "two" {
			t.Fatalf("cut at %d: %v", every, found)
		}
		if one := found[0]; one.Text("v") != "$5" || one.Text("r") != "" || one.Text("n") != "12.50" || one.Text("none") != "" {
			t.Errorf("cut at %d: %v", every, one)
		}
	}
}

func TestRecordsOfPlainScriptDataKeepTheirDollars(t *testing.T) {
	markup := `<script id="__NEXT_DATA__" type="application/json">{"props":{"car":{"k":"x","price":"$4,350"}}}</script><script type="application/json">{broken</script>`
	found := Records(parsed(t, markup, ""), "k")
	if len(found) != 1 || found[0].Text("price") != "$4,350" {
		t.Errorf("%v", found)
	}
}

func FuzzRSC(f *testing.F) {
	f.Add("0:[\"$\",{\"refno\":\"a\"}]\n1:T5,hello2:{\"refno\":1}\n")
	f.Add("1:Tffffffff,x\n:[]\n0:[[[[{\"refno\":{\"refno\":\"$undefined\"}}]]]]")
	f.Fuzz(func(t *testing.T, stream string) {
		search := recordSearch{keys: []string{"refno"}, left: maxRecordNodes, rsc: true}
		for _, value := range rscRows(stream) {
			search.in(value, 0)
		}
		for _, r := range search.found {
			if s := r.Text("refno"); len(s) > claim.MaxText {
				t.Errorf("%d bytes", len(s))
			}
		}
	})
}
