package graph

// link makes nodes with the same id one. A reference to a node, {"@id": "#car"},
// becomes that node, and halves of a node, written in two places, are joined.
// Sites also give one id to different things, the page and its car or all cars
// of a carousel: nodes that contradict each other stay apart.
func (g *Graph) link() {
	byID := map[string]*Node{}
	for _, n := range g.nodes {
		if n.ID == "" || n.bare() {
			continue
		}
		first := byID[n.ID]
		switch {
		case first == nil:
			byID[n.ID] = n
		case agree(first, n):
			first.absorb(n)
		case !IsVehicle(first) && IsVehicle(n):
			byID[n.ID] = n
		}
	}
	for _, n := range g.nodes {
		if first := byID[n.ID]; n.ID != "" && n.bare() && first != nil {
			n.same = first
		}
	}
}

// agree reports that two nodes can be halves of one thing: of the same syntax,
// with a type in common or one without any, and no text of theirs differs.
func agree(a, b *Node) bool {
	if a.Syntax != b.Syntax || a.Typed && b.Typed && !a.Is(b.Types...) {
		return false
	}
	for property, values := range b.Props {
		others := a.Props[property]
		if len(values) > 0 && len(others) > 0 && values[0].Text != others[0].Text {
			return false
		}
	}
	return true
}

// absorb takes over what n lacks.
func (n *Node) absorb(other *Node) {
	n.addTypes(other.Types...)
	for property, values := range other.Props {
		if len(n.Props[property]) == 0 {
			n.Props[property] = values
		}
	}
	other.same = n
}
