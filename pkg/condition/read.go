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
		all.Unread = append(all.Unread, r.unread...)
	}
	slices.SortStableFunc(all.Findings, func(a, b Finding) int { return b.Severity.Rank() - a.Severity.Rank() })
	return all
}

// yesLabels are labels that a bare yes affirms, and a bare no denies.
var yesLabels = []string{
	"accident", "crash", "repair history", "repaired", "salvage", "flood", "fire", "theft", "damage", "修復歴", "事故歴", "事故", "ajali",
}

// unknownMileage are values of a mileage row that say nothing: on a used car a doubt.
var unknownMileage = []string{"unknown", "n/a", "?", "0", "not known", "haijulikani", "hazijulikani"}

// meterLabels are labels of the mileage.
var meterLabels = []string{"odometer", "mileage", "走行", "kilomita"}

// ReadRow judges a row of a listing: a label and its value. A bare yes or no answers
// the label; other values speak for themselves.
func ReadRow(label, value string) Judgement {
	label, low := strings.ToLower(label), strings.ToLower(strings.TrimSpace(value))
	isAbout := func(labels []string) bool {
		return slices.ContainsFunc(labels, func(l string) bool { return strings.Contains(label, l) })
	}
	if isAbout(meterLabels) && slices.Contains(unknownMileage, low) {
		return Judgement{Findings: []Finding{{Meter, Doubt, value}}}
	}
	if isAbout(yesLabels) {
		return Read(label + ": " + value)
	}
	return Read(value)
}

// ends matches the end of a sentence.
var ends = regexp.MustCompile(`[。！？!?;；\n\r]+|\.(?:\s|$)`)

// answered matches a semicolon between a noun and its answer, and asked a question
// mark in the place of the mileage.
var (
	answered = regexp.MustCompile(`(?i)[;；](\s*(?:無|有|な|あ|ナ|ア|no\b|yes\b|none\b|×|○))`)
	asked    = regexp.MustCompile(`((?:走行|距離|メーター|mileage|odometer)\s*[:：]?\s*)[?？]+`)
)

func sentences(s string) []string {
	s = asked.ReplaceAllString(answered.ReplaceAllString(s, ":$1"), "${1}不明 ")
	return slices.DeleteFunc(ends.Split(s, -1), func(part string) bool { return strings.TrimSpace(part) == "" })
}

// graded matches a grade of the repair group in a note, with or without a correction.
var graded = regexp.MustCompile(`(?:評価点?|評点|点数|採点|GRADE|AUCTION SCORE)[:=\s]*` +
	`(?:[\d.]+点?\s*(?:→|⇒|から|->)?\s*)?(R[ABC12]?|\*{1,3}|無効)(?:点|$|[^0-9A-Z])|` +
	`(?:→|⇒|->)\s*(R[ABC12]?)(?:点|$|[^0-9A-Z])`)

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
	finding  string // of a finding: leak
}

// reader reads one sentence.
type reader struct {
	all      []*statement
	open     []*statement // not yet affirmed or denied
	listed   []*statement // findings that ended earlier items of the list
	parts    []*token     // without a finding
	used     []*token     // the parts of the last finding
	last     *token       // the last word, without glue
	prev     *token       // the last token
	item     int          // of the list
	ended    bool         // the item before this one ended in a finding
	size     string       // of the next finding: small or big
	needs    bool         // 要 stands before the next finding
	not      bool         // a no stands in front, in English and Kiswahili
	onlyList bool         // a comma stands between that no and the next word
	joined   bool         // the sentence joins its nouns: flood or theft
	record   bool         // the record of a replacement is named
	negate   bool         // the next word is denied: 未展開
	choice   bool         // 有・無 without a choice
	than     bool         // より stands before: the next word compares

	good     *sense // good news, whose denial is the fault
	justDeny []*statement
	before   []*statement // what an arrow corrects
	wasDeny  bool
	denied   []Category
	unread   []string     // words that no table knows
	missed   []string     // the same, of this item
	heads    []string     // the classes of the parts of this item
	fresh    []*statement // of the last finding
}

func (r *reader) read(list []*token) {
	list = inOrder(list)
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
func (r *reader) take(tok *token, list []*token, i int) { //nolint:cyclop // one case for each kind of word
	switch tok.kind {
	case "unknown":
		r.miss(tok)
	case "word", "gap", "tight":
	case "place":
		r.place(tok, list[i+1:])
	case "comma", "dot", "but":
		r.comma(tok.kind != "comma")
	case "arrow":
		r.endItem()
		r.before, r.open, r.parts = append(slices.Clone(r.all), r.open...), nil, nil
		r.item++
	case "glue":
		r.than = r.than || tok.text == "ヨリ"
		if tok.text == "時" && len(r.parts) == 0 {
			r.parts = r.used // 窓上昇時異音: the noise is of the window
		}
		if last := len(r.all) - 1; strings.HasSuffix(tok.text, "車") && last >= 0 {
			r.all[last].isCar = true
			if r.all[last].category == "hail" && !r.all[last].dropped {
				r.all[last].severity = Grave // of the class of disaster cars
			}
		}
	case "small", "big":
		r.sized(tok.kind)
	case "need":
		r.needed()
	case "code":
		r.code(tok, list, i)
	case "record":
		r.record = true
		if r.not && len(r.all) > 0 && r.all[len(r.all)-1].isReplacedMeter() { // without record
			r.all[len(r.all)-1].severity = Disqualify
		}
	case "wrong":
		r.wrong()
	default:
		if !tok.has("cancel") || !r.cancel(tok) {
			r.predicate(tok, list, i)
		}
	}
}

// predicate reads a noun, a finding, or a yes or no.
func (r *reader) predicate(tok *token, list []*token, i int) { //nolint:cyclop // one case for each kind of word
	finds := tok.has("find")
	r.negate = r.negate || len(tok.senses) > 0 && tok.senses[0].negated
	switch {
	case tok.kind == "not":
		r.no(tok, list, i)
	case tok.has("say") && tok.has("deny") && len(r.open)+len(r.parts) > 0:
		r.deny("fine", tok)
	case finds && tok.has("deny") && len(r.parts) == 0, findingName(tok) == "noout" && len(r.parts) == 0 && len(r.open) > 0:
		r.deny("no", tok)
	case tok.has("part") && (!finds || len(r.parts) == 0):
		r.startNoun()
		r.part(tok)
	case tok.has("suspect") && len(r.open) > 0:
		r.suspect(tok)
	case finds && (!tok.has("say") || len(r.parts) > 0):
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
		r.flip()
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
		case "part", "find", "say", "unknown", "word":
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
	return len(r.open) == 0 && len(r.parts) == 0 && i+1 < len(list) &&
		(list[i+1].has("find") || list[i+1].has("say")) && list[i+1].start == list[i].end
}

// comma ends an item of a list.
func (r *reader) comma(hard bool) {
	r.endItem()
	r.item++
	r.choose()
	r.good = nil
	r.onlyList = r.not && !hard
	if hard {
		r.unfound()
		r.open, r.listed, r.parts, r.used, r.not, r.ended = nil, nil, nil, nil, false, false
		return
	}
	if r.last != nil && (r.last.has("find") || r.last.kind == "code") {
		r.ended = true
	}
	isOver := func(s *statement) bool { return !r.ended && (!s.isEvent || s.isCar) }
	r.open, r.size, r.needs = slices.DeleteFunc(slices.Clone(r.open), isOver), "", false
	r.wasDeny = false
	if r.last != nil {
		r.last = &token{kind: "comma"}
	}
}
