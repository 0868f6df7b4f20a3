package match

import (
	"math/bits"
	"slices"
	"sync"

	"ushuru/pkg/chassis"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/match/naming"
	"ushuru/pkg/tra/catalogue"
)

// index prepares one make's labels for a search by similarity.
type index struct {
	entries    *catalogue.Entries
	labels     []indexed         // in the order of entries.Labels
	byText     map[string]int    // a label's place in labels
	byBase     map[string][]int  // the labels of a model apart from its drive, see baseModel
	nameplates []nameplate       // each model's name once
	grams      map[gram][]int    // the plates that hold a trigram
	suffixes   map[string]string // a last word that stands in one nameplate only → that model
}

// indexed is a label with what is known of it.
type indexed struct {
	catalogue.Label
	facts.Fact
	nameplate int         // its model's place in plates
	body      string      // class of its body
	fuel      facts.Fuel  // of its fact, or what the label says
	codes     []signature // of its codes
}

// nameplate is a model's name.
type nameplate struct {
	words []string
	key   string // as chassis.NameKey folds it
	base  string // see baseModel
	grams int    // number of its trigrams
}

func newIndex(entries *catalogue.Entries, known facts.Facts) *index {
	x := &index{
		entries: entries, labels: make([]indexed, 0, len(entries.Labels)), byText: make(map[string]int, len(entries.Labels)),
		grams: map[gram][]int{}, byBase: map[string][]int{},
	}
	at := map[string]int{}
	for i, label := range entries.Labels {
		nameplate, seen := at[label.Model]
		if !seen {
			nameplate = len(x.nameplates)
			at[label.Model] = nameplate
			x.addNameplate(label.Model)
		}
		x.byText[label.Text] = i
		x.labels = append(x.labels, prepare(label, known.Of(label), nameplate))
		base := x.nameplates[nameplate].base
		x.byBase[base] = append(x.byBase[base], i)
	}
	x.suffixes = suffixes(x.nameplates)
	return x
}

func prepare(label catalogue.Label, fact facts.Fact, nameplate int) indexed {
	i := indexed{Label: label, Fact: fact, nameplate: nameplate, body: bodyClass(label.Body), fuel: labelFuel(label, fact)}
	for _, code := range label.Codes {
		i.codes = append(i.codes, signatureOf(code))
	}
	return i
}

// signature is the set of characters of a code.
type signature uint64

func signatureOf(code string) signature {
	var s signature
	for i := range len(code) {
		s |= 1 << (code[i] % 64)
	}
	return s
}

// near reports whether two codes can be at most two typing errors apart.
func (s signature) near(o signature) bool {
	return bits.OnesCount64(uint64(s&^o)) <= 2 && bits.OnesCount64(uint64(o&^s)) <= 2
}

func (x *index) addNameplate(model string) {
	key := chassis.NameKey(model)
	grams := trigrams(key)
	for _, gram := range grams {
		x.grams[gram] = append(x.grams[gram], len(x.nameplates))
	}
	words := naming.Words(model)
	x.nameplates = append(x.nameplates, nameplate{words, key, baseModel(words), len(grams)})
}

// of finds a label of the make, prepared.
func (x *index) of(label catalogue.Label) *indexed {
	if i, ok := x.byText[label.Text]; ok {
		return &x.labels[i]
	}
	unknown := prepare(label, facts.Fact{}, 0)
	return &unknown
}

// suffixes finds the last words by which sellers call a car for short: FIELDER,
// AXIO, PRADO. A word counts when one nameplate alone ends with it, no other
// holds it, it is long enough to be no grade, and it names no body.
func suffixes(plates []nameplate) map[string]string {
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
		if len(p.words) > 1 && holders[word] == 1 && len(word) >= 4 && !slices.Contains(bodyWords, word) && !gradeWords[word] {
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

// gram is a run of three characters, 21 bits each.
type gram uint64

// trigrams cuts a key into runs of three characters, its ends marked, each
// once.
func trigrams(key string) []gram {
	grams := make([]gram, 0, len(key)+1)
	last := gram(' ')<<21 | ' '
	for _, r := range key + " " {
		last = (last<<21 | gram(r)) & (1<<63 - 1) //nolint:gosec // a character is no negative number
		if !slices.Contains(grams, last) {
			grams = append(grams, last)
		}
	}
	return grams
}

// indexCache caches the indexes of one catalogue, each built when first needed.
type indexCache struct {
	facts facts.Facts
	mu    sync.Mutex
	made  map[*catalogue.Entries]*index
}

func (s *indexCache) of(entries *catalogue.Entries) *index {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.made[entries]
	if !ok {
		x = newIndex(entries, s.facts)
		s.made[entries] = x
	}
	return x
}
