package listing

import (
	"regexp"
	"strings"
	"unicode"
)

// claimEngine claims the displacement: a quantity of the car or its engine, else
// a text that names one with its unit, last the car's own name. When the parts
// of one source differ, it says nothing.
func claimEngine(n *node, c *claims) {
	engines := n.nodesOf("vehicleEngine")
	var quantities []string
	for _, part := range append([]*node{n}, engines...) {
		for _, v := range part.props["engineDisplacement"] {
			quantities = append(quantities, quantity(v, displacementUnits))
		}
	}
	texts := make([]string, 0, len(n.props["vehicleEngine"])+2*len(engines))
	for _, v := range n.props["vehicleEngine"] {
		texts = append(texts, v.words())
	}
	for _, engine := range engines {
		texts = append(texts, engine.word("description"), engine.word("engineType"))
	}
	for _, source := range [][]string{quantities, texts, {n.word("name")}} {
		if text := oneEngine(source); text != "" {
			c.add(fieldEngine, text)
			return
		}
	}
}

// oneEngine returns the text that gives the displacement most exactly; "" when
// two differ by more than rounding. A text without unit gives none.
func oneEngine(texts []string) (best string) {
	var least, most int
	for _, text := range texts {
		cc, ok := readEngine(text)
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
func claimMileage(n *node, c *claims) {
	var miles string
	for _, v := range n.props["mileageFromOdometer"] {
		switch text := quantity(v, mileageUnits); {
		case strings.HasSuffix(text, " miles"):
			miles = firstOf(miles, text)
		case text != "":
			c.add(fieldMileage, text)
			return
		}
	}
	c.add(fieldMileage, miles)
}

// plugIn is a word for cars that can be charged.
var plugIn = regexp.MustCompile(`(?i)plug[\s-]?in|(?:^|[^\p{L}])phe?v(?:$|[^\p{L}])|プラグイン`)

// fuelAddress takes the fuel out of an address of an encyclopedia.
var fuelAddress = regexp.MustCompile(`(?i)^https?://\S*[/#](petrol|gasoline|diesel|electric|hybrid|hydrogen|lpg|cng)[^/]*$`)

// claimFuel claims the one word for the fuel of a car, that of the car before
// that of its engines. Two words can mean a hybrid, a plug-in or a car that
// burns both, so they are none; and a car that is called a plug-in anywhere is
// no plain hybrid.
func claimFuel(car *schemaCar, c *claims) {
	charged := false
	for _, n := range car.copies {
		charged = charged || plugIn.MatchString(strings.Join([]string{
			n.word("name"), n.word("model"), n.word("vehicleConfiguration"), n.word("vehicleEngine"),
		}, " / "))
	}
	for _, n := range car.copies {
		c.source = n.syntax
		words := fuelWords(n)
		if len(words) == 0 {
			for _, engine := range n.nodesOf("vehicleEngine") {
				words = append(words, fuelWords(engine)...)
			}
		}
		fuel, ok := oneFuel(words)
		switch {
		case !ok:
			c.reject(fieldFuel, strings.Join(words, ", "), "several fuels")
		case charged && fuel != "" && !plugIn.MatchString(fuel) && !strings.EqualFold(fuel, "electric"):
			c.reject(fieldFuel, fuel, "the car is called a plug-in")
			c.add(fieldFuel, "Plug-in Hybrid")
		default:
			c.add(fieldFuel, fuel)
		}
	}
}

func fuelWords(n *node) (words []string) {
	for _, v := range n.props["fuelType"] {
		word := v.words()
		if m := fuelAddress.FindStringSubmatch(v.address()); m != nil && word == "" {
			word = m[1]
		}
		if word = said(word); word != "" {
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
		if squash(word) != squash(words[0]) {
			return "", false
		}
	}
	return firstOf(words...), true
}
