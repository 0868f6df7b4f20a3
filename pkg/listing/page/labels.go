package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
)

// ClaimLabels claims the label-value pairs of the page. The table with the largest
// number of different fields is the car's. Another table only fills gaps, and
// does not when it contradicts the first: then it describes another car.
func ClaimLabels(doc *Document, c *claim.List) {
	c.Source, c.Rank = "labels", claim.RankLabel
	cards := byGroup(doc.Pairs)
	main := largest(cards)
	if main == nil {
		return
	}
	claimPairs(c, main.pairs)
	for _, other := range cards {
		if other != main && !isOtherCar(other, main, cards) {
			claimPairs(c, other.pairs)
		}
	}
}

// card is the content of one table or list.
type card struct {
	pairs []Pair
	first map[string]string // the first value of each field, squashed
}

// maxCards bounds the pairwise comparison of cards.
const maxCards = 300

// Body returns the body of a page, nil when it has none.
func Body(doc *Document) *html.Node {
	if found := doc.Tags[atom.Body]; len(found) > 0 {
		return found[0]
	}
	return nil
}

func claimPairs(c *claim.List, pairs []Pair) {
	for _, p := range pairs {
		if p.Field == claim.FieldCF && !NamesDar(p.Label+" "+p.Value) {
			c.Reject(p.Field, p.Value, "the destination is not named")
			continue
		}
		c.Add(p.Field, p.Value)
	}
}

// NamesDar reports whether a text names the port of Dar es Salaam, or Tanzania.
func NamesDar(s string) bool {
	s = strings.ToLower(s)
	return strings.Contains(s, "dar es salaam") || strings.Contains(s, "dar-es-salaam") || strings.Contains(s, "tanzania")
}

// byGroup groups pairs by the table that contains them, in document order, without
// placeholders and without asides, menus and footers.
func byGroup(pairs []Pair) (cards []*card) {
	byNode := map[*html.Node]*card{}
	for _, p := range pairs {
		if claim.ValueOf(p.Value) == "" {
			continue
		}
		found, seen := byNode[p.Group]
		if !seen {
			if len(cards) < maxCards && !AnyAncestor(p.Group, IsAside) {
				found = &card{first: map[string]string{}}
				cards = append(cards, found)
			}
			byNode[p.Group] = found
		}
		if found == nil {
			continue
		}
		found.pairs = append(found.pairs, p)
		if found.first[p.Field] == "" {
			found.first[p.Field] = claim.Squash(p.Value)
		}
	}
	return cards
}

// IsAside reports an element that contains no part of the page's own car.
func IsAside(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Aside, atom.Nav, atom.Footer:
		return true
	}
	names := strings.ToLower(Head(Attr(n, "class")) + " " + Head(Attr(n, "id")))
	for _, word := range []string{"similar", "related", "recommend", "recently"} {
		if strings.Contains(names, word) {
			return true
		}
	}
	return false
}

// largest returns the card with the largest number of different fields, nil when
// there are no cards.
func largest(cards []*card) (best *card) {
	for _, c := range cards {
		if best == nil || len(c.first) > len(best.first) {
			best = c
		}
	}
	return best
}

// distinguishing are the fields that differ between two cars; many cars have the
// same location or transmission.
var distinguishing = map[string]bool{
	claim.FieldMake: true, claim.FieldModel: true, claim.FieldCode: true, claim.FieldFrame: true, claim.FieldStock: true,
	claim.FieldRegistration: true, claim.FieldMileage: true, claim.FieldPrice: true,
}

// isOtherCar reports a card that describes another car than main: it contradicts
// main, or it is one of several that contradict each other.
func isOtherCar(c, main *card, all []*card) bool {
	if contradicts(c, main) {
		return true
	}
	for _, other := range all {
		if other != c && other != main && contradicts(c, other) {
			return true
		}
	}
	return false
}

func contradicts(a, b *card) bool {
	for field, value := range a.first {
		if distinguishing[field] && b.first[field] != "" && b.first[field] != value {
			return true
		}
	}
	return false
}
