package schemaorg

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/schemaorg/graph"
	"ushuru/pkg/money"
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

// The units of quantities by their codes (UN/CEFACT Recommendation 20) and the
// words that stand in their place.
var (
	mileageUnits = map[string]string{
		"KMT": "km", "KM": "km", "KMS": "km", "КМ": "km",
		"KILOMETER": "km", "KILOMETERS": "km", "KILOMETRE": "km", "KILOMETRES": "km",
		"SMI": "miles", "MI": "miles", "MILE": "miles", "MILES": "miles",
	}
	displacementUnits = map[string]string{
		"CMQ": "cc", "CC": "cc", "CCM": "cc", "CM3": "cc", "CM": "cc", // squash drops the ³ of cm³
		"LTR": "litres", "L": "litres", "LITER": "litres", "LITERS": "litres", "LITRE": "litres", "LITRES": "litres",
	}
)

var quantityForm = regexp.MustCompile(`^([\d.,'’\s]*\d)\s*(\p{L}[\p{L}\d³]*)\.?$`)

// quantity returns "1490 cc" of a QuantitativeValue or a text with a unit that
// is known; a text that holds more is returned as it is. A number without unit
// is nothing.
func quantity(v graph.Value, units map[string]string) string {
	if v.Node == nil {
		text := v.Words()
		m := quantityForm.FindStringSubmatch(text)
		switch {
		case v.Number, strings.Trim(text, "0123456789., '’") == "":
			return ""
		case m == nil:
			return text
		}
		return inUnit(graph.Value{Text: m[1]}, units[claim.Squash(m[2])])
	}
	n := v.Node.Full()
	values := n.Props["value"]
	if len(values) != 1 || values[0].Node != nil {
		return ""
	}
	if unit := cmp.Or(units[claim.Squash(n.Word("unitCode"))], units[claim.Squash(n.Word("unitText"))]); unit != "" {
		return inUnit(values[0], unit)
	}
	if n.Word("unitCode", "unitText") != "" {
		return ""
	}
	return quantity(values[0], units)
}

// inUnit writes a number with its unit as the readers of fields know it.
func inUnit(v graph.Value, unit string) string {
	if unit == "litres" {
		return inLitres(v.Text)
	}
	number, ok := wholeNumber(v)
	if !ok || unit == "" {
		return ""
	}
	whole, _, _ := strings.Cut(number, ".")
	return whole + " " + unit
}

var litreNumber = regexp.MustCompile(`^(\d{1,2})(?:[.,](\d{1,3}))?$`)

// inLitres writes litres with one decimal at least, or exact ones as 1498 cc.
func inLitres(number string) string {
	m := litreNumber.FindStringSubmatch(strings.TrimSpace(number))
	switch {
	case m == nil:
		return ""
	case len(m[2]) == 3:
		return strings.TrimLeft(m[1]+m[2], "0") + " cc"
	}
	return m[1] + "." + cmp.Or(m[2], "0") + " litres"
}

// wholeNumber reads a number that counts thousands, as "24500" or "24500.5". A
// JSON number such as 24.500 may be either, and is none.
func wholeNumber(v graph.Value) (string, bool) {
	s := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(v.Text), ",-"), ".-")
	number, isGrouped, ok := claim.ParseNumber(s)
	if !ok || isGrouped && v.Number && !strings.Contains(s, ",") {
		return "", false
	}
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.No, r) }) {
		return "", false // the mark of a footnote is no digit: 6180¹
	}
	_, err := money.ParseNumber(number)
	return number, err == nil
}
