package schemaorg

import (
	"net/url"
	"slices"
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

// carFields are those that only the page of a vehicle has.
var carFields = map[string]bool{
	claim.FieldCode: true, claim.FieldFrame: true, claim.FieldEngine: true,
	claim.FieldMileage: true, claim.FieldRegistration: true, claim.FieldManufacture: true,
}

// describesCar reports whether better sources have already seen a car.
func describesCar(c *claim.List) bool {
	fields := map[string]bool{}
	for _, claimed := range c.All {
		if carFields[claimed.Field] && claimed.Rejected == "" {
			fields[claimed.Field] = true
		}
	}
	return len(fields) >= 2
}

// minNumber is the length from which a stock number identifies a car.
const minNumber = 5

// isOther reports that a vehicle which does not name the page as its own is another
// car: it links to another listing, or the names of the page or better sources give
// another make, model, frame number or stock number.
func (car *carEntry) isOther(doc *page.Document, c *claim.List) bool {
	if car.place(doc) == thisPage {
		return false
	}
	n := car.copies[0]
	if slices.ContainsFunc(linksOf(n), doc.IsOtherListing) {
		return true
	}
	maker := makeOf(n)
	if maker == "" {
		maker, _ = page.FindMake(strings.Fields(n.Word("name")))
	}
	if _, otherMake := doc.NamesCar(c, maker, modelOf(n, maker)); otherMake {
		return true
	}
	known := func(name string) bool { _, ok := page.KnownMake(name); return ok }
	whole := func(frame string) bool { return !strings.Contains(frame, "*") }
	numbered := func(stock string) bool { return len(stock) >= minNumber && strings.ContainsAny(stock, "0123456789") }
	named := func(model string) bool { return len(claim.Squash(model)) > 1 }
	return denies(c, claim.FieldMake, maker, known) || denies(c, claim.FieldFrame, frameOf(n), whole) ||
		denies(c, claim.FieldModel, modelOf(n, maker), named) || denies(c, claim.FieldStock, n.Word("sku", "productID"), numbered)
}

// usualMake returns the usual spelling of a make; any other value as it is.
func usualMake(field, value string) string {
	if known, ok := page.KnownMake(value); ok && field == claim.FieldMake {
		return known
	}
	return value
}

// reject records what a vehicle that is not the page's own says.
func (car *carEntry) reject(c *claim.List) {
	said := &claim.List{Source: car.copies[0].Syntax, Rank: claim.RankSchema}
	claimNode(car.copies[0], said)
	claimOffers(car, said)
	for _, claimed := range said.All {
		c.Source = claimed.Source
		c.Reject(claimed.Field, claimed.Value, reasonOtherCar)
	}
}

// reasonOtherCar is the reason why a value of another vehicle is not taken.
const reasonOtherCar = "other_car"

// denies reports a field that was claimed, and never with this value.
func denies(c *claim.List, field, value string, sure func(string) bool) bool {
	denied := false
	for _, claimed := range c.All {
		if claimed.Field != field || claimed.Rejected != "" || value == "" || !sure(value) || !sure(claimed.Value) {
			continue
		}
		one, two := claim.Squash(usualMake(field, claimed.Value)), claim.Squash(usualMake(field, value))
		if strings.Contains(one, two) || strings.Contains(two, one) {
			return false
		}
		denied = true
	}
	return denied
}
