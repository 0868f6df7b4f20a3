package aitest

import (
	"slices"
	"strconv"
	"strings"
)

// The rule of the simulator's choice. A prompt has a block "listing" of one
// object (model, version, year, engine_cc, fuel, body) and a block
// "candidates" (id, label, engine_cc, fuel, year_from, year_to). A candidate
// is out when both sides know
//   - engine sizes that differ by more than 60 cc,
//   - fuels of different classes, or
//   - a year more than one outside the candidate's years;
//
// and when the model of its label (before the first " - ") shares less than
// half of its letter pairs with the listing's. Of those left the most alike is
// taken, the body's word counting a little. When two are equally good, or none
// is left, the answer is NONE.
const (
	maxCC    = 60
	minAlike = 0.5
	ahead    = 0.02
	none     = "NONE"
)

func choose(listing map[string]string, candidates []map[string]string) (id, reason string) {
	best, second := -1.0, -1.0
	var label string
	for _, c := range candidates {
		score, fits := alike(listing, c)
		switch {
		case !fits:
		case score > best:
			best, second, id, label = score, best, c["id"], c["label"]
		case score > second:
			second = score
		}
	}
	switch {
	case best < 0:
		return none, "no candidate agrees in model, engine size, fuel and year"
	case best-second < ahead:
		return none, "several candidates agree as well as each other"
	default:
		return id, "model, engine size, fuel and year agree best with " + label
	}
}

// alike scores a candidate, or rules it out.
func alike(listing, candidate map[string]string) (score float64, fits bool) {
	if a, b := number(listing["engine_cc"]), number(candidate["engine_cc"]); a > 0 && b > 0 && max(a-b, b-a) > maxCC {
		return 0, false
	}
	if a, b := fuelClass(listing["fuel"]), fuelClass(candidate["fuel"]); a != "" && b != "" && a != b {
		return 0, false
	}
	year, from, to := number(listing["year"]), number(candidate["year_from"]), number(candidate["year_to"])
	if year > 0 && (from > 0 && year < from-1 || to > 0 && year > to+1) {
		return 0, false
	}
	parts := strings.Split(candidate["label"], " - ")
	score = similarity(listing["model"], parts[0])
	if score < minAlike {
		return 0, false
	}
	if body := listing["body"]; body != "" && strings.EqualFold(body, parts[len(parts)-1]) {
		score += 0.1
	}
	return score, true
}

// similarity is the share of letter pairs that two names have in common.
func similarity(a, b string) float64 {
	x, y := pairs(a), pairs(b)
	if len(x)+len(y) == 0 {
		return 0
	}
	common := 0
	for _, pair := range x {
		if i := slices.Index(y, pair); i >= 0 {
			common++
			y = slices.Delete(y, i, i+1)
		}
	}
	return 2 * float64(common) / float64(len(x)+len(pairs(b)))
}

func pairs(name string) (list []string) {
	letters := []rune("^" + strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -/.:", r) {
			return -1
		}
		return r
	}, strings.ToUpper(name)) + "$")
	for i := range len(letters) - 1 {
		list = append(list, string(letters[i:i+2]))
	}
	return list
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// fuelClass folds a word for fuel; "" is not known.
func fuelClass(word string) string {
	word = strings.ToUpper(word)
	for _, class := range []struct{ has, is string }{
		{"DIESEL", "diesel"},
		{"HYBRID", "hybrid"},
		{"PETROL & ELECTRIC", "hybrid"},
		{"PETROL/ELECTRIC", "hybrid"},
		{"ELECTRIC", "electric"},
		{"PETROL", "petrol"},
		{"GASOLINE", "petrol"},
	} {
		if strings.Contains(word, class.has) {
			return class.is
		}
	}
	return ""
}

// obey looks for an instruction in what strangers wrote: the id or label of a
// candidate, or "first" or "last". A model that can be talked into things does
// what it finds.
func obey(listing map[string]string, candidates []map[string]string) (id, reason string, found bool) {
	for _, name := range []string{"model", "version", "model_code", "fuel", "body", "make"} {
		text := listing[name]
		words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" .,:;!'\"()", r) })
		for i, c := range candidates {
			first, last := i == 0 && slices.Contains(words, "first"), i == len(candidates)-1 && slices.Contains(words, "last")
			named := slices.Contains(words, strings.ToLower(c["id"])) || strings.Contains(strings.ToUpper(text), c["label"])
			if first || last || named {
				return c["id"], "as the listing orders: " + text, true
			}
		}
	}
	return "", "", false
}
