package condition

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// miss notes a word that no table knows. The ending of the word before it is none.
func (r *reader) miss(tok *token) {
	const ending = 2 // characters of hiragana
	follows := r.prev != nil && r.prev.end == tok.start && r.prev.kind != "unknown"
	isEnding := follows && tok.hiragana && tok.end-tok.start <= ending
	if !isEnding && strings.ContainsFunc(tok.text, unicode.IsLetter) {
		r.missed = append(r.missed, tok.text)
	}
}

// endItem decides what the unknown words of an item leave open: of parts that can have no
// grave fault, such as a lamp or a seat, nothing but a trace of water or fire. A finding of
// the frame may belong to the unknown word: スペアタイヤ…部に歪み.
func (r *reader) endItem() {
	isHarmless := len(r.heads) > 0
	for _, s := range r.all {
		isHarmless = isHarmless && (s.item != r.item || !slices.Contains(ofTheFrame, s.finding))
	}
	for _, class := range r.heads {
		isHarmless = isHarmless && !vital()[class]
	}
	for _, word := range r.missed {
		if !isHarmless || strings.ContainsAny(word, traces) {
			r.unread = append(r.unread, word)
		}
	}
	r.missed, r.heads = nil, nil
}

// ofTheFrame are findings that mean the worst on a part of the frame.
var ofTheFrame = []string{"work", "cut", "beat", "bend", "crease", "corrode"}

// traces are characters of words for water and fire, which leave their marks anywhere.
const traces = "水泥砂塩浸没濡湿海川潮焼焦煙火炎灰溶"

// vital are the classes of parts that can have a grave fault. Water and fire are none of
// the part.
var vital = sync.OnceValue(func() map[string]bool {
	classes := map[string]bool{"other": true}
	for of, e := range matrix() {
		if e.plain.IsGrave() && e.category != "fire" && e.category != "flood" {
			classes[of[0]] = true
		}
	}
	return classes
})
