package match

import (
	"strings"
	"unicode/utf8"

	"ushuru/pkg/match/naming"
)

// The part of a listing's name that is compared by similarity.
const (
	maxComparedWords = 10 // words looked at
	maxComparedRun   = 4  // words joined
)

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
