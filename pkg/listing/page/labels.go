package page

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/pairs"
)

// The reasons why a label's value is not taken.
const (
	reasonOtherCar    = "other_car"
	reasonInstalment  = "instalment"
	reasonDestination = "destination_unnamed"
	// ReasonUnclear is the reason not to take a price that may be another car's.
	ReasonUnclear = "maybe_other_car"
)

// ClaimLabels claims the label-value pairs of the page's own car. The table with the
// largest number of different fields is the car's, unless it names another car than
// the page does. Another table only fills gaps, and does not when it describes
// another car. Pairs outside tables and lists are left to ClaimLooseLabels.
func ClaimLabels(doc *Document, c *claim.List) {
	c.Source, c.Rank = "labels", claim.RankLabel
	names := doc.names(c)
	own, others := doc.ownPairs(names)
	cards := byGroup(own)
	main := doc.mainCard(cards, names)
	switch {
	case main == nil:
	case isAmbiguous(main, cards, names) || comparesCars(main):
		c.Several = true
	default:
		if value, is := doc.withholdsPrice(own, main); is {
			c.Sold = c.Sold || pairs.Sold.In(value)
			c.Withhold(value)
		}
		doc.discounted = slices.ContainsFunc(own, func(p pairs.Pair) bool { return p.IsOfNow() && doc.IsAnchored(p.Node) })
		doc.claimCards(c, main, cards, names)
	}
	rejectPairs(c, others, reasonOtherCar)
}

// claimCards claims the pairs of the main card, and those of the others that do not
// describe another car.
func (d *Document) claimCards(c *claim.List, main *card, cards []*card, names pageNames) {
	if main.isLoose() {
		d.loose = append(d.loose, main.pairs...)
	} else {
		d.claimPairs(c, main.pairs)
	}
	for _, other := range cards {
		switch {
		case other == main:
		case d.isOwnPriceOfNow(other):
			d.loose = append(d.loose, other.pairs...)
		case isOtherCar(other, main, cards) || d.namesOther(other, main, names):
			rejectPairs(c, other.pairs, reasonOtherCar)
		default:
			own, unclear := d.ownPrices(other.pairs, main)
			if other.isLoose() {
				d.loose = append(d.loose, own...)
			} else {
				d.claimPairs(c, own)
			}
			rejectPairs(c, unclear, ReasonUnclear)
		}
	}
}

// isOwnPriceOfNow reports a box with nothing but the price after a discount, beside the
// page's own car: it differs from the price of before.
func (d *Document) isOwnPriceOfNow(c *card) bool {
	return len(c.first) == 1 && c.pairs[0].IsOfNow() && d.IsAnchored(c.pairs[0].Node)
}

// ownPrices separates from pairs the prices that may be another car's: not anchored, or
// outside the part of the page with the heading and the facts of the page's own car, in a
// box with a link or a picture that names a car.
func (d *Document) ownPrices(pairs []pairs.Pair, main *card) (own, unclear []pairs.Pair) {
	area := main.group
	for area != nil && !d.hasHeading(area) {
		area = area.Parent
	}
	for _, p := range pairs {
		isPrice := p.Field == claim.FieldPrice || p.Field == claim.FieldCF
		if isPrice && (!d.IsAnchored(p.Node) || area != nil && p.Row != nil && !dom.Contains(area, p.Node) &&
			hasLinkOrPicture(p.Row) && NamesMake(dom.Text(p.Row))) {
			unclear = append(unclear, p)
		} else {
			own = append(own, p)
		}
	}
	return own, unclear
}

// NamesMake reports a text that names a known make.
func NamesMake(s string) bool {
	maker, _ := FindMake(strings.Fields(s))
	return maker != ""
}

// ClaimLooseLabels claims the pairs outside tables and lists. They are trusted less
// than clean schema.org data.
func ClaimLooseLabels(doc *Document, c *claim.List) {
	c.Source, c.Rank = "labels", claim.RankSchema
	doc.claimPairs(c, doc.loose)
}

// ownPairs returns the pairs of the page without those about other cars, which it
// returns too.
func (d *Document) ownPairs(names pageNames) (own, others []pairs.Pair) {
	for _, p := range d.Pairs {
		d.budget.Spend(stepsOfPair)
		named := p.Field == claim.FieldMake || p.Field == claim.FieldModel || p.Field == claim.FieldVersion
		box := p.Row
		if box == nil {
			box = p.Node
		}
		for dom.IsInline(box) && box.Parent != nil {
			box = box.Parent
		}
		inBox := !pairs.IsItem(box) && len(dom.Text(box)) <= maxBoxText && boxNames(box, names)
		if d.IsForeign(p.Node) || inBox || !named && names.isOtherName(p.Value) {
			others = append(others, p)
		} else {
			own = append(own, p)
		}
	}
	return own, others
}

// card is the content of one table, list or box.
type card struct {
	pairs []pairs.Pair
	group *html.Node
	first map[string]string // the first value of each field
}

// stepsOfPair is what the examination of a label and its value counts.
const stepsOfPair = 50

// looseFields is the number of fields from which pairs outside tables and lists are a
// table of facts.
const looseFields = 3

func (c *card) isLoose() bool { return c.pairs[0].Loose && len(c.first) < looseFields }

// maxCards bounds the pairwise comparison of cards.
const maxCards = 300

// Body returns the body of a page, nil when it has none.
func Body(doc *Document) *html.Node {
	if found := doc.Tags[atom.Body]; len(found) > 0 {
		return found[0]
	}
	return nil
}

// notSold matches a status that denies a sale.
var notSold = regexp.MustCompile(`(?i)\b(?:not|un|yet)`)

func (d *Document) claimPairs(c *claim.List, all []pairs.Pair) {
	discounted := d.discounted || slices.ContainsFunc(all, func(p pairs.Pair) bool { return p.IsOfNow() })
	for _, p := range all {
		if why := p.NotThePrice(discounted); why != "" {
			c.Reject(p.Field, p.Value, why)
			continue
		}
		switch {
		case p.Field == claim.FieldStatus:
			c.Sold = c.Sold || !c.IsLot && pairs.Sold.In(p.Value) && !notSold.MatchString(p.Value)
		case p.IsInstalment():
			if p.IsPerDay() {
				c.IsOf(claim.KindRental)
			}
			c.Reject(p.Field, p.Value, reasonInstalment)
		case p.Field == claim.FieldCF && !NamesDar(p.Label+" "+p.Value):
			c.Reject(p.Field, p.Value, reasonDestination)
		default:
			c.Add(p.Field, p.Value)
		}
	}
}

// maxRejected bounds the pairs of other cars that are recorded.
const maxRejected = 60

func rejectPairs(c *claim.List, pairs []pairs.Pair, why string) {
	for _, p := range pairs[:min(len(pairs), maxRejected)] {
		c.Reject(p.Field, p.Value, why)
	}
}

// NamesDar reports whether a text names the port of Dar es Salaam, or Tanzania.
func NamesDar(s string) bool {
	s = strings.ToLower(s)
	return strings.Contains(s, "dar es salaam") || strings.Contains(s, "dar-es-salaam") || strings.Contains(s, "tanzania")
}

// byGroup groups pairs by the table that contains them, in document order, without
// placeholders.
func byGroup(all []pairs.Pair) (cards []*card) {
	byNode := map[*html.Node]*card{}
	for _, p := range all {
		found, seen := byNode[p.Group]
		if !seen {
			if len(cards) < maxCards {
				found = &card{group: p.Group, first: map[string]string{}}
				cards = append(cards, found)
			}
			byNode[p.Group] = found
		}
		if found == nil {
			continue
		}
		if claim.ValueOf(p.Value) == "" || p.Field == claim.FieldPrice && pairs.Sold.In(p.Value) {
			continue
		}
		found.pairs = append(found.pairs, p)
		if found.first[p.Field] == "" && !p.Struck {
			found.first[p.Field] = p.Value
		}
	}
	return slices.DeleteFunc(cards, func(c *card) bool { return len(c.pairs) == 0 })
}

// mainCard returns the card with the largest number of different fields that does not
// name another car than the page, nil when there is none.
func (d *Document) mainCard(cards []*card, names pageNames) (best *card) {
	for _, c := range cards {
		if names.contradict(c, cards) || d.namesOther(c, nil, names) {
			continue
		}
		if best == nil || len(c.first) > len(best.first) {
			best = c
		}
	}
	return best
}

// carFacts is the number of fields from which a card describes a whole car.
const carFacts = 4

// isAmbiguous reports that another card describes another whole car, and that the
// names of the page contain neither.
func isAmbiguous(main *card, cards []*card, names pageNames) bool {
	if names.confirm(main) {
		return false
	}
	for _, c := range cards {
		if c != main && len(c.first) >= carFacts && c.first[claim.FieldModel]+c.first[claim.FieldCode] != "" &&
			!names.contradict(c, cards) && differ(c, main) {
			return true
		}
	}
	return false
}

// comparesCars reports a table with a second column of values that are another car's.
func comparesCars(c *card) bool {
	differing := 0
	for _, p := range c.pairs {
		if p.Beside == "" {
			continue
		}
		one, known := KnownMake(p.Value)
		two, knownToo := KnownMake(p.Beside)
		if p.Field == claim.FieldMake && known && knownToo && one != two || claim.Differ(p.Field, p.Value, p.Beside) {
			differing++
		}
	}
	return differing >= 2
}

// identifying are the fields of which one difference tells two cars apart, describing
// those of which two differences do. Many cars have the same transmission.
var (
	identifying = []string{claim.FieldFrame, claim.FieldStock}
	describing  = []string{
		claim.FieldMake, claim.FieldModel, claim.FieldCode, claim.FieldManufacture, claim.FieldRegistration,
		claim.FieldModelYear, claim.FieldEngine, claim.FieldPrice, claim.FieldMileage,
	}
)

// isOtherCar reports whether a card describes another car than main: the card contradicts main, or
// it contradicts another card.
func isOtherCar(c, main *card, all []*card) bool {
	if differ(c, main) {
		return true
	}
	for _, other := range all {
		if other != c && other != main && differ(c, other) {
			return true
		}
	}
	return false
}

// differ reports that two cards describe two cars: an identifying field differs, or
// two describing fields, or one while none agrees. Values are compared as read, not
// as written.
func differ(a, b *card) bool {
	for _, field := range identifying {
		if one, two := a.first[field], b.first[field]; one != "" && two != "" && !claim.Equal(field, one, two) {
			return true
		}
	}
	differing, agreeing := 0, 0
	for _, field := range describing {
		switch one, two := a.first[field], b.first[field]; {
		case one == "" || two == "":
		case claim.Equal(field, one, two):
			agreeing++
		default:
			differing++
		}
	}
	return differing >= 2 || differing == 1 && agreeing == 0
}
