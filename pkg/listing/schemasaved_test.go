package listing

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/schemaorg"
	"ushuru/pkg/listing/schemaorg/graph"
)

// schemaOf reads a page by its schema.org data alone.
func schemaOf(t *testing.T, markup, url string) *Listing {
	t.Helper()
	doc, err := page.Parse(nil, FromFile([]byte(markup), url))
	if err != nil {
		t.Fatal(err)
	}
	found := &claim.List{}
	schemaorg.Read(doc, found)
	return resolve(found, doc)
}

func savedSchema(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(savedPages(t), "schemaorg", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestSavedDealerShapes(t *testing.T) {
	var shapes []struct {
		LD json.RawMessage `json:"ld"`
	}
	if err := json.Unmarshal([]byte(savedSchema(t, "dealer_shapes.json")), &shapes); err != nil {
		t.Fatal(err)
	}
	var expected []map[string]any
	expectations(t, savedPages(t), "schemaorg/dealer_shapes.json", &expected)
	for _, e := range expected {
		at := int(e["index"].(float64))
		doc, err := page.Parse(nil, FromFile([]byte(schemaPage(string(shapes[at].LD))), ""))
		if err != nil {
			t.Fatal(err)
		}
		found := schemaorg.Vehicles(doc)
		if len(found) != int(e["vehicles"].(float64)) {
			t.Fatalf("%d: %d vehicles", at, len(found))
		}
		n := found[0]
		for _, mileage := range n.NodesOf("mileageFromOdometer") {
			unit, hasUnit := e["mileage_unit"]
			if _, stands := e["mileage_value"]; stands && (!hasUnit || unit != nil || mileage.Word("unitCode")+mileage.Word("unitText") != "") {
				t.Errorf("%d: mileage unit %q, want %v", at, mileage.Word("unitCode")+mileage.Word("unitText"), unit)
			}
			if want, ok := e["mileage_value"]; ok && mileage.Word("value") != fmt.Sprint(want) {
				t.Errorf("%d: mileage value %q", at, mileage.Word("value"))
			}
		}
		if want, ok := e["mileage_text"]; ok && n.Word("mileageFromOdometer") != want {
			t.Errorf("%d: mileage %q", at, n.Word("mileageFromOdometer"))
		}
		if want, ok := e["name"]; ok && n.Word("name") != want {
			t.Errorf("%d: name %q, want %q", at, n.Word("name"), want)
		}
		if e["currency"] == nil {
			offers := append(n.NodesOf("offers"), n.NodesOf("offers")[0].NodesOf("priceSpecification")...)
			number := ""
			for _, offer := range offers {
				if values := offer.Props["price"]; len(values) > 0 {
					number = strings.ReplaceAll(values[0].Text, ",", "")
				}
			}
			if number != fmt.Sprint(e["price"]) {
				t.Errorf("%d: price %q, want %v", at, number, e["price"])
			}
			delete(e, "price") // an amount without a currency is no price of the car
		}
		if e["model"] == nil {
			delete(e, "model") // no property gives it, the name may
		}
		l := schemaOf(t, schemaPage(string(shapes[at].LD)), "")
		for _, key := range compare(t, l, e) {
			switch key {
			case "index", "vehicles", "traps", "name", "mileage_value", "mileage_unit", "mileage_text":
			default:
				t.Errorf("%d: %s is not compared", at, key)
			}
		}
	}
}

// sections cuts the file of examples of schema.org at its headings.
func sections(text string) (found []struct{ heading, body string }) {
	for line := range strings.Lines(text) {
		heading, ok := strings.CutSuffix(strings.TrimSpace(line), ":")
		switch {
		case ok && heading == strings.ToUpper(heading):
			found = append(found, struct{ heading, body string }{heading: heading})
		case strings.HasPrefix(line, "TYPES:"):
		case len(found) > 0:
			found[len(found)-1].body += line
		}
	}
	return found
}

func TestSavedExamplesOfSchemaOrg(t *testing.T) {
	var expected struct {
		Sections []string       `json:"sections_per_example"`
		Examples int            `json:"examples"`
		Bare     int            `json:"pre_markup_vehicles"`
		Car      map[string]any `json:"microdata_rdfa_and_json"`
	}
	expectations(t, savedPages(t), "schemaorg/schemaorg_sdo-automobile-examples.txt", &expected)
	found := sections(savedSchema(t, "schemaorg_sdo-automobile-examples.txt"))
	if len(found) != expected.Examples*len(expected.Sections) {
		t.Fatalf("%d sections", len(found))
	}
	for i, section := range found {
		if section.heading != expected.Sections[i%len(expected.Sections)] {
			t.Fatalf("section %d is %s", i, section.heading)
		}
		doc, err := page.Parse(nil, FromFile([]byte(section.body), "https://schema.org/Car"))
		if err != nil {
			t.Fatal(err)
		}
		cars := schemaorg.Vehicles(doc)
		if section.heading == "PRE-MARKUP" {
			if len(cars) != expected.Bare {
				t.Errorf("%d cars without markup", len(cars))
			}
			continue
		}
		if float64(len(cars)) != expected.Car["vehicles"] {
			t.Errorf("%s: %d cars, want %v", section.heading, len(cars), expected.Car["vehicles"])
			continue
		}
		compareExample(t, section.heading, schemaOf(t, section.body, "https://schema.org/Car"), cars[0], expected.Car)
	}
}

func compareExample(t *testing.T, heading string, l *Listing, n *graph.Node, want map[string]any) {
	t.Helper()
	want = maps.Clone(want)
	want["year"] = want["year_from_name"]
	want["make"], want["model"] = "VOLKSWAGEN", "GOLF" // of the name: no property gives them
	if !n.Is(want["type"].(string)) || n.Word("name") != want["name"] || n.NodesOf("vehicleEngine")[0].Word("name") != want["engine_text"] {
		t.Errorf("%s: %v %q", heading, n.Types, n.Word("name"))
	}
	if len(l.Car.Images) != 1 || !strings.HasSuffix(l.Car.Images[0], "/"+want["image"].(string)) {
		t.Errorf("%s: images %q", heading, l.Car.Images)
	}
	for _, key := range compare(t, l, want) {
		switch key {
		case "vehicles", "type", "name", "year_from_name", "engine_text", "image":
		default:
			t.Errorf("%s is not compared", key)
		}
	}
}

func TestSavedAutotraderCarIsTheOnlyOne(t *testing.T) {
	var expected map[string]any
	expectations(t, savedPages(t), "schemaorg/real_autotrader-classics_2020_Car_jsonld.html", &expected)
	markup := savedSchema(t, "real_autotrader-classics_2020_Car_jsonld.html")
	doc, err := page.Parse(nil, FromFile([]byte(markup), ""))
	if err != nil {
		t.Fatal(err)
	}
	cars := schemaorg.Vehicles(doc)
	if len(cars) != 1 || !cars[0].Is(expected["type"].(string)) || cars[0].Word("vehicleEngine") != expected["engine_text"] {
		t.Errorf("%d cars", len(cars))
	}
	for _, key := range compare(t, schemaOf(t, markup, expected["url"].(string)), expected) {
		switch key {
		case "vehicles", "type", "url", "engine_text", "traps":
		default:
			t.Errorf("%s is not compared", key)
		}
	}
}

func TestSavedBlocksAreDecoded(t *testing.T) {
	for _, name := range []string{
		"extruct_JSONLD_with_JS_comment.html", "extruct_JSONLD_with_control_characters.html",
		"extruct_JSONLD_with_control_characters_comment.html", "extruct_null_ld_mock.html", "extruct_jsonld_empty_item_test.html",
	} {
		var expected struct {
			Blocks   *int     `json:"json_ld_blocks"`
			Objects  int      `json:"json_ld_objects"`
			Vehicles int      `json:"vehicles"`
			Types    []string `json:"types"`
		}
		expectations(t, savedPages(t), "schemaorg/"+name, &expected)
		doc, err := page.Parse(nil, FromFile([]byte(savedSchema(t, name)), ""))
		if err != nil {
			t.Fatal(err)
		}
		blocks := 0
		for _, script := range doc.Tags[atom.Script] {
			if dom.Attr(script, "type") == "application/ld+json" {
				blocks++
			}
		}
		if expected.Blocks != nil && blocks != *expected.Blocks {
			t.Errorf("%s: %d blocks, want %d", name, blocks, *expected.Blocks)
		}
		g := graph.New(doc)
		var types []string
		objects := 0
		for _, root := range g.Roots {
			if root.Syntax == graph.SourceJSONLD {
				objects++
				types = append(types, root.Types...)
			}
		}
		if objects != expected.Objects || !reflect.DeepEqual(types, expected.Types) || len(schemaorg.Vehicles(doc)) != expected.Vehicles {
			t.Errorf("%s: %d objects %q, want %d %q", name, objects, types, expected.Objects, expected.Types)
		}
	}
}

// tree writes a node as extruct writes microdata.
func tree(n *graph.Node) map[string]any {
	properties := map[string]any{}
	for property, values := range n.Props {
		all := make([]any, 0, len(values))
		for _, v := range values {
			if v.Node != nil {
				all = append(all, tree(v.Node))
			} else {
				all = append(all, v.Text)
			}
		}
		properties[property] = any(all)
		if len(all) == 1 {
			properties[property] = all[0]
		}
	}
	return map[string]any{"type": "http://schema.org/" + strings.Join(n.Types, " "), "properties": properties}
}

func TestSavedMicrodataGivesTheTreesOfExtruct(t *testing.T) {
	for _, name := range []string{"extruct_product", "extruct_product-ref"} {
		doc, err := page.Parse(nil, FromFile([]byte(savedSchema(t, name+".html")), ""))
		if err != nil {
			t.Fatal(err)
		}
		var expected struct{ Tree string }
		expectations(t, savedPages(t), "schemaorg/"+name+".html", &expected)
		var want, got []any
		if err := json.Unmarshal([]byte(savedSchema(t, expected.Tree)), &want); err != nil {
			t.Fatal(err)
		}
		for _, root := range graph.New(doc).Roots {
			if len(root.Types) > 0 {
				got = append(got, tree(root))
			}
		}
		if !reflect.DeepEqual(got, want) {
			one, _ := json.MarshalIndent(got, "", " ")
			t.Errorf("%s: %s", name, one)
		}
	}
}

func TestSavedProductsAreNoVehicles(t *testing.T) {
	for _, name := range []string{"extruct_product.html", "extruct_product-ref.html", "extruct_product_microdata.html"} {
		var want struct {
			Name, Brand, Price, Currency string
			Vehicles                     int
		}
		expectations(t, savedPages(t), "schemaorg/"+name, &want)
		doc, err := page.Parse(nil, FromFile([]byte(savedSchema(t, name)), ""))
		if err != nil {
			t.Fatal(err)
		}
		found := schemaorg.Vehicles(doc)
		roots := graph.New(doc).Roots
		n := roots[slices.IndexFunc(roots, func(n *graph.Node) bool { return n.Is("Product") })]
		offer := n.NodesOf("offers")[0]
		got := []string{n.Word("name"), n.Word("brand"), offer.Word("price"), offer.Word("priceCurrency")}
		if len(found) != want.Vehicles || !reflect.DeepEqual(got, []string{want.Name, want.Brand, want.Price, want.Currency}) {
			t.Errorf("%s: %d vehicles, %q", name, len(found), got)
		}
		if l := schemaOf(t, savedSchema(t, name), ""); len(l.Fields) != 0 {
			t.Errorf("%s: claims %+v", name, l.Fields)
		}
	}
}
