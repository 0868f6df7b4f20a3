package listing

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// readLabels claims label-value pairs from anywhere on the page. The table with
// the most different fields is the car's; another one only fills gaps, and not
// when it contradicts the first: then it describes a similar car.
func readLabels(doc *document, c *claims) {
	c.source, c.rank = "labels", RankLabel
	cards := byGroup(doc.pairs)
	main := largest(cards)
	if main == nil {
		return
	}
	claimPairs(c, main.pairs)
	for _, other := range cards {
		if other != main && !otherCar(other, main, cards) {
			claimPairs(c, other.pairs)
		}
	}
}

// card is what one table or list says.
type card struct {
	pairs []pair
	first map[string]string // the first value of each field, squashed
}

// maxCards bounds the comparison of each with each.
const maxCards = 300

func body(doc *document) *html.Node {
	if found := doc.tags[atom.Body]; len(found) > 0 {
		return found[0]
	}
	return nil
}

func claimPairs(c *claims, pairs []pair) {
	for _, p := range pairs {
		if p.field == fieldCF && !namesDar(p.label+" "+p.value) {
			c.reject(p.field, p.value, "the destination is not named")
			continue
		}
		c.add(p.field, p.value)
	}
}

// namesDar reports whether a text names the port of Dar es Salaam, or Tanzania.
func namesDar(s string) bool {
	s = strings.ToLower(s)
	return strings.Contains(s, "dar es salaam") || strings.Contains(s, "dar-es-salaam") || strings.Contains(s, "tanzania")
}

// byGroup sorts pairs by the table that holds them, in document order, without
// values that are not said and outside asides, menus and footers.
func byGroup(pairs []pair) (cards []*card) {
	byNode := map[*html.Node]*card{}
	for _, p := range pairs {
		if said(p.value) == "" {
			continue
		}
		found, seen := byNode[p.group]
		if !seen {
			if len(cards) < maxCards && !ancestor(p.group, besides) {
				found = &card{first: map[string]string{}}
				cards = append(cards, found)
			}
			byNode[p.group] = found
		}
		if found == nil {
			continue
		}
		found.pairs = append(found.pairs, p)
		if found.first[p.field] == "" {
			found.first[p.field] = squash(p.value)
		}
	}
	return cards
}

// besides reports an element that holds no part of the page's own car.
func besides(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Aside, atom.Nav, atom.Footer:
		return true
	}
	names := strings.ToLower(start(attr(n, "class")) + " " + start(attr(n, "id")))
	for _, word := range []string{"similar", "related", "recommend", "recently"} {
		if strings.Contains(names, word) {
			return true
		}
	}
	return false
}

// largest returns the card with the most different fields, nil for none.
func largest(cards []*card) (best *card) {
	for _, c := range cards {
		if best == nil || len(c.first) > len(best.first) {
			best = c
		}
	}
	return best
}

// telling are the fields by which two cars can be told apart; many have the
// same location or transmission.
var telling = map[string]bool{
	fieldMake: true, fieldModel: true, fieldCode: true, fieldFrame: true, fieldStock: true,
	fieldRegistration: true, fieldMileage: true, fieldPrice: true,
}

// otherCar reports a card that describes another car than main: it contradicts
// main, or it is one of several that contradict each other.
func otherCar(c, main *card, all []*card) bool {
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
		if telling[field] && b.first[field] != "" && b.first[field] != value {
			return true
		}
	}
	return false
}
