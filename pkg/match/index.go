package match

import (
	"slices"
	"strings"
	"sync"

	"ushuru/pkg/chassis"
	"ushuru/pkg/tra"
)

// index prepares one make's labels for looking up by likeness.
type index struct {
	entries *tra.Entries
	labels  []indexed         // in the order of entries.Labels
	byText  map[string]int    // a label's place in labels
	plates  []nameplate       // each model's name once
	grams   map[string][]int  // the plates that hold a trigram
	tails   map[string]string // a last word that stands in one nameplate only → that model
}

// indexed is a label with what is known of it.
type indexed struct {
	tra.Label
	Fact
	plate int // its model's place in plates
}

// nameplate is a model's name.
type nameplate struct {
	words []string
	key   string // as chassis.NameKey folds it
	grams int    // number of its trigrams
}

func newIndex(entries *tra.Entries, facts Facts) *index {
	x := &index{
		entries: entries, labels: make([]indexed, 0, len(entries.Labels)), byText: make(map[string]int, len(entries.Labels)),
		grams: map[string][]int{},
	}
	at := map[string]int{}
	for i, label := range entries.Labels {
		plate, seen := at[label.Model]
		if !seen {
			plate = len(x.plates)
			at[label.Model] = plate
			x.addPlate(label.Model)
		}
		x.byText[label.Text] = i
		x.labels = append(x.labels, indexed{label, facts.of(label), plate})
	}
	x.tails = tails(x.plates)
	return x
}

func (x *index) addPlate(model string) {
	key := chassis.NameKey(model)
	grams := trigrams(key)
	for _, gram := range grams {
		x.grams[gram] = append(x.grams[gram], len(x.plates))
	}
	x.plates = append(x.plates, nameplate{splitWords(model), key, len(grams)})
}

// fact is what is known of a label of the make.
func (x *index) fact(label tra.Label) Fact {
	if i, ok := x.byText[label.Text]; ok {
		return x.labels[i].Fact
	}
	return Fact{}
}

// tails finds the last words by which sellers call a car for short: FIELDER,
// AXIO, PRADO. A word counts when one nameplate alone ends with it, no other
// holds it, it is long enough to be no grade, and it names no body.
func tails(plates []nameplate) map[string]string {
	holders := map[string]int{}
	for _, p := range plates {
		for _, word := range p.words {
			holders[word]++
		}
	}
	found := map[string]string{}
	for _, p := range plates {
		last := p.words
		if len(last) == 0 {
			continue
		}
		word := last[len(last)-1]
		if len(p.words) > 1 && holders[word] == 1 && len(word) >= 4 && !bodyWords[word] && !gradeWords[word] {
			found[word] = p.key
		}
	}
	return found
}

// gradeWords end nameplates and are grades of other cars too.
var gradeWords = map[string]bool{
	"CUSTOM": true, "SPORT": true, "SPORTS": true, "CROSS": true, "TOURING": true, "HYBRID": true, "PLUS": true, "MINI": true,
	"CARGO": true, "SPACE": true, "SMILE": true, "OPEN": true, "SLASH": true, "PHEV": true, "ALPHA": true, "EXPERT": true,
	"CITY": true, "SPORTBACK": true, "CROSSOVER": true, "EVOLUTION": true, "OUTBACK": true,
}

// trigrams cuts a key into runs of three characters, its ends marked, each
// once.
func trigrams(key string) []string {
	runes := []rune("  " + key + " ")
	var grams []string
	for i := 0; i+3 <= len(runes); i++ {
		if gram := string(runes[i : i+3]); !slices.Contains(grams, gram) {
			grams = append(grams, gram)
		}
	}
	return grams
}

// shelf keeps the indexes of one catalogue, each made when first needed.
type shelf struct {
	facts Facts
	mu    sync.Mutex
	made  map[*tra.Entries]*index
}

func (s *shelf) of(entries *tra.Entries) *index {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.made[entries]
	if !ok {
		x = newIndex(entries, s.facts)
		s.made[entries] = x
	}
	return x
}

// hybridWords say in a car's name that it is a hybrid.
var hybridWords = []string{"HYBRID", "HV", "PHV", "PHEV", "HEV", "EPOWER", "ハイブリッド", "ハイブリット"}

// namesHybrid says whether a word of the name is one of hybridWords.
func namesHybrid(words []string) bool {
	for i, word := range words {
		if slices.Contains(hybridWords, word) || strings.HasPrefix(word, "ハイブリッ") {
			return true
		}
		if word == "POWER" && i > 0 && words[i-1] == "E" {
			return true
		}
	}
	return false
}
