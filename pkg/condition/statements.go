package condition

import (
	"slices"
	"strings"
)

func (r *reader) drop(s *statement) {
	s.dropped = true
	r.open = slices.DeleteFunc(r.open, func(o *statement) bool { return o == s })
}

// add adds a statement, open for a yes or no.
func (r *reader) add(s *statement) {
	s.item = r.item
	r.all, r.open, r.fresh = append(r.all, s), append(r.open, s), append(r.fresh, s)
	r.wasDeny = false
	for _, old := range r.before {
		old.dropped = old.dropped || s.category == old.category || s.severity.Rank() >= old.severity.Rank()
	}
	r.before = nil
}

// cancel makes another thing of a noun: 盗難防止, 衝突軽減. It reports whether one
// stood before it.
func (r *reader) cancel(tok *token) bool {
	if tok.text == "記録" && len(r.fresh) > 0 && r.fresh[0].category == Meter {
		r.record = true
		return true
	}
	if r.prev == nil || r.prev.end != tok.start || len(r.fresh) == 0 || !r.prev.has("say") {
		return tok.kind == "cancel"
	}
	for _, s := range r.fresh {
		r.drop(s)
	}
	equipment := []sense{{kind: "part", name: "equip"}}
	r.parts = append(r.parts, &token{kind: "part", senses: equipment, start: tok.start, end: tok.end})
	r.last = tok
	return true
}

// say reads a noun that states something by itself.
func (r *reader) say(tok *token) {
	var s sense
	for _, s = range tok.senses {
		if s.kind == "say" {
			break
		}
	}
	r.startNoun()
	if s.note == "good" && strings.HasPrefix(tok.text, "無") && len(r.open) > 0 && r.prev != nil && r.prev.end == tok.start {
		r.deny("no", tok)
	}
	r.parts, r.used, r.fresh = nil, nil, nil
	switch {
	case s.note == "good":
		r.sayGood(&s)
		return
	case r.than && Category(s.name) == Meter && s.severity == None: // 前回より走行少ない
		r.add(&statement{category: Meter, severity: Disqualify})
		return
	case s.severity == None && s.note != "event":
		r.size, r.needs = "", false
		return
	}
	r.add(&statement{
		category: Category(s.name), severity: s.severity, isEvent: s.note == "event", isCar: strings.HasSuffix(tok.text, "車"),
		class: s.note,
	})
	if s.note == "need" {
		r.all, r.open = r.all[:len(r.all)-1], r.open[:len(r.open)-1] // only its absence says something
		r.good = &s
	}
	r.endFinding()
}

// sayGood reads good news, whose denial is the fault.
func (r *reader) sayGood(s *sense) {
	r.good = s
	r.all = append(r.all, &statement{category: NoCategory, severity: None})
	r.denyThese(r.before)
	r.before = nil
	if r.not && !r.onlyList {
		r.denyGood(false)
	}
}
