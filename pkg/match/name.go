package match

import (
	"slices"
	"strings"
	"sync"

	"ushuru/pkg/chassis"
	"ushuru/pkg/match/naming"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// relation compares a label's model with the name that a listing gives.
type relation int

const (
	same     relation = iota // the model named
	form                     // it with or without a body word (HIACE VAN), or misspelt on one side
	notGiven                 // the listing names no model
	sibling                  // a longer or shorter name: JIMNY and JIMNY SIERRA
	unknown                  // the listing's name is none that the authority has for the make
	other                    // the authority has the listing's name as another model
)

// maxNameWords is the longest nameplate looked for, in words.
const maxNameWords = 6

// name is what a listing calls the car.
type name struct {
	entries  *catalogue.Entries
	suffixes map[string]string // see index
	words    []string          // of model and grade, without the make
	model    int               // so many of the words are the model's
	mentions []mention         // the authority's nameplates found in words, in their order
	nearest  func() []string   // see nearestTo
}

// mention is a nameplate of the authority that stands in words[from:to], in full
// or as its last word.
type mention struct {
	from, to int
	key      string // as chassis.NameKey folds it
}

// readName finds the make's nameplates in the listing's model and grade: whole
// words, spaces and hyphens ignored, the longest first, so that N-BOX is not
// found in N-BOX CUSTOM, nor CARAVAN in NV350 CARAVAN. Where there is none, a
// word that only one nameplate ends with stands for it (FIELDER).
func readName(car vehicle.Car, x *index) name {
	n := name{entries: x.entries, suffixes: x.suffixes}
	n.nearest = sync.OnceValue(func() []string { return n.nearestTo(x.nameplates) })
	model := naming.Latin(naming.Words(car.Model))
	n.words = withoutMake(withoutNoise(model), car.Make, n.entries.Make.Name)
	if len(n.words) == 1 && len(model) == 2 && n.entries.HasModel([]byte(model[0]+model[1])) {
		n.words = model // HONDA E, MAZDA 3
	}
	n.model = len(n.words)
	if n.model == 0 {
		return n
	}
	n.words = append(slices.Clip(n.words), naming.Latin(naming.Words(car.Version))...)
	n.findPlates()
	if len(n.mentions) == 0 {
		n.findTails()
	}
	return n
}

func (n *name) findPlates() {
	key := make([]byte, 0, 64)
	covered := 0
	for from := range n.words {
		key = key[:0]
		longest, size := 0, 0
		for to := from; to < min(from+maxNameWords, len(n.words)); to++ {
			key = append(key, n.words[to]...)
			if n.entries.HasModel(key) {
				longest, size = to+1, len(key)
			}
		}
		if longest > covered {
			n.mentions = append(n.mentions, mention{from, longest, string(key[:size])})
			covered = longest
		}
	}
}

func (n *name) findTails() {
	for i, word := range n.words[:n.model] {
		if key, ok := n.suffixes[word]; ok {
			n.mentions = append(n.mentions, mention{i, i + 1, key})
		}
	}
}

// withoutMake drops the make's name in front of a model.
func withoutMake(words []string, names ...string) []string {
	for _, mk := range names {
		if len(words) == 0 || !strings.HasPrefix(chassis.Normalise(mk), words[0]) {
			continue
		}
		if prefix := naming.Words(mk); len(words) >= len(prefix) && slices.Equal(words[:len(prefix)], prefix) {
			return words[len(prefix):]
		}
	}
	return words
}

// withoutNoise drops years, prices and selling words before a name.
func withoutNoise(words []string) []string {
	for len(words) > 0 && (noiseWords[words[0]] || len(words[0]) >= 4 && naming.Digits(words[0]) == words[0]) {
		words = words[1:]
	}
	return words
}

// noiseWords stand before names in titles.
var noiseWords = map[string]bool{
	"USED": true, "NEW": true, "FOR": true, "SALE": true, "JAPANESE": true, "JDM": true, "CHEAP": true, "HOT": true,
	"BEST": true, "PRICE": true, "USD": true, "US": true, "JPY": true, "FOB": true, "CIF": true, "CAR": true, "VEHICLE": true,
}

// relationTo compares a label's model with the name.
func (n *name) relationTo(model string) relation { return n.relationToWords(naming.Words(model)) }

func (n *name) relationToWords(label []string) relation {
	if n.model == 0 {
		return notGiven
	}
	if len(n.mentions) == 0 {
		return n.relationWithoutPlate(label)
	}
	first := n.words[n.mentions[0].from:n.mentions[0].to]
	joined := strings.Join(label, "")
	switch {
	case n.mentions[0].key == joined:
		if strings.Join(first, "") == joined {
			return same
		}
		return form // a tail
	case n.isForm(first, label):
		return form
	case n.isSibling(first, label):
		return sibling
	default:
		return other
	}
}

// isForm reports whether two nameplates differ by a body word that one of them
// lacks.
func (n *name) isForm(first, label []string) bool {
	bare, bareLabel := withoutBody(first), withoutBody(label)
	return equalJoined(bare, bareLabel) && (len(bare) == len(first) || len(bareLabel) == len(label))
}

// isSibling reports whether one nameplate holds the other, or the label's stands
// elsewhere in the listing's name.
func (n *name) isSibling(first, label []string) bool {
	for _, p := range n.mentions[1:] {
		if p.key == strings.Join(label, "") {
			return true
		}
	}
	return holds(first, label) || holds(label, first)
}

// relationWithoutPlate compares when the name holds no nameplate of the
// authority's: it may begin with a label's name less its body word (AD for AD
// VAN), or be misspelt.
func (n *name) relationWithoutPlate(label []string) relation {
	bare := withoutBody(label)
	if len(bare) < len(label) && len(n.words) >= len(bare) && equalJoined(n.words[:len(bare)], bare) {
		return form
	}
	nearest := n.nearest()
	switch {
	case slices.Contains(nearest, strings.Join(label, "")):
		if len(nearest) == 1 {
			return form
		}
		return unknown
	case len(nearest) > 0:
		return other // a misspelt name of another car
	default:
		return unknown
	}
}

// withoutBody drops the body words at a name's end, but never the whole name.
func withoutBody(words []string) []string {
	for len(words) > 1 && slices.Contains(bodyWords, words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	return words
}

// holds reports whether inner stands in outer as a run of whole words.
func holds(outer, inner []string) bool {
	for i := 0; i+len(inner) <= len(outer); i++ {
		if slices.Equal(outer[i:i+len(inner)], inner) {
			return true
		}
	}
	return false
}

func equalJoined(a, b []string) bool {
	return slices.Equal(a, b) || strings.Join(a, "") == strings.Join(b, "")
}

// nearestTo lists the make's nameplates, as chassis.NameKey folds them, that
// the listing's name most nearly spells; none when it is far from all. It is
// used for names only: a chassis code is never accepted by similarity.
func (n *name) nearestTo(plates []nameplate) []string {
	best := maxEdits + 1
	var names []string
	for _, plate := range plates {
		edits, near := n.edits(plate.key)
		if !near || edits > best || slices.Contains(names, plate.key) {
			continue
		}
		if edits < best {
			best, names = edits, nil
		}
		names = append(names, plate.key)
	}
	return names
}

// maxEdits is the most typing errors that a name may hold; shorter names fewer.
const maxEdits = 2

// edits counts the typing errors between the name's first words and a
// nameplate. Short names and names that differ in a digit are not near:
// RX350 and RX450 are two cars.
func (n *name) edits(key string) (int, bool) {
	allowed := min(len(key)/4, maxEdits)
	if len(key) < 5 {
		allowed = 0
	}
	for to := 1; to <= min(maxNameWords, len(n.words)); to++ {
		written := strings.Join(n.words[:to], "")
		if d := naming.Distance(written, key); d <= allowed && naming.Digits(written) == naming.Digits(key) {
			return d, true
		}
	}
	return 0, false
}
