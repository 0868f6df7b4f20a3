package listing

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/fetch"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/sites"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// SeveralCars is the code of a page that lists several cars and is about none of them; its
// details are a SeveralDetails.
const SeveralCars = "several_cars"

// SeveralDetails are the cars of a page that lists several, at most maxListed.
type SeveralDetails struct {
	Cars []vehicle.ListedCar `json:"cars,omitempty"`
}

const (
	maxListed     = 20  // cars that are named
	maxExamined   = 300 // links that may lead to one
	minListed     = 3   // cards that make a list where nothing else names a car
	minOwnFacts   = 3   // labels outside every card that describe the page's own car
	maxListedText = 120
)

// listsCars reports a page of several cars, none of which is its own: it is counted before a
// value is believed. A car that the page's address, a table of facts outside all cards, or a
// heading with a year or a code names is the page's own, and the others are its neighbours;
// so is a car that the adapter of its site reads. list returns the cars that the page lists.
func listsCars(l *Listing, c *claim.List, doc *page.Document, list func() ([]vehicle.ListedCar, []*html.Node)) bool {
	if c.Several {
		return true
	}
	if facts, isOne := ownFacts(doc, nil); c.Named || facts >= minOwnFacts && isOne && doc.IsNumbered() ||
		sites.Of(doc).Read != nil && isCar(l, doc) {
		return false
	}
	listed, cards := list()
	isMany := c.Listed > 1 || len(listed) >= minListed
	if facts, isOne := ownFacts(doc, cards); facts >= minOwnFacts && (isOne || !isMany) {
		return false
	}
	return c.Results || doc.Stock || headsList(l, doc, len(listed), isMany)
}

// headsList reports a title or heading of a list, beside so many cars.
func headsList(l *Listing, doc *page.Document, listed int, isMany bool) bool {
	head := headOf(doc)
	switch {
	case says(resultPhrase, head):
		return true
	case claim.YearIn(head) != "" || namesCode(head, l.Car.ModelCode):
		return isMany && (!isCar(l, doc) || forSale.MatchString(head))
	}
	return isMany || says(searchPhrase, head) && (listed > 0 || isCar(l, doc)) || sites.Of(doc).Cards != nil && listed > 0
}

// forSale matches a heading that offers cars.
var forSale = regexp.MustCompile(`(?i)\bfor sale\b|\b(?:cars|vehicles)\b`)

// namesCode reports whether a heading has a chassis code.
func namesCode(head, code string) bool {
	return code != "" && strings.Contains(claim.Squash(head), claim.Squash(code))
}

// ownFacts counts the different fields that the page's own labels give, outside the cards of
// other cars. isOne reports one that tells a car from others of its model.
func ownFacts(doc *page.Document, cards []*html.Node) (count int, isOne bool) {
	fields := map[string]bool{}
	for _, p := range doc.Pairs {
		inCard := slices.ContainsFunc(cards, func(card *html.Node) bool { return dom.Contains(card, p.Node) })
		if p.Field == claim.FieldPrice || inCard || doc.IsForeign(p.Node) {
			continue
		}
		fields[p.Field] = true
		switch p.Field {
		case claim.FieldMileage, claim.FieldCode, claim.FieldChassis, claim.FieldFrame, claim.FieldStock,
			claim.FieldRegistration, claim.FieldManufacture:
			isOne = true
		}
	}
	return len(fields), isOne
}

// severalCars returns the error of a page of several cars, with those that it names.
func severalCars(listed []vehicle.ListedCar) error {
	if len(listed) == 0 {
		return fetch.Fail("error/several_cars.unnamed", nil)
	}
	details, err := json.Marshal(SeveralDetails{listed})
	if err != nil {
		return err
	}
	count := message.Values{"count": strconv.Itoa(len(listed))}
	return &fetch.Error{Notice: message.New("error/several_cars", count), Details: details}
}

// listedCars returns the cars that a page lists, each by the link of its card, in their order,
// with those cards.
func listedCars(doc *page.Document) (cars []vehicle.ListedCar, cards []*html.Node) {
	seen, examined := map[string]bool{}, 0
	for _, a := range doc.Tags[atom.A] {
		link := doc.LinkedListing(dom.Attr(a, "href"))
		if len(cars) == maxListed || examined == maxExamined {
			break
		}
		if link == "" || seen[link] || !dom.IsVisible(a) {
			continue
		}
		examined++
		card := doc.CardOf(a)
		if card == nil {
			continue
		}
		if car := listedCar(card, a); car.Name != "" {
			seen[link] = true
			car.URL = link
			cars, cards = append(cars, car), append(cards, card)
		}
	}
	for _, card := range doc.Cards { // without links
		if len(seen) > 0 || len(cars) == maxListed {
			break
		}
		if car := listedCar(card, nil); car.Name != "" {
			cars = append(cars, car)
		}
	}
	return cars, cards
}

// listedCar reads what the card of a car says of it, as the page shows it; nothing where it
// names none.
func listedCar(card, link *html.Node) (car vehicle.ListedCar) {
	for n := range dom.Elements(card) {
		name := ""
		switch {
		case dom.HeadingLevel(n) > 0 || n.DataAtom == atom.Strong || n.DataAtom == atom.B:
			name = dom.Text(n)
		case n == link:
			name = cmp.Or(dom.Attr(n, "title"), dom.Text(n))
		case n.DataAtom == atom.Img:
			name = dom.Attr(n, "alt")
		}
		if name = claim.Clean(name); name != "" && len(name) <= maxListedText && page.NamesMake(name) {
			car.Name = name
			break
		}
	}
	if car.Name == "" {
		return car
	}
	said := dom.Text(card)
	car.Price = page.AmountIn(said)
	if year := claim.YearIn(cmp.Or(claim.YearIn(car.Name), said)); year != "" {
		car.Year, _ = strconv.Atoi(year)
	}
	return car
}
