package schemaorg

import (
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/schemaorg/graph"
)

// own returns the vehicle that the page is about, nil for none: the one whose
// address or stock number is the page's; else the one that is no item of a list and does
// not belong to another page, of several the one that the title names; else the only one
// there is.
func (f *carFinder) own(doc *page.Document) *carEntry {
	var named, listed, free []*carEntry
	for _, car := range f.cars {
		switch where := car.place(doc); {
		case where == thisPage && !car.listed:
			named = append(named, car)
		case where == thisPage:
			listed = append(listed, car)
		case where == unknownPage && !car.listed && !car.beside:
			free = append(free, car)
		}
	}
	switch {
	case len(named) > 0:
		return named[0]
	case len(listed) > 0:
		return only(listed)
	case len(free) > 0:
		return titled(free, doc)
	}
	car := only(f.cars)
	if car == nil || car.beside || car.listed && car.place(doc) == otherPage {
		return nil
	}
	return car
}

// maxRejected bounds the other vehicles that are recorded.
const maxRejected = 10

// removeOthers removes the vehicles that are not the page's own, and returns the
// first of them.
func (f *carFinder) removeOthers(doc *page.Document, c *claim.List) (others []*carEntry) {
	kept := f.cars[:0:0]
	for _, car := range f.cars {
		switch {
		case !car.isOther(doc, c):
			kept = append(kept, car)
		case len(others) < maxRejected:
			others = append(others, car)
		}
	}
	f.cars = kept
	return others
}

// titled returns the one of several cars whose name stands in the page's title or heading,
// or the one that all of them repeat; a title that fits several cars names none of them.
func titled(cars []*carEntry, doc *page.Document) *carEntry {
	if len(cars) == 1 {
		return cars[0]
	}
	title := doc.Title + doc.Meta["og:title"]
	if headings := doc.Tags[atom.H1]; len(headings) > 0 {
		title += dom.Text(headings[0])
	}
	title = claim.Squash(title)
	var found []*carEntry
	for _, car := range cars {
		if name := claim.Squash(car.copies[0].Word("name")); len(name) > 5 && strings.Contains(title, name) {
			found = append(found, car)
		}
	}
	if len(found) == 0 {
		found = cars
	}
	for _, car := range found[1:] {
		if !repeats(found[0].copies[0], car.copies[0]) {
			return nil
		}
	}
	return found[0]
}

// only returns the one car of a list, nil when there are none or several.
func only(cars []*carEntry) *carEntry {
	if len(cars) != 1 {
		return nil
	}
	return cars[0]
}

// ownProduct returns the only product of the page. It is for pages on which
// something better has already described a car.
func (f *carFinder) ownProduct() *carEntry {
	if len(f.cars) > 0 || len(f.products) != 1 {
		return nil
	}
	return &carEntry{copies: f.products}
}

// addCopies joins to a car the products that are the same thing.
func (f *carFinder) addCopies(car *carEntry) {
	for _, product := range f.products {
		if sameCar(car, &carEntry{copies: []*graph.Node{product}}) {
			car.copies = append(car.copies, product)
		}
	}
}

// pageOf says to which page a node belongs.
type pageOf int

const (
	unknownPage pageOf = iota
	thisPage
	otherPage
)

// place returns the page that a car names by address or number. A page without
// an address of its own, a saved one or a home page, cannot be distinguished from others.
func (car *carEntry) place(doc *page.Document) pageOf {
	found := unknownPage
	for _, n := range car.copies {
		for _, link := range linksOf(n) {
			if samePage(doc, link, doc.Canonical) || samePage(doc, link, doc.Page.FinalURL) {
				return thisPage
			}
			if strings.Trim(doc.URL.Path, "/") != "" && found == unknownPage {
				found = otherPage
			}
		}
		for _, property := range []string{"sku", "productID", "vehicleIdentificationNumber"} {
			if numbered(doc.URL, n.Word(property)) {
				return thisPage
			}
		}
	}
	return found
}

// linksOf returns the addresses that a node gives as its own. An id within the
// page, "#car", is none.
func linksOf(n *graph.Node) (links []string) {
	add := func(link string) {
		if link != "" && !strings.HasPrefix(link, "#") && !strings.HasPrefix(link, "_:") && len(links) < 10 {
			links = append(links, link)
		}
	}
	if strings.Contains(n.ID, "/") {
		add(n.ID)
	}
	for _, v := range append(n.Props["url"], n.Props["mainEntityOfPage"]...) {
		add(v.Address())
	}
	for _, offer := range n.NodesOf("offers") {
		for _, v := range offer.Props["url"] {
			add(v.Address())
		}
	}
	return links
}

// samePage compares two links without scheme and fragment. Parameters that both
// have must be alike: on some sites they name the car.
func samePage(doc *page.Document, a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	one, err1 := doc.Base.Parse(a)
	two, err2 := doc.Base.Parse(b)
	if err1 != nil || err2 != nil || place(one) != place(two) || strings.Trim(one.Path, "/") == "" {
		return false
	}
	others := two.Query()
	for key, values := range one.Query() {
		if other, ok := others[key]; ok && other[0] != values[0] {
			return false
		}
	}
	return true
}

func place(u *url.URL) string {
	return strings.TrimPrefix(strings.ToLower(u.Host), "www.") + strings.ToLower(strings.TrimSuffix(u.Path, "/"))
}

// numbered reports whether an address holds a stock number as a word of its own.
func numbered(u *url.URL, number string) bool {
	if len(number) < 5 || !strings.ContainsAny(number, "0123456789") {
		return false
	}
	number = strings.ToLower(number)
	for _, part := range []string{strings.ToLower(u.Path), strings.ToLower(u.RawQuery)} {
		for from := 0; ; {
			at := strings.Index(part[from:], number)
			if at < 0 {
				break
			}
			from += at
			end := from + len(number)
			if (from == 0 || !inWord(part[from-1])) && (end == len(part) || !inWord(part[end])) {
				return true
			}
			from = end
		}
	}
	return false
}

func inWord(b byte) bool { return unicode.IsLetter(rune(b)) || unicode.IsDigit(rune(b)) }
