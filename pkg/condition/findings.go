package condition

import (
	"slices"
	"strings"
)

// find reads a finding and applies it to its parts.
func (r *reader) find(tok *token) { //nolint:cyclop // the conditions of one rule after the other
	switch name := findingName(tok); {
	case r.good != nil && r.good.name == string(Meter) && slices.Contains(ofMeters, name):
		r.denyGood(false)
		return
	case name == "unknown" && r.unsure():
		return
	}
	if r.ended && slices.Contains(ofTheCar, findingName(tok)) {
		r.startNoun()
	}
	follows := r.last != nil && r.last.has("find") && r.prev != nil && r.prev.end == tok.start
	r.fresh = nil
	parts := r.partsOf(follows)
	if len(parts) == 0 && follows && slices.Contains([]string{"mark", "dent"}, findingName(r.last)) {
		parts = []*token{{kind: "part", senses: []sense{{kind: "part", name: "other"}}}} // 小キズ修正済
	}
	if len(parts) == 0 {
		r.alone(tok)
	}
	for _, p := range parts {
		r.apply(p, tok)
	}
	r.used, r.parts, r.choice = parts, nil, false
	r.endFinding()
}

// ofMeters are findings that deny a true mileage: 実走行に疑義あり.
var ofMeters = []string{"unknown", "doubt", "mismatch", "rewind", "fault"}

// ofTheCar are findings that need no part, and take none of an earlier item.
var ofTheCar = []string{"nostart", "hardstart", "nomove", "noregister", "noshift", "nocharge", "noboost", "nofit"}

// partsOf returns the parts of a finding. A finding that directly follows another may share the
// parts of that one.
func (r *reader) partsOf(follows bool) []*token {
	parts := r.parts
	if len(parts) == 0 && (follows || r.ended) {
		parts = r.used
		r.ended = false
	} else if r.ended {
		r.startNoun()
	}
	return parts
}

// endFinding forgets what stood before a finding.
func (r *reader) endFinding() {
	r.size, r.needs = "", false
	if r.negate {
		r.negate = false
		r.denyThese(r.fresh)
	}
	switch {
	case r.not && r.onlyList && !r.joined:
		for _, s := range r.fresh { // no accident, flood damage
			if s.severity.IsGrave() {
				s.severity = Doubt
			}
		}
	case r.not:
		r.denyThese(r.fresh)
	}
}

// apply adds what a finding on a part means.
func (r *reader) apply(part, finding *token) {
	class := classOf(part)
	names := findingNames(finding)
	for i, name := range names {
		if r.needs {
			if _, exact := matrix()[[2]string{class, "need"}]; exact {
				name = "need"
			}
		}
		if _, exact := matrix()[[2]string{class, name}]; !exact && i < len(names)-1 {
			continue // another sense may fit the part
		}
		if e, found := effectOf(class, name); found {
			r.statement(e, class, finding)
		}
		return
	}
}

// alone adds what a finding without a part means.
func (r *reader) alone(finding *token) {
	var e effect
	for _, name := range findingNames(finding) {
		if of, found := effectOf("alone", name); found && of.plain.Rank() >= e.plain.Rank() {
			e = of
		}
	}
	if p := r.prev; p != nil && p.end == finding.start && p.has("say") && e.plain.Rank() <= Grave.Rank() && len(r.all) > 0 {
		return // 盗難被害, 事故損傷: the noun has said it
	}
	r.statement(e, "alone", finding)
}

// findingNames returns the findings that a word can mean.
func findingNames(tok *token) (names []string) {
	for _, s := range tok.senses {
		if s.kind == "find" || s.kind == "code" {
			names = append(names, s.name)
		}
	}
	return names
}

func findingName(tok *token) string {
	if names := findingNames(tok); len(names) > 0 {
		return names[0]
	}
	return ""
}

func (r *reader) statement(e effect, class string, tok *token) {
	severity := e.plain
	switch r.size {
	case "small":
		severity = e.low
	case "big":
		severity = e.big
	}
	r.add(&statement{
		category: e.category, severity: severity, effect: e, class: class, finding: findingName(tok),
	})
}

// sized reads a word of size: behind a finding it changes that, else the next.
func (r *reader) sized(kind string) {
	if r.last != nil && (r.last.has("find") || r.last.kind == "code") && len(r.fresh) > 0 {
		for _, s := range r.fresh {
			if s.effect.plain == "" || s.dropped {
				continue
			}
			if kind == "small" {
				s.severity = s.effect.low
			} else if s.severity == s.effect.plain {
				s.severity = s.effect.big
			}
		}
		return
	}
	r.size = kind
}

// needed reads a need: behind a finding it changes that, エンジン載せ替え要, else the next.
func (r *reader) needed() {
	if r.last == nil || !r.last.has("find") {
		r.needs = true
		return
	}
	for _, s := range r.fresh {
		if e, exact := matrix()[[2]string{s.class, "need"}]; exact && e.plain.Rank() > s.severity.Rank() {
			s.category, s.severity = e.category, e.plain
		}
	}
	r.needs = false
}

// code reads a letter of the drawing behind a part: コアサポートXX.
func (r *reader) code(tok *token, list []*token, i int) {
	isPlace := i+1 < len(list) && list[i+1].start == tok.end && list[i+1].has("part")
	if isPlace || len(r.parts) == 0 || tok.kind != "code" {
		if isPlace {
			r.startNoun()
		}
		return
	}
	letters := strings.TrimRight(tok.text, "0123456789")
	tok.senses = []sense{{kind: "code", name: codes[letters]}}
	r.find(tok)
	r.last = tok
}
