// Package graph reads the schema.org data of a page, JSON-LD, microdata and
// RDFa, into one graph of nodes. Broken JSON is read as far as its meaning is
// certain; time, size and depth are bounded.
package graph

import (
	"cmp"
	entities "html"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
)

// The names of the three syntaxes, as sources of values.
const (
	SourceJSONLD    = "JSON-LD"
	SourceMicrodata = "microdata"
	SourceRDFa      = "RDFa"
)

// Node is a thing of schema.org data, in any of the three syntaxes.
type Node struct {
	Types  []string // names in schema.org, without the address: Car
	Typed  bool     // has a type, perhaps of another vocabulary
	ID     string   // @id, itemid or resource; "" for none
	Props  map[string][]Value
	Syntax string     // JSON-LD, microdata or RDFa
	From   *html.Node // the element it stands on, nil in JSON-LD
	same   *Node      // the fuller node with the same id that stands for it
}

// Value is one value of a property: a text, or a node.
type Value struct {
	Text   string
	link   string // where the element points to, when it also has a text
	Node   *Node
	Number bool // written as a JSON number, where a dot can only be decimal
}

// Graph holds the schema.org data of a page.
type Graph struct {
	Roots []*Node
	nodes []*Node
	left  int // steps that may still be taken
}

// Limits of hostile data. The richest page seen has some 5,000 values in JSON-LD
// and 20,000 elements; an item or property of markup costs more steps than an
// element, because it is examined more closely.
const (
	maxJSONSteps   = 100_000
	maxMarkupSteps = 1_000_000
	propertySteps  = 50
	MaxDepth       = 64
	maxText        = 4096 // maximum bytes of one text
)

// New reads what the page holds in each of the three syntaxes, JSON-LD
// first: where two copies of a car differ, it is the one that sites maintain.
func New(doc *page.Document) *Graph {
	g := &Graph{left: maxJSONSteps}
	readJSONLD(doc, g)
	g.left = maxMarkupSteps
	readMicrodata(doc, g)
	g.left = maxMarkupSteps
	readRDFa(doc, g)
	g.link()
	return g
}

func (g *Graph) newNode(syntax string) *Node {
	n := &Node{Props: map[string][]Value{}, Syntax: syntax}
	g.nodes = append(g.nodes, n)
	return n
}

// spend uses up some of the remaining steps; false when none are left.
func (g *Graph) spend(steps int) bool {
	g.left -= steps
	return g.left > 0
}

func (n *Node) add(property string, values ...Value) {
	n.Props[property] = append(n.Props[property], values...)
}

// addTypes adds types by name, address or prefixed name; those of other
// vocabularies are left out.
func (n *Node) addTypes(names ...string) {
	for _, written := range names {
		n.Typed = true
		if name := Name(written); name != "" && !slices.Contains(n.Types, name) && len(n.Types) < 20 {
			n.Types = append(n.Types, name)
		}
	}
}

// Is reports one of the types of a node.
func (n *Node) Is(types ...string) bool {
	return slices.ContainsFunc(n.Types, func(t string) bool { return slices.Contains(types, t) })
}

// bare reports a node that is only a reference to another node.
func (n *Node) bare() bool { return !n.Typed && len(n.Props) == 0 }

// NodesOf returns the nodes among the values of the properties.
func (n *Node) NodesOf(properties ...string) (nodes []*Node) {
	for _, property := range properties {
		for _, v := range n.Props[property] {
			if v.Node != nil {
				nodes = append(nodes, v.Node.Full())
			}
		}
	}
	return nodes
}

// Full returns the node that stands for n.
func (n *Node) Full() *Node {
	if n.same != nil {
		return n.same
	}
	return n
}

// Name returns the name of a type or property in schema.org: of "Car",
// "schema:Car" and "http://schema.org/Car"; "" for one of another vocabulary.
func Name(written string) string {
	written = strings.TrimSpace(written)
	name := fromSchema(written)
	if strings.ContainsAny(name, "/:#? \t\r\n") || len(name) > 60 {
		return ""
	}
	return name
}

// fromSchema takes the address or prefix of schema.org off a text.
func fromSchema(s string) string {
	lower := strings.ToLower(dom.Head(s))
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

// VehicleTypes are the vehicle types of schema.org, and MotorVehicle, which sites
// invented.
var VehicleTypes = []string{"Car", "Vehicle", "MotorVehicle", "Motorcycle", "MotorizedBicycle", "BusOrCoach"}

// IsVehicle accepts the vehicle types, and a Product or a thing without type
// that has a sign of a vehicle.
func IsVehicle(n *Node) bool {
	if IsTypedVehicle(n) {
		return true
	}
	if n.Typed && !IsProduct(n) {
		return false
	}
	for property := range n.Props {
		if strings.HasPrefix(property, "vehicle") || property == "mileageFromOdometer" {
			return true
		}
	}
	return false
}

// IsTypedVehicle reports a node that is called a vehicle by its type.
func IsTypedVehicle(n *Node) bool {
	return n.Is(VehicleTypes...) || slices.Contains(VehicleTypes, n.Word("additionalType"))
}

// IsProduct reports a node of a product type.
func IsProduct(n *Node) bool { return n.Is("Product", "IndividualProduct") }

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

// agree reports whether two nodes can be halves of one thing: they have the same syntax and a
// common type, or one has no type, and no property has different texts in the two.
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

// Words returns the text of a value: a string, the name of a thing, the last
// part of a schema.org address. Any other address says nothing by itself.
func (v Value) Words() string {
	if v.Node != nil {
		n := v.Node.Full()
		for _, property := range []string{"name", "value"} {
			for _, inner := range n.Props[property] {
				if inner.Node == nil {
					return inner.Words()
				}
			}
		}
		if !IsAddress(n.ID) {
			return ""
		}
		return Name(n.ID)
	}
	if IsAddress(v.Text) {
		return Name(v.Text)
	}
	return claim.Clean(entities.UnescapeString(v.Text))
}

// IsAddress reports an address, also a shortened one: schema:InStock.
func IsAddress(s string) bool {
	return (strings.Contains(dom.Head(s), "://") || strings.HasPrefix(s, "schema:")) && !strings.ContainsAny(s, " \t\r\n")
}

// Address returns the link that a value is: of a picture or a page, as a text or
// as a node.
func (v Value) Address() string {
	if v.Node == nil {
		return strings.TrimSpace(entities.UnescapeString(cmp.Or(v.link, v.Text)))
	}
	n := v.Node.Full()
	for _, property := range []string{"contentUrl", "url", "image", "thumbnailUrl"} {
		for _, inner := range n.Props[property] {
			if link := strings.TrimSpace(cmp.Or(inner.link, inner.Text)); link != "" {
				return entities.UnescapeString(link)
			}
		}
	}
	return n.ID
}

// Word returns the first text among the values of properties, in their order.
func (n *Node) Word(properties ...string) string {
	for _, property := range properties {
		for _, v := range n.Props[property] {
			if word := v.Words(); word != "" {
				return word
			}
		}
	}
	return ""
}

// Only returns the text of a property when all its values say the same.
func (n *Node) Only(property string) (word string) {
	for _, v := range n.Props[property] {
		next := v.Words()
		if word != "" && next != "" && claim.Squash(next) != claim.Squash(word) {
			return ""
		}
		word = cmp.Or(word, next)
	}
	return word
}
