package match

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"ushuru/pkg/chassis"
	"ushuru/pkg/match/naming"
	"ushuru/pkg/message"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// chooseByName decides for a listing without a code: by the Chooser if there is
// one, otherwise only when a single entry fits.
func (m *Matcher) chooseByName(ctx context.Context, q *query) (Choice, error) {
	if m.options.Chooser != nil {
		choice, err := m.ask(ctx, q, chassis.Code{}, q.possible(chassis.Code{}, nil))
		if !isNoAnswer(err) {
			return choice, err
		}
		if ctx.Err() != nil {
			return Choice{}, err
		}
		if choice, refused := q.chooseUnique(); refused == nil {
			return choice, nil
		}
		return Choice{}, q.unavailable(chassis.Code{}, err)
	}
	return q.chooseUnique()
}

// unavailable refuses a car that the AI must decide, because the AI gave no
// answer. It is not the answer that no entry fits.
func (q *query) unavailable(code chassis.Code, cause error) *Error {
	refused := q.refuse("ai_unavailable.match", nil, code, nil)
	refused.cause = cause
	return refused
}

// chooseUnique accepts a label by name only when size, fuel and year are known
// on both sides and agree, and no other label with a similar name could be the
// car.
func (q *query) chooseUnique() (Choice, error) {
	var beyondDoubt []ranked
	for _, r := range q.possible(chassis.Code{}, nil) {
		if r.similarity >= rivalSimilarity && q.fits(chassis.Code{}, r.label) {
			beyondDoubt = append(beyondDoubt, r)
		}
	}
	how := other
	if len(beyondDoubt) == 1 {
		how = q.name.relationTo(beyondDoubt[0].label.Model)
	}
	if (how != same && how != form) || !q.agrees(chassis.Code{}, beyondDoubt[0].label) || q.namesSeveral() {
		return Choice{}, q.refuse("no_match."+q.whyNotUnique(len(beyondDoubt)), q.values(), chassis.Code{}, nil)
	}
	label := beyondDoubt[0].label
	choice := q.fuzzyChoice(vehicle.ByName, label.Label, how)
	choice.Adjustments = append(choice.Adjustments, q.newCode(choice.Code)...)
	return choice.because(message.New("match/name", q.values("make", label.Make.Name, "model", label.Model,
		"entry", label.Text, "engine", q.engine(), "fuel", string(q.fuelClass(chassis.Code{})),
		"year", strconv.Itoa(q.car.Year)))), nil
}

// rivalSimilarity is the similarity of names above which a second label that
// fits leaves the choice open.
const rivalSimilarity = 0.7

func (q *query) whyNotUnique(fitting int) string {
	switch {
	case q.name.model == 0:
		return "no_model"
	case fitting > 1:
		return "several"
	default:
		return "unclear"
	}
}

// namesSeveral reports whether the listing names two cars.
func (q *query) namesSeveral() bool {
	for _, p := range q.name.mentions[min(1, len(q.name.mentions)):] {
		if first := q.name.mentions[0].key; !strings.Contains(first, p.key) && !strings.Contains(p.key, first) {
			return true
		}
	}
	return false
}

// possible lists the candidates that satisfy the condition, have no veto and
// bear the name that the listing gives.
func (q *query) possible(code chassis.Code, holds func(ranked) bool) []ranked {
	var kept []ranked
	for _, r := range q.ranked(code) {
		if (holds == nil || holds(r)) && !q.namesOther(q.index.nameplates[r.label.nameplate]) &&
			q.veto(code, r.label) == (message.Text{}) {
			kept = append(kept, r)
		}
	}
	return kept
}

// namesOther reports whether the listing's first name is that of another car.
// Later names in a title may be advertisement or an instruction to the AI.
func (q *query) namesOther(plate nameplate) bool {
	if q.name.relationToWords(plate.words) == other {
		return true
	}
	if len(q.name.mentions) == 0 {
		return false
	}
	first := q.name.mentions[0].key
	return !strings.Contains(first, plate.key) && !strings.Contains(plate.key, first)
}

// engine returns the engine size for a sentence, before the fuel.
func (q *query) engine() string {
	if q.car.EngineCC > 0 {
		return strconv.Itoa(q.car.EngineCC) + " cc, "
	}
	return ""
}

// fuzzyChoice returns the choice of a label that was not found by its code,
// with its adjustments.
func (q *query) fuzzyChoice(by vehicle.MatchedBy, label catalogue.Label, relation relation) Choice {
	choice := Choice{
		Make: label.Make, Label: label.Text, MatchType: vehicle.LLMFuzzy, MatchedBy: by, EngineCC: q.index.of(label).CC,
		Adjustments: q.makeAdjustment(label), Electrified: q.electrifiedCounterparts(chassis.Code{}, q.index.of(label)),
	}
	if len(label.Codes) > 0 {
		choice.Code = label.Codes[0]
	}
	choice.Adjustments = append(choice.Adjustments, q.modelAdjustment(label, relation, "")...) // no code speaks for it
	return choice
}

// newCode reports as an adjustment that the chosen entry has a chassis code and the listing
// gives none.
func (q *query) newCode(code string) []vehicle.Adjustment {
	if code == "" {
		return nil
	}
	return []vehicle.Adjustment{vehicle.Adjusted("modelCode", "", code, "code_new", q.values())}
}

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

// maxNameWords is the longest nameplate looked for, in words.
const maxNameWords = 6

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

// similarities says for each nameplate of the make how like it is to the
// listing's name, from 0 to 1: 1 for the name itself, a little less for the
// same name with or without a body word, 0.8 for a longer or shorter one. Any
// other similarity is one of spelling, and below 0.95.
func (q *query) similarities() []float64 {
	like := q.spellings()
	for i, plate := range q.index.nameplates {
		switch q.name.relationToWords(plate.words) {
		case same:
			like[i] = 1
		case form:
			like[i] = max(like[i], 0.97)
		case sibling:
			like[i] = max(like[i], 0.8)
		case notGiven, unknown, other:
		}
	}
	return like
}

// The part of a listing's name that is compared by similarity.
const (
	maxComparedWords = 10 // words looked at
	maxComparedRun   = 4  // words joined
)

// spellings compares runs of the listing's words with the nameplates: by
// trigrams in common, and by typing errors for the names that share any.
func (q *query) spellings() []float64 {
	like := make([]float64, len(q.index.nameplates))
	words := q.name.words[:min(len(q.name.words), maxComparedWords)]
	if q.name.model == 0 {
		return like
	}
	shared := make([]int, len(q.index.nameplates))
	for from := range words {
		for to := from + 1; to <= min(from+maxComparedRun, len(words)); to++ {
			if run := strings.Join(words[from:to], ""); utf8.RuneCountInString(run) > 1 {
				q.compare(run, shared, like, likelyStart(from, q.name.model))
			}
		}
	}
	return like
}

// likelyStart weighs where in the name a run begins: models stand first, and
// a grade names a model only by chance.
func likelyStart(from, model int) float64 {
	switch {
	case from == 0:
		return 0.95
	case from < model:
		return 0.9
	default:
		return 0.7
	}
}

// compare raises the similarity of the nameplates that a run resembles. Shared
// is scratch space, all zero before and after.
func (q *query) compare(run string, shared []int, like []float64, weight float64) {
	grams := trigrams(run)
	var touched []int
	for _, gram := range grams {
		for _, i := range q.index.grams[gram] {
			if shared[i] == 0 {
				touched = append(touched, i)
			}
			shared[i]++
		}
	}
	for _, i := range touched {
		plate := &q.index.nameplates[i]
		score := 2 * float64(shared[i]) / float64(len(grams)+plate.grams)
		shared[i] = 0
		if longest := max(len(run), len(plate.key)); abs(len(run)-len(plate.key)) <= 3 {
			score = max(score, 1-float64(naming.Distance(run, plate.key))/float64(longest))
		}
		if score < 0.6 && len(plate.key) >= 4 && strings.HasPrefix(run, plate.key) {
			score = 0.6 // the name and a grade run together
		}
		like[i] = max(like[i], weight*score)
	}
}
