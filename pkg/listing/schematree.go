package listing

import (
	"encoding/json"
	"html"
	"slices"
	"strings"
)

// node is an object of schema.org data.
type node = map[string]any

// thing is a vehicle found in schema.org data, with the offer that it hangs on
// when the offer does not hang on it.
type thing struct {
	node  node
	offer node
	list  bool // an item of a list
}

// graph holds the schema.org data of a page.
type graph struct {
	byID    map[string]node
	visited map[string]bool
	things  []thing
	steps   int // taken by collect
}

// Limits of hostile data.
const (
	maxSchemaDepth  = 24
	maxSchemaThings = 200
	maxSchemaSteps  = 100_000 // references can make a small graph an endless tree
)

// newGraph collects the vehicles of decoded blocks, in document order.
func newGraph(blocks []any) *graph {
	g := &graph{byID: map[string]node{}, visited: map[string]bool{}}
	for _, block := range blocks {
		g.index(block, 0)
	}
	for _, block := range blocks {
		g.collect(block, nil, false, 0)
	}
	return g
}

// index remembers nodes by @id; of two the fuller one.
func (g *graph) index(value any, depth int) {
	if depth > maxSchemaDepth {
		return
	}
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			g.index(item, depth+1)
		}
	case node:
		if id, ok := v["@id"].(string); ok && len(v) > len(g.byID[id]) {
			g.byID[id] = v
		}
		for _, item := range v {
			g.index(item, depth+1)
		}
	}
}

// resolve follows an @id reference once.
func (g *graph) resolve(n node) node {
	if id, ok := n["@id"].(string); ok && len(n) == 1 && g.byID[id] != nil {
		return g.byID[id]
	}
	return n
}

// containers are the properties under which a page's own car can stand; it
// never stands under isSimilarTo, isRelatedTo and the like.
var containers = []string{
	"@graph", "mainEntity", "mainEntityOfPage", "itemOffered", "makesOffer", "offers", "itemListElement", "item",
}

// collect walks containers only: a car inside another car is no listing.
func (g *graph) collect(value any, offer node, list bool, depth int) {
	g.steps++
	if depth > maxSchemaDepth || len(g.things) >= maxSchemaThings || g.steps > maxSchemaSteps {
		return
	}
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			g.collect(item, offer, list, depth+1)
		}
	case node:
		v = g.resolve(v)
		if isVehicle(v) {
			g.keep(thing{v, offer, list})
			return
		}
		if isType(v, "Offer") {
			offer = v
		}
		for _, key := range containers {
			if child, ok := v[key]; ok {
				g.collect(child, offer, list || key == "itemListElement", depth+1)
			}
		}
	}
}

// keep adds a vehicle once, whether it is repeated by @id or by VIN.
func (g *graph) keep(t thing) {
	for _, key := range []string{"@id", "vehicleIdentificationNumber"} {
		if id, _ := t.node[key].(string); id != "" {
			if g.visited[key+id] {
				return
			}
			g.visited[key+id] = true
		}
	}
	g.things = append(g.things, t)
}

// isType reports one of the types of a node, in any spelling: "Car",
// "schema:Car", "https://schema.org/Car", alone or in an array.
func isType(n node, names ...string) bool {
	for _, value := range list(n["@type"]) {
		kind, _ := value.(string)
		kind = kind[strings.LastIndexAny(kind, "/:#")+1:]
		if slices.Contains(names, kind) {
			return true
		}
	}
	return false
}

// isVehicle accepts the vehicle types, and a Product with a sign of a vehicle.
func isVehicle(n node) bool {
	if isType(n, "Car", "Vehicle", "MotorVehicle", "Motorcycle", "MotorizedBicycle", "BusOrCoach") {
		return true
	}
	if !isType(n, "Product") {
		return false
	}
	for key := range n {
		if strings.HasPrefix(key, "vehicle") || key == "mileageFromOdometer" {
			return true
		}
	}
	return false
}

// list makes one value or an array a list.
func list(value any) []any {
	switch v := value.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{value}
}

// words returns the text of a value: a string, a number, the name of an object,
// the first of an array, the last part of a schema.org address.
func (g *graph) words(value any) string {
	switch v := value.(type) {
	case string:
		if strings.HasPrefix(v, "https://schema.org/") || strings.HasPrefix(v, "http://schema.org/") {
			v = v[strings.LastIndexByte(v, '/')+1:]
		}
		return clean(html.UnescapeString(v))
	case json.Number:
		return v.String()
	case []any:
		if len(v) > 0 {
			if _, nested := v[0].([]any); !nested {
				return g.words(v[0])
			}
		}
	case node:
		for _, key := range []string{"name", "@value", "value"} {
			if s, ok := g.resolve(v)[key].(string); ok {
				return clean(html.UnescapeString(s))
			}
		}
	}
	return ""
}
