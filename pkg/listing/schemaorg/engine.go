package schemaorg

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/schemaorg/graph"
)

// claimEngine claims the displacement: a quantity of the car or its engine, else
// a text that names one with its unit, last the car's own name. When the parts
// of one source differ, it says nothing.
func claimEngine(n *graph.Node, c *claim.List) {
	engines := n.NodesOf("vehicleEngine")
	var quantities []string
	for _, part := range append([]*graph.Node{n}, engines...) {
		for _, v := range part.Props["engineDisplacement"] {
			quantities = append(quantities, quantity(v, displacementUnits))
		}
	}
	texts := make([]string, 0, len(n.Props["vehicleEngine"])+2*len(engines))
	for _, v := range n.Props["vehicleEngine"] {
		texts = append(texts, v.Words())
	}
	for _, engine := range engines {
		texts = append(texts, engine.Word("description"), engine.Word("engineType"))
	}
	for _, source := range [][]string{quantities, texts, {sizeInName.FindString(n.Word("name"))}} {
		if text := oneEngine(source); text != "" {
			c.Add(claim.FieldEngine, text)
			return
		}
	}
}

// sizeInName matches the size of the engine in the name of a car.
var sizeInName = regexp.MustCompile(`(?i)\b\d[\d,.]*\s?(?:cc|ccm|l|litres?|liters?)\b`)

// oneEngine returns the text that gives the displacement most exactly; "" when
// two differ by more than rounding. A text without unit gives none.
func oneEngine(texts []string) (best string) {
	var least, most int
	for _, text := range texts {
		cc, ok := claim.ParseEngine(text)
		if !ok || !strings.ContainsFunc(text, unicode.IsLetter) {
			continue
		}
		if best == "" || cc%100 != 0 && least%100 == 0 && most%100 == 0 {
			best = text
		}
		if least == 0 || cc < least {
			least = cc
		}
		most = max(most, cc)
	}
	if most-least > 60 {
		return ""
	}
	return best
}

// claimMileage claims the first mileage with a unit, kilometres before miles.
func claimMileage(n *graph.Node, c *claim.List) {
	var miles string
	for _, v := range n.Props["mileageFromOdometer"] {
		switch text := quantity(v, mileageUnits); {
		case strings.HasSuffix(text, " miles"):
			miles = cmp.Or(miles, text)
		case text != "":
			c.Add(claim.FieldMileage, text)
			return
		}
	}
	c.Add(claim.FieldMileage, miles)
}

// plugIn is a word for cars that can be charged.
var plugIn = regexp.MustCompile(`(?i)plug[\s-]?in|(?:^|[^\p{L}])phe?v(?:$|[^\p{L}])|プラグイン`)

// fuelAddress takes the fuel out of an address of an encyclopedia.
var fuelAddress = regexp.MustCompile(`(?i)^https?://\S*[/#](petrol|gasoline|diesel|electric|hybrid|hydrogen|lpg|cng)[^/]*$`)

// claimFuel claims the one word for the fuel of a car, that of the car before
// that of its engines. Two words can mean a hybrid, a plug-in or a car that
// burns both, so they are none; and a car that is called a plug-in anywhere is
// no plain hybrid.
func claimFuel(car *carEntry, c *claim.List) {
	charged := false
	for _, n := range car.copies {
		charged = charged || plugIn.MatchString(strings.Join([]string{
			n.Word("name"), n.Word("model"), n.Word("vehicleConfiguration"), n.Word("vehicleEngine"),
		}, " / "))
	}
	for _, n := range car.copies {
		c.Source = n.Syntax
		words := fuelWords(n)
		if len(words) == 0 {
			for _, engine := range n.NodesOf("vehicleEngine") {
				words = append(words, fuelWords(engine)...)
			}
		}
		if len(words) == 0 {
			words = slices.Compact(fuelInName.FindAllString(n.Word("vehicleEngine"), -1))
		}
		fuel, ok := oneFuel(words)
		switch {
		case !ok:
			c.Reject(claim.FieldFuel, strings.Join(words, ", "), "several_fuels")
		case charged && fuel != "" && !plugIn.MatchString(fuel) && !strings.EqualFold(fuel, "electric"):
			c.Reject(claim.FieldFuel, fuel, "plug_in")
			c.Add(claim.FieldFuel, "Plug-in Hybrid")
		default:
			c.Add(claim.FieldFuel, fuel)
		}
	}
}

// fuelInName matches the fuel in the name of an engine.
var fuelInName = regexp.MustCompile(`(?i)\b(?:plug-in hybrid|hybrid|petrol|gasoline|diesel|electric)\b`)

func fuelWords(n *graph.Node) (words []string) {
	for _, v := range n.Props["fuelType"] {
		word := v.Words()
		if m := fuelAddress.FindStringSubmatch(v.Address()); m != nil && word == "" {
			word = m[1]
		}
		if word = claim.ValueOf(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// oneFuel returns the word that tells most: a plug-in, a hybrid, or the only one.
func oneFuel(words []string) (fuel string, ok bool) {
	for _, word := range words {
		if plugIn.MatchString(word) {
			return word, true
		}
	}
	for _, word := range words {
		if strings.Contains(strings.ToLower(word), "hybrid") {
			return word, true
		}
	}
	for _, word := range words {
		if claim.Squash(word) != claim.Squash(words[0]) {
			return "", false
		}
	}
	return cmp.Or(words...), true
}
