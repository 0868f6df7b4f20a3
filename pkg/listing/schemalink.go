package listing

// link makes nodes with the same id one. A reference to a node, {"@id": "#car"},
// becomes that node, and halves of a node, written in two places, are joined.
// Sites also give one id to different things, the page and its car or all cars
// of a carousel: nodes that contradict each other stay apart.
func (g *graph) link() {
	byID := map[string]*node{}
	for _, n := range g.nodes {
		if n.id == "" || n.bare() {
			continue
		}
		first := byID[n.id]
		switch {
		case first == nil:
			byID[n.id] = n
		case agree(first, n):
			first.absorb(n)
		case !isVehicle(first) && isVehicle(n):
			byID[n.id] = n
		}
	}
	for _, n := range g.nodes {
		if first := byID[n.id]; n.id != "" && n.bare() && first != nil {
			n.same = first
		}
	}
}

// agree reports that two nodes can be halves of one thing: of the same syntax,
// with a type in common or one without any, and no text of theirs differs.
func agree(a, b *node) bool {
	if a.syntax != b.syntax || a.typed && b.typed && !a.is(b.types...) {
		return false
	}
	for property, values := range b.props {
		others := a.props[property]
		if len(values) > 0 && len(others) > 0 && values[0].text != others[0].text {
			return false
		}
	}
	return true
}

// absorb takes over what n lacks.
func (n *node) absorb(other *node) {
	n.addTypes(other.types...)
	for property, values := range other.props {
		if len(n.props[property]) == 0 {
			n.props[property] = values
		}
	}
	other.same = n
}
