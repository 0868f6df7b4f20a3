package condition

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Read judges a text: a note of a sheet, or words of a listing. Its sentences are
// judged one by one, so that a denial covers its own sentence alone.
func Read(s string) Judgement {
	var all Judgement
	known := false
	for _, sentence := range sentences(s) {
		r := reader{}
		r.read(fold(sentence).tokens())
		r.grade(sentence)
		for _, f := range r.findings(strings.TrimSpace(sentence)) {
			isSame := func(g Finding) bool { return g.Category == f.Category && g.Severity == f.Severity }
			if !slices.ContainsFunc(all.Findings, isSame) {
				all.Findings = append(all.Findings, f)
			}
		}
		for _, c := range r.denied {
			if !slices.Contains(all.Denied, c) {
				all.Denied = append(all.Denied, c)
			}
		}
		known = known || r.known
	}
	slices.SortStableFunc(all.Findings, func(a, b Finding) int { return b.Severity.Rank() - a.Severity.Rank() })
	all.Unknown = !known && len(all.Findings) == 0 && strings.TrimSpace(s) != ""
	return all
}

// ends matches the end of a sentence.
var ends = regexp.MustCompile(`[。！？!?;；\n\r]+|\.(?:\s|$)`)

func sentences(s string) []string {
	return slices.DeleteFunc(ends.Split(s, -1), func(part string) bool { return strings.TrimSpace(part) == "" })
}

// graded matches a grade of the repair group in a note, with or without a correction.
var graded = regexp.MustCompile(`(?:評価点?|評点|点数|採点|GRADE|AUCTION SCORE)[:=\s]*` +
	`(?:[\d.]+点?\s*(?:→|⇒|から|->)?\s*)?(R[ABC12]?|\*{1,3}|無効)(?:点|$|[^0-9A-Z])|` +
	`[\d.]+点?\s*(?:→|⇒|->)\s*(R[ABC12]?)(?:点|$|[^0-9A-Z])`)

// grade finds a grade that the text states.
func (r *reader) grade(sentence string) {
	if graded.MatchString(strings.ToUpper(norm.NFKC.String(sentence))) {
		r.add(&statement{category: Accident, severity: Disqualify})
	}
}

// statement is one thing that a sentence says.
type statement struct {
	category Category
	severity Severity
	effect   effect // of a finding on a part
	class    string // of the part
	isEvent  bool   // a later no in the same list may deny it
	isCar    bool   // it is said of the car: 冠水車
	item     int    // of the list
	dropped  bool   // denied, or corrected
	start    int    // its token
}

// reader reads one sentence.
type reader struct {
	all      []*statement
	open     []*statement // not yet affirmed or denied
	parts    []*token     // without a finding
	used     []*token     // the parts of the last finding
	last     *token       // the last word, without glue
	prev     *token       // the last token
	item     int          // of the list
	ended    bool         // the item before this one ended in a finding
	small    bool         // the next finding is small
	needs    bool         // 要 stands before the next finding
	not      bool         // a no stands in front, in English and Kiswahili
	onlyList bool         // a comma stands between that no and the next word
	joined   bool         // the sentence joins its nouns: flood or theft
	record   bool         // the record of a replacement is named
	negate   bool         // the next word is denied: 未展開
	choice   bool         // 有・無 without a choice

	good     *sense // good news, whose denial is the fault
	justDeny []*statement
	before   []*statement // what an arrow corrects
	wasDeny  bool
	denied   []Category
	known    bool
	fresh    []*statement // of the last finding
}

func (r *reader) read(list []*token) {
	for i, tok := range list {
		r.joined = r.joined || tok.latin && (tok.kind == "tight" || i == len(list)-1 && tok.text == "HISTORY")
	}
	for i, tok := range list {
		r.take(tok, list, i)
		if tok.kind != "gap" && tok.kind != "glue" {
			r.prev = tok
		}
	}
	r.finish()
}

// take reads one token.
func (r *reader) take(tok *token, list []*token, i int) {
	switch tok.kind {
	case "gap", "unknown", "tight":
	case "place":
		r.startNoun()
	case "comma", "dot", "but":
		r.comma(tok.kind != "comma")
	case "arrow":
		r.before, r.open, r.parts = append(slices.Clone(r.all), r.open...), nil, nil
		r.item++
	case "glue":
		if strings.HasSuffix(tok.text, "車") && len(r.all) > 0 {
			r.all[len(r.all)-1].isCar = true
		}
	case "small", "big":
		r.size(tok.kind)
	case "need":
		r.needed()
	case "code":
		r.code(tok, list, i)
	case "record":
		r.record = true
	case "cancel":
		r.cancel(tok)
	default:
		r.predicate(tok, list, i)
	}
}

// predicate reads a noun, a finding, or a yes or no.
func (r *reader) predicate(tok *token, list []*token, i int) {
	finds := tok.has("find")
	switch {
	case tok.kind == "not":
		r.no(tok, list, i)
	case tok.has("part") && (!finds || r.partsHere() == 0):
		r.startNoun()
		r.part(tok)
	case tok.has("suspect") && len(r.open) > 0:
		r.suspect(tok)
	case finds && (!tok.has("say") || r.partsHere() > 0):
		r.find(tok)
	case tok.has("say"):
		r.say(tok)
	case tok.kind == "predeny", tok.text == "無" && r.isPrefix(list, i):
		r.negate = true
	default:
		r.answer(tok)
	}
	r.last = tok
}

// no reads a no that stands in front, or behind what it denies.
func (r *reader) no(tok *token, list []*token, i int) {
	if tok.has("deny") && (len(r.open) > 0 || len(r.parts) > 0) && !nounFollows(list, i) {
		r.deny("no", tok)
	} else {
		r.not = true
	}
}

// answer reads a yes or no about what stands before it.
func (r *reader) answer(tok *token) {
	switch tok.kind {
	case "deny":
		r.deny(tok.senses[0].name, tok)
	case "denybe":
		r.denyBe(tok)
	case "flip":
		r.flip(tok)
	case "affirm":
		r.affirm()
	case "suspect":
		r.suspect(tok)
	case "choice":
		r.choice = true
	}
}

// nounFollows reports whether a noun or a finding follows in the same item.
func nounFollows(list []*token, i int) bool {
	for _, tok := range list[i+1:] {
		switch tok.kind {
		case "part", "find", "say", "unknown":
			return true
		case "comma", "dot", "but", "arrow":
			return false
		}
	}
	return false
}

// isPrefix reports whether a word follows a no at once, and nothing stands before it to
// deny: 無事故, not 修復歴無.
func (r *reader) isPrefix(list []*token, i int) bool {
	return len(r.open) == 0 && r.partsHere() == 0 && i+1 < len(list) &&
		(list[i+1].has("find") || list[i+1].has("say")) && list[i+1].start == list[i].end
}

// startNoun closes a list item that ended in a finding, now that a noun follows.
func (r *reader) startNoun() {
	if r.ended {
		r.open, r.used, r.ended = nil, nil, false
	}
}

// comma ends an item of a list.
func (r *reader) comma(hard bool) {
	r.item++
	r.choose()
	r.good = nil
	r.onlyList = r.not && !hard
	if hard {
		r.unfound()
		r.open, r.parts, r.used, r.not, r.ended = nil, nil, nil, false, false
		return
	}
	if r.last != nil && (r.last.has("find") || r.last.kind == "code") {
		r.ended = true
	}
	kept := r.open[:0:0]
	for _, s := range r.open {
		if r.ended || s.isEvent && !s.isCar {
			kept = append(kept, s)
		}
	}
	r.open, r.small, r.needs = kept, false, false
	r.wasDeny = false
	if r.last != nil {
		r.last = &token{kind: "comma"}
	}
}

// partsHere counts the parts of this item that have no finding yet.
func (r *reader) partsHere() int { return len(r.parts) }

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
	r.known = true
	if p := r.prev; p != nil && p.end == tok.start && p.has("part") && len(r.parts) > 0 && r.parts[len(r.parts)-1] == p {
		r.compound(p, tok)
	}
	r.parts = append(r.parts, tok)
	r.used = nil
	if tok.latin && r.prev != nil && r.prev.latin && r.prev.has("find") { // a finding stood in front: bent frame
		if last := len(r.fresh) - 1; last >= 0 && r.fresh[last].class == "alone" {
			r.drop(r.fresh[last])
			r.apply(tok, r.prev)
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
		if class == "other" && !slices.Contains(structural, before) {
			tok.senses = p.senses
		}
	case before == "floor" || before == "roof":
		r.parts = r.parts[:len(r.parts)-1]
	}
}

func (r *reader) drop(s *statement) {
	s.dropped = true
	r.open = slices.DeleteFunc(r.open, func(o *statement) bool { return o == s })
}

// find reads a finding and applies it to its parts.
func (r *reader) find(tok *token) {
	r.known = true
	switch name := findingName(tok); {
	case name == "unknown" && r.good != nil && r.good.name == string(Meter):
		r.denyGood(false)
		return
	case name == "unknown" && r.unsure():
		return
	}
	follows := r.last != nil && r.last.has("find") && r.prev != nil && r.prev.end == tok.start
	parts := r.partsOf(follows)
	r.fresh = nil
	switch {
	case len(parts) == 0 && follows && slices.Contains([]string{"mark", "dent"}, findingName(r.last)):
		parts = []*token{{kind: "part", senses: []sense{{kind: "part", name: "other"}}}} // 小キズ修正済
	case len(parts) == 0:
		r.alone(tok)
	}
	for _, p := range parts {
		r.apply(p, tok)
	}
	r.used, r.parts, r.choice = parts, nil, false
	r.endFinding()
}

// partsOf returns the parts of a finding; one that follows another at once may share its.
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
	r.small, r.needs = false, false
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
	if r.small {
		severity = e.low
	}
	r.add(&statement{category: e.category, severity: severity, effect: e, class: class, start: tok.start})
}

// add adds a statement, open for a yes or no.
func (r *reader) add(s *statement) {
	r.known = true
	s.item = r.item
	r.all, r.open, r.fresh = append(r.all, s), append(r.open, s), append(r.fresh, s)
	r.wasDeny = false
	for _, old := range r.before {
		old.dropped = true
	}
	r.before = nil
}

// size reads a word of size: behind a finding it changes that, else the next.
func (r *reader) size(kind string) {
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
	r.small = kind == "small"
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

// cancel makes another thing of a noun: 盗難防止, 衝突軽減.
func (r *reader) cancel(tok *token) {
	if tok.text == "記録" && len(r.fresh) > 0 && r.fresh[0].category == Meter {
		r.record = true
		return
	}
	if r.prev == nil || r.prev.end != tok.start || len(r.fresh) == 0 || !r.prev.has("say") {
		return
	}
	for _, s := range r.fresh {
		r.drop(s)
	}
	equipment := []sense{{kind: "part", name: "equip"}}
	r.parts = append(r.parts, &token{kind: "part", senses: equipment, start: tok.start, end: tok.end})
}

// say reads a noun that states something by itself.
func (r *reader) say(tok *token) {
	r.known = true
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
		r.good = &s
		r.all = append(r.all, &statement{category: NoCategory, severity: None})
		return
	case s.severity == None && s.note != "event":
		r.small, r.needs = false, false
		return
	}
	r.add(&statement{
		category: Category(s.name), severity: s.severity, isEvent: s.note == "event", isCar: strings.HasSuffix(tok.text, "車"),
		class: s.note, start: tok.start,
	})
	if s.note == "need" {
		r.all, r.open = r.all[:len(r.all)-1], r.open[:len(r.open)-1] // only its absence says something
		r.good = &s
	}
	r.endFinding()
}
