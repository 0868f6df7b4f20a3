package listing

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// node is a thing of schema.org data, whichever syntax it was written in.
type node struct {
	types  []string // names in schema.org, without the address: Car
	typed  bool     // has a type, perhaps of another vocabulary
	id     string   // @id, itemid or resource; "" for none
	props  map[string][]value
	syntax string     // JSON-LD, microdata or RDFa
	from   *html.Node // the element it stands on, nil in JSON-LD
	same   *node      // the fuller node with the same id that stands for it
}

// value is one value of a property: a text, or a node.
type value struct {
	text   string
	link   string // where the element points to, when it also has a text
	node   *node
	number bool // written as a JSON number, where a dot can only be decimal
}

// graph holds the schema.org data of a page.
type graph struct {
	roots []*node
	nodes []*node
	left  int // steps that may still be taken
}

// Limits of hostile data. The richest page seen has some 5,000 values in JSON-LD
// and 20,000 elements; an item or property of markup costs more steps than an
// element, because it is looked at more closely.
const (
	maxJSONSteps   = 100_000
	maxMarkupSteps = 1_000_000
	propertySteps  = 50
	maxSchemaDepth = 64
	maxSchemaText  = 4096 // bytes of one text that are kept
)

// newGraph reads what the page holds in each of the three syntaxes, JSON-LD
// first: where two copies of a car differ, it is the one that sites maintain.
func newGraph(doc *document) *graph {
	g := &graph{left: maxJSONSteps}
	readJSONLD(doc, g)
	g.left = maxMarkupSteps
	readMicrodata(doc, g)
	g.left = maxMarkupSteps
	readRDFa(doc, g)
	g.link()
	return g
}

func (g *graph) newNode(syntax string) *node {
	n := &node{props: map[string][]value{}, syntax: syntax}
	g.nodes = append(g.nodes, n)
	return n
}

// spend takes steps from those that are left; false when they are used up.
func (g *graph) spend(steps int) bool {
	g.left -= steps
	return g.left > 0
}

func (n *node) add(property string, values ...value) {
	n.props[property] = append(n.props[property], values...)
}

// addTypes adds types by name, address or prefixed name; those of other
// vocabularies are left out.
func (n *node) addTypes(names ...string) {
	for _, written := range names {
		n.typed = true
		if name := schemaName(written); name != "" && !slices.Contains(n.types, name) && len(n.types) < 20 {
			n.types = append(n.types, name)
		}
	}
}

// is reports one of the types of a node.
func (n *node) is(types ...string) bool {
	return slices.ContainsFunc(n.types, func(t string) bool { return slices.Contains(types, t) })
}

// bare reports a node that only refers to another.
func (n *node) bare() bool { return !n.typed && len(n.props) == 0 }

// nodesOf returns the nodes among the values of the properties.
func (n *node) nodesOf(properties ...string) (nodes []*node) {
	for _, property := range properties {
		for _, v := range n.props[property] {
			if v.node != nil {
				nodes = append(nodes, v.node.full())
			}
		}
	}
	return nodes
}

// full returns the node that stands for n.
func (n *node) full() *node {
	if n.same != nil {
		return n.same
	}
	return n
}

// schemaName returns the name of a type or property in schema.org: of "Car",
// "schema:Car" and "http://schema.org/Car"; "" for one of another vocabulary.
func schemaName(written string) string {
	written = strings.TrimSpace(written)
	name := fromSchema(written)
	if strings.ContainsAny(name, "/:#? \t\r\n") || len(name) > 60 {
		return ""
	}
	return name
}

// fromSchema takes the address or prefix of schema.org off a text.
func fromSchema(s string) string {
	lower := strings.ToLower(start(s))
	for _, prefix := range []string{"schema:", "sdo:"} {
		if strings.HasPrefix(lower, prefix) {
			return s[len(prefix):]
		}
	}
	rest, ok := strings.CutPrefix(lower, "http")
	if !ok {
		return s
	}
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "s"), "://")
	if rest, ok = strings.CutPrefix(strings.TrimPrefix(rest, "www."), "schema.org"); !ok {
		return s
	}
	if rest = strings.TrimLeft(rest, "/#"); rest == "" {
		return ""
	}
	return s[len(lower)-len(rest):]
}
