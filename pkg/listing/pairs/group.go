package pairs

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// group returns the table or list around a node, nil when there is none.
func group(n *html.Node) *html.Node {
	for p := n.Parent; p != nil; p = p.Parent {
		switch p.DataAtom {
		case atom.Table, atom.Dl, atom.Ul, atom.Ol:
			return p
		}
	}
	return nil
}

// groupLoose groups the pairs outside tables and lists: a row is the largest element
// with one pair, and its parent holds the rows that belong together.
func (f *pairFinder) groupLoose() {
	count := Count(f.pairs)
	for i := range f.pairs {
		p := &f.pairs[i]
		if p.Group != nil {
			continue
		}
		row := p.Node
		for up := row.Parent; up != nil && up.Type == html.ElementNode && up.DataAtom != atom.Body; up = up.Parent {
			if count[up] != count[row] {
				break
			}
			row = up
		}
		p.Row, p.Group = row, row.Parent
		if count[row] > 1 {
			p.Group = row
		}
	}
}

// Count returns the number of label-value pairs in each element.
func Count(pairs []Pair) map[*html.Node]int {
	count := map[*html.Node]int{}
	for _, p := range pairs {
		for n := p.Node; n != nil; n = n.Parent {
			count[n]++
		}
	}
	return count
}

// Fields returns the fields of the pairs in each element, as a set of bits.
func Fields(pairs []Pair) map[*html.Node]uint64 {
	bits, sets := map[string]uint64{}, map[*html.Node]uint64{}
	for _, p := range pairs {
		if bits[p.Field] == 0 {
			bits[p.Field] = 1 << (len(bits) % 64)
		}
		for n := p.Node; n != nil; n = n.Parent {
			sets[n] |= bits[p.Field]
		}
	}
	return sets
}
