package condition

import (
	"slices"
	"strings"
	"sync"
	"unicode"
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

// place reads a place of the car. The inner panel is one too, when no part follows.
func (r *reader) place(tok *token, next []*token) {
	r.startNoun()
	if last := len(r.parts) - 1; tok.text == "内" && last >= 0 && r.prev == r.parts[last] && classOf(r.prev) == "meter" {
		r.parts = r.parts[:last] // メーター内時計
	}
	for _, follows := range next {
		switch {
		case tok.senses[0].name == "", follows.has("part"), follows.isOther(), follows.kind == "comma":
			return
		case follows.has("find"):
			tok.senses = []sense{{kind: "part", name: tok.senses[0].name}}
			r.part(tok)
			return
		}
	}
}

// startNoun closes a list item that ended in a finding, now that a noun follows.
func (r *reader) startNoun() {
	if r.ended {
		r.listed = append(r.listed, r.open...)
		r.open, r.used, r.ended = nil, nil, false
	}
}

// structural are the classes of parts that a car stands and falls with.
var structural = []string{"frame", "floor", "roof", "semi"}

// accessories are the classes of parts whose name may end a compound that begins
// with a structural part: ピラートリム.
var accessories = []string{"inner", "outer", "equip", "glass", "other"}

func classOf(tok *token) string {
	for _, s := range tok.senses {
		if s.kind == "part" {
			return s.name
		}
	}
	return ""
}

// part reads the name of a part. The head of a compound is at its right end.
func (r *reader) part(tok *token) {
	if p := r.prev; p != nil && p.end == tok.start && p.has("part") && len(r.parts) > 0 && r.parts[len(r.parts)-1] == p {
		r.compound(p, tok)
	}
	r.parts, r.heads = append(r.parts, tok), append(r.heads, classOf(tok))
	r.used = nil
	if tok.latin && r.prev != nil && r.prev.latin && r.prev.has("find") { // a finding stood in front: bent frame
		if last := len(r.fresh) - 1; last >= 0 && r.fresh[last].class == "alone" {
			r.drop(r.fresh[last])
			r.fresh = nil
			r.apply(tok, r.prev)
			r.endFinding()
		}
	}
}

// compound joins the name of a part to the one p that stands at once before it.
func (r *reader) compound(p, tok *token) {
	before, class := classOf(p), classOf(tok)
	isStem := slices.ContainsFunc(tok.senses, func(s sense) bool { return s.note == "stem" })
	switch {
	case isStem && slices.Contains(accessories, before) && p.text != "トランク":
		tok.senses = p.senses // ナンバー+フレーム, シート+フレーム: no frame of the car
		r.parts = r.parts[:len(r.parts)-1]
	case before == "bolted" && slices.Contains(structural, class) && p.text == "トランク":
		r.parts = r.parts[:len(r.parts)-1]
	case slices.Contains(accessories, class), !slices.Contains(structural, before):
		r.parts = r.parts[:len(r.parts)-1]
		if class == "other" && !slices.Contains(structural, before) ||
			class == "oil" && (before == "runlight" || before == "metal") {
			tok.senses = p.senses // ショックオイル
		}
	case before == "floor" || before == "roof":
		r.parts = r.parts[:len(r.parts)-1]
	}
}

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
