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
	pairs := pairsIn(body(doc))
	groups := byGroup(pairs)
	main := largest(groups)
	if main == nil {
		return
	}
	claimPairs(c, main)
	for _, g := range groups {
		if &g[0] != &main[0] && !otherCar(g, main, groups) {
			claimPairs(c, g)
		}
	}
}

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
func byGroup(pairs []pair) (groups [][]pair) {
	at := map[*html.Node]int{}
	for _, p := range pairs {
		if said(p.value) == "" {
			continue
		}
		i, seen := at[p.group]
		if !seen {
			i = len(groups)
			if ancestor(p.group, besides) {
				i = -1
			} else {
				groups = append(groups, nil)
			}
			at[p.group] = i
		}
		if i >= 0 {
			groups[i] = append(groups[i], p)
		}
	}
	return groups
}

// besides reports an element that holds no part of the page's own car.
func besides(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Aside, atom.Nav, atom.Footer:
		return true
	}
	names := strings.ToLower(attr(n, "class") + " " + attr(n, "id"))
	for _, word := range []string{"similar", "related", "recommend", "recently"} {
		if strings.Contains(names, word) {
			return true
		}
	}
	return false
}

func largest(groups [][]pair) (best []pair) {
	most := 0
	for _, g := range groups {
		if n := len(values(g)); n > most {
			best, most = g, n
		}
	}
	return best
}

// values returns the first value of each field in a group.
func values(g []pair) map[string]string {
	first := map[string]string{}
	for _, p := range g {
		if first[p.field] == "" {
			first[p.field] = squash(p.value)
		}
	}
	return first
}

// telling are the fields of which one car has one value. Year and engine are
// among them, mileage too; a location or a transmission is not.
var telling = map[string]bool{
	fieldMake: true, fieldModel: true, fieldCode: true, fieldFrame: true, fieldStock: true,
	fieldRegistration: true, fieldMileage: true, fieldPrice: true,
}

// otherCar reports a group that describes another car than main: it contradicts
// main, or it is one of several alike.
func otherCar(g, main []pair, all [][]pair) bool {
	mine, theirs := values(g), values(main)
	for field, value := range mine {
		if telling[field] && theirs[field] != "" && theirs[field] != value {
			return true
		}
	}
	for _, other := range all {
		if &other[0] == &g[0] || &other[0] == &main[0] {
			continue
		}
		for field, value := range values(other) {
			if telling[field] && mine[field] != "" && mine[field] != value {
				return true
			}
		}
	}
	return false
}
