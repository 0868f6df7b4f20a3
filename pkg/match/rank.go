package match

import (
	"cmp"
	"slices"

	"ushuru/pkg/chassis"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/match/naming"
)

// ranked is a label with its score.
type ranked struct {
	label      *indexed
	similarity float64 // of the names, see similarities
	score      float64
}

// The maximum points of each similarity.
const (
	pointsName = 40.0
	pointsCode = 30.0
	maxPoints  = pointsName + pointsCode + pointsFact
)

// minSimilarity is the similarity of names below which a label is a candidate only
// with a similar code.
const minSimilarity = 0.3

// ranked lists the make's labels that may be the car, best first.
func (q *query) ranked(code chassis.Code) []ranked {
	like, written := q.similarities(), signatureOf(code.Code)
	nameless, class := q.name.model == 0, q.fuelClass(code)
	var all []ranked
	for i := range q.index.labels {
		label := &q.index.labels[i]
		near := 0.0
		if code.Code != "" {
			near = codeSimilarity(code.Code, written, label)
		}
		name := like[label.nameplate]
		if (nameless || name < minSimilarity) && near < scoreOneEdit {
			continue
		}
		points := pointsName*name*name + pointsCode*near + q.features(class, label)
		all = append(all, ranked{label, name, min(max(points/maxPoints, 0), 0.999)})
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	return all
}

// pointsFact is the most that features gives.
const pointsFact = 15.0 + 8 + 8 + 4

// features scores what a label's car has in common with the listing apart
// from name and code. Unknown counts for a little, a contradiction against it.
func (q *query) features(class facts.Fuel, label *indexed) float64 {
	return q.sizePoints(label.Fact) + fuelPoints(class, label.fuel) +
		q.yearPoints(label.Fact) + q.bodyPoints(label)
}

func (q *query) sizePoints(fact facts.Fact) float64 {
	off := abs(q.car.EngineCC - fact.CC)
	switch {
	case q.car.EngineCC <= 0 || fact.CC <= 0:
		return 5
	case off <= ccAgrees:
		return 15
	case off <= ccWindow:
		return 12
	case !ccFarOff(q.car.EngineCC, fact.CC):
		return 6
	}
	return -15
}

func fuelPoints(listed, known facts.Fuel) float64 {
	switch {
	case listed == "" || known == "":
		return 3
	case authorityClass(listed) == authorityClass(known):
		return 8
	case !fuelsClash(listed, known, false):
		return -4
	}
	return -15
}

func (q *query) yearPoints(fact facts.Fact) float64 {
	off := fact.YearsOff(q.car.Year)
	switch {
	case q.car.Year == 0 || !fact.IsDated():
		return 3
	case off == 0:
		return 8
	case off == 1:
		return 6
	case off <= maxYearGap:
		return 0
	}
	return -8
}

func (q *query) bodyPoints(label *indexed) float64 {
	switch {
	case bodiesConflict(q.body, label.body):
		return -8
	case q.body != "" && q.body == label.body:
		return 4
	}
	return 0
}

// The similarity of a code to those of a label.
const (
	scoreStem      = 1.0  // the same but for the body letter
	scoreLookalike = 0.85 // one character misread: 0 for O
	scoreOneEdit   = 0.6  // one typing error
	scoreTwoEdits  = 0.2
	scoreEqual     = 1.0
)

// codeSimilarity compares a code that the listing gives with a label's. It makes
// candidates and never an answer.
func codeSimilarity(code string, written signature, label *indexed) float64 {
	best := 0.0
	stem, _ := chassis.Stem(code)
	for i, c := range label.Codes {
		if !written.near(label.codes[i]) || abs(len(c)-len(code)) > 2 {
			continue
		}
		if labelStem, _ := chassis.Stem(c); labelStem == stem {
			return scoreStem
		}
		switch d := naming.Distance(code, c); {
		case d == 0:
			return scoreEqual
		case isLookalike(code, c):
			best = max(best, scoreLookalike)
		case d == 1:
			best = max(best, scoreOneEdit)
		case d == 2:
			best = max(best, scoreTwoEdits)
		}
	}
	return best
}

// lookAlikes folds characters that are misread for each other.
var lookAlikes = map[byte]byte{'O': '0', 'Q': '0', 'D': '0', 'I': '1', 'L': '1', 'Z': '2', 'S': '5', 'B': '8', 'G': '6'}

// isLookalike reports whether two codes differ only in characters that look alike,
// in at most two places.
func isLookalike(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	swaps := 0
	for i := range len(a) {
		if a[i] == b[i] {
			continue
		}
		if swaps++; fold(a[i]) != fold(b[i]) {
			return false
		}
	}
	return 0 < swaps && swaps <= 2
}

func fold(b byte) byte {
	if like, ok := lookAlikes[b]; ok {
		return like
	}
	return b
}
