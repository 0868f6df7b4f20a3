package sites

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
)

// aleado reads the auction engine that runs under many names (Aleado and its
// white labels), as a public reader of 2026 describes it: one table row per
// lot, with numbered cells.
var aleado = Adapter{
	Name: "Aleado",
	shape: func(doc *page.Document) bool {
		return doc.IDs["model_type_1"] != nil && doc.IDs["bid_number_1"] != nil
	},
	Amend:        amendAuction,
	Read:         readAleado,
	canonicalize: canonicalAleado,
}

func readAleado(doc *page.Document, c *claim.List) {
	c.IsLot = true
	row := aleadoRow(doc)
	if row == "" {
		claimAleadoPictures(doc, c)
		return
	}
	cells := fieldsOf("Aleado")
	for _, id := range slices.Sorted(maps.Keys(cells)) {
		c.Add(cells[id], dom.Text(doc.IDs[id+row]))
	}
	if currency := dom.Text(doc.IDs["currencyLot"+row]); currency == "" || currency == "JPY" {
		c.Add(claim.FieldStart, thousandYen(dom.Text(doc.IDs["priceLotS"+row])))
		c.Add(claim.FieldEnd, thousandYen(dom.Text(doc.IDs["priceLotE"+row])))
	}
	claimAleadoPictures(doc, c)
}

// aleadoRow returns the number of the only row of the page, or of the row that
// links to the page's own lot; "" on a list of other lots.
func aleadoRow(doc *page.Document) string {
	own, only := doc.URL.Query().Get("id"), ""
	for number := range 500 {
		row := strconv.Itoa(number)
		cell := doc.IDs["bid_number_"+row]
		if cell == nil {
			continue
		}
		if own != "" && lotOf(doc, cell) == own {
			return row
		}
		if only != "" {
			only = "several"
		} else {
			only = row
		}
	}
	if only == "several" || own != "" && only != "" && lotOf(doc, doc.IDs["bid_number_"+only]) != "" {
		return ""
	}
	return only
}

// lotOf returns the lot that a cell links to.
func lotOf(doc *page.Document, cell *html.Node) string {
	for n := range dom.Elements(cell) {
		if n.DataAtom == atom.A {
			return doc.Resolve(dom.Attr(n, "href")).Query().Get("id")
		}
	}
	return ""
}

// thousandYen returns an amount that is written in thousands, "" for none.
func thousandYen(s string) string {
	thousands := claim.Digits(s)
	if thousands == 0 {
		return ""
	}
	return "JPY " + strconv.Itoa(thousands) + "000"
}

// claimAleadoPictures sorts the engine's pictures: number 0 is the inspection
// sheet, the others are photographs. Those of other lots are left out.
func claimAleadoPictures(doc *page.Document, c *claim.List) {
	lot := ""
	var photos []string
	for _, link := range page.Pictures(doc, isAleadoPicture) {
		u, _ := url.Parse(fullSize(link))
		query := u.Query()
		own := query.Get("date") + "/" + query.Get("auct") + "/" + query.Get("bid")
		if lot == "" {
			lot = own
		}
		switch {
		case own != lot:
		case query.Get("number") == "0":
			c.AddSheet(u.String())
		default:
			photos = append(photos, u.String())
		}
	}
	c.AddImages(photos)
}

func isAleadoPicture(u *url.URL) bool {
	return (page.OnHost(u, "aleado.ru") || page.OnHost(u, "aleado.com")) &&
		(strings.HasPrefix(u.Path, "/pic") || strings.HasPrefix(u.Path, "/image/"))
}

// fullSize removes the requested height and width from the link of an auction
// picture. On some hosts they follow an ampersand without a question mark.
func fullSize(link string) string {
	path, query, _ := strings.Cut(link, "?")
	drop := func(s string, keepFirst bool) string {
		var kept []string
		for i, part := range strings.Split(s, "&") {
			if i == 0 && keepFirst || !strings.HasPrefix(part, "h=") && !strings.HasPrefix(part, "w=") {
				kept = append(kept, part)
			}
		}
		return strings.Join(kept, "&")
	}
	path, query = drop(path, true), drop(query, false)
	if query == "" {
		return path
	}
	return path + "?" + query
}

// canonicalAleado reduces the URL of a lot to the parameters that identify it.
func canonicalAleado(u *url.URL) error {
	page := u.Query().Get("p")
	if u.Path == "/auctions/" && (page == "project/lot" || page == "project/statslot") && u.Query().Get("id") != "" {
		u.RawQuery = keepParams(u.RawQuery, []string{"p", "id", "s"})
	}
	return nil
}
