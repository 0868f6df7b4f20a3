package condition

import "slices"

// denyThese denies statements.
func (r *reader) denyThese(list []*statement) {
	for _, s := range list {
		s.dropped = true
		if s.severity != None && s.category != NoCategory {
			r.deny1(s.category)
		}
	}
	r.open = slices.DeleteFunc(r.open, func(s *statement) bool { return s.dropped })
	r.justDeny = slices.Clone(list)
}

func (r *reader) deny1(c Category) {
	if !slices.Contains(r.denied, c) {
		r.denied = append(r.denied, c)
	}
}

// deny reads a no behind its nouns: it covers the open statements of its list. Of a
// part it says that it is missing, unless it is good news (異常なし).
func (r *reader) deny(kind string, tok *token) { //nolint:cyclop // one case for each thing that a no can deny
	defer func() { r.wasDeny, r.ended, r.good = true, false, nil }()
	switch {
	case r.record && len(r.fresh) > 0 && r.fresh[0].category == Meter:
		r.fresh[0].severity, r.open = Disqualify, nil // replaced, without a record
		return
	case r.lacksRecord():
	case r.good != nil && kind != "fine" && len(r.open) == 0:
		r.denyGood(false)
		return
	case kind == "verb" && r.lacksFunction(tok):
		return
	case r.prev != nil && r.prev.isOther() && r.prev.end == tok.start && len(r.open) == 0:
		r.parts = nil // of a noun in no table: 走行に…なし
		return
	case len(r.before) > 0 && len(r.open) == 0:
		r.denyThese(r.before)
		r.before = nil
		return
	case len(r.parts) > 0 && kind != "fine":
		r.open = nil
		r.lack("no", r.parts, tok)
		return
	case len(r.parts) > 0:
		for _, p := range r.parts {
			r.denyPart(classOf(p))
		}
		r.parts = nil
	}
	r.denyOpen()
}

// denyOpen denies the open statements. An event of an earlier item stays in doubt
// when the no belongs to a finding of another kind: 冠水、オイル漏れなし.
func (r *reader) denyOpen() {
	for _, s := range r.listed { // オイル漏れ、水漏れなし
		isShared := func(o *statement) bool { return o.finding == s.finding && s.finding != "" }
		if slices.ContainsFunc(r.open, isShared) {
			r.open = append(r.open, s)
		}
	}
	r.listed = nil
	mechanical := func(s *statement) bool { return slices.Contains(mechanics, s.category) }
	mine := slices.ContainsFunc(r.open, func(s *statement) bool { return s.item == r.item && !s.isEvent })
	var denied []*statement
	for _, s := range r.open {
		if mine && s.isEvent && s.item < r.item && s.severity.IsGrave() && !mechanical(s) {
			s.severity = Doubt
			continue
		}
		denied = append(denied, s)
	}
	r.denyThese(denied)
	r.open, r.used = nil, nil
}

// mechanics are the categories of faults that one no denies together: 白煙、異音なし.
var mechanics = []Category{"engine", "transmission", "running_gear"}

// lacksFunction reads a verb that says no of a part: 再生せず, or 点灯せず behind what
// is no fault. Of a fault it is a denial, 異音せず.
func (r *reader) lacksFunction(tok *token) bool {
	isFault := func(s *statement) bool { return s.severity.Rank() > Minor.Rank() || s.class == "alone" }
	parts := r.parts
	if len(parts) == 0 {
		parts = r.used
	}
	if len(parts) == 0 || slices.ContainsFunc(r.open, isFault) {
		return false
	}
	for _, s := range r.open {
		s.dropped = true
	}
	r.lack("nofunc", parts, tok)
	return true
}

// lack adds what it means that parts are missing or do not work.
func (r *reader) lack(finding string, parts []*token, tok *token) {
	for _, p := range parts {
		if e, found := effectOf(classOf(p), finding); found {
			r.statement(e, classOf(p), tok)
		}
	}
	r.open, r.parts = nil, nil
}

// isReplacedMeter reports whether the meter was replaced, as far as is said with a record.
func (s *statement) isReplacedMeter() bool {
	return !s.dropped && s.category == Meter && s.severity == Caution
}

// lacksRecord reads the lack of a service record behind a meter that was replaced.
func (r *reader) lacksRecord() bool {
	isBook := func(p *token) bool { return classOf(p) == "optional" }
	i := slices.IndexFunc(r.all, (*statement).isReplacedMeter)
	if i < 0 || !slices.ContainsFunc(r.parts, isBook) {
		return false
	}
	r.all[i].severity, r.parts, r.open = Disqualify, nil, nil
	return true
}

// wrong reads that what stands before it is a mistake.
func (r *reader) wrong() {
	switch {
	case r.good != nil:
		r.denyGood(false)
		return
	case r.wasDeny && len(r.justDeny) > 0:
		r.restore(Disqualify)
		return
	}
	r.denyThese(r.all)
	r.open = nil
}

// denyPart denies what could be wrong with a part.
func (r *reader) denyPart(class string) {
	for _, finding := range []string{"fault", "work", "any"} {
		if e, found := matrix()[[2]string{class, finding}]; found && e.plain.Rank() > Minor.Rank() {
			r.deny1(e.category)
			return
		}
	}
}

// denyGood makes the fault of denied good news: 実走行ではありません.
func (r *reader) denyGood(unsure bool) {
	category, severity := Category(r.good.name), Disqualify
	switch {
	case r.good.note == "need":
		severity = r.good.severity
	case category == NoCategory:
		category = Accident
	case category != Meter:
		severity = Grave
	}
	if unsure {
		severity = Grave
	}
	r.good = nil
	r.add(&statement{category: category, severity: severity})
	r.open = nil
}

// denyBe reads "is not": behind a denial or good news it says yes.
func (r *reader) denyBe(tok *token) {
	switch {
	case r.good != nil:
		r.denyGood(false)
	case r.wasDeny && len(r.justDeny) > 0:
		r.restore(Disqualify)
	default:
		r.deny("fine", tok)
	}
}

// flip reads "cannot be said": behind a denial or good news it says perhaps.
func (r *reader) flip() {
	switch {
	case r.good != nil:
		r.denyGood(true)
	case r.wasDeny && len(r.justDeny) > 0:
		r.restore(Grave)
	case r.lacksFunction(&token{}):
	default:
		for _, s := range r.open {
			if s.severity.IsGrave() {
				s.severity = Doubt
			}
		}
		r.open = nil
	}
}

// restore takes the last denial back, with a severity of at most most.
func (r *reader) restore(most Severity) {
	for _, s := range r.justDeny {
		s.dropped = false
		if s.severity.Rank() > most.Rank() {
			s.severity = most
		}
		r.denied = slices.DeleteFunc(r.denied, func(c Category) bool { return c == s.category })
	}
	r.justDeny, r.wasDeny = nil, false
}

// affirm reads a yes.
func (r *reader) affirm() {
	if len(r.before) > 0 && len(r.open) == 0 {
		for _, s := range r.before {
			s.dropped = false
			r.denied = slices.DeleteFunc(r.denied, func(c Category) bool { return c == s.category })
		}
		r.before = nil
	}
	r.open, r.listed, r.parts, r.ended, r.good = nil, nil, nil, false, nil
}

// suspect reads a suspicion: of an accident it is not yet certain.
func (r *reader) suspect(tok *token) {
	if len(r.open) == 0 && len(r.parts) > 0 {
		if tok.has("find") {
			r.find(tok)
			return
		}
		for _, p := range r.parts {
			if e, found := matrix()[[2]string{classOf(p), "doubt"}]; found {
				r.statement(e, classOf(p), tok)
			}
		}
		r.parts = nil
	}
	for _, s := range r.open {
		if s.category == Accident && s.severity == Disqualify {
			s.severity = Grave
		}
		s.isEvent = true
	}
}

// finish says what is left at the end of a sentence.
func (r *reader) finish() {
	r.endItem()
	r.choose()
	r.unfound()
}

// unfound leaves parts of the frame that are named without a finding in doubt. A need
// without a finding is of the part itself (レッカー必要), and so is a no in front.
func (r *reader) unfound() {
	for _, p := range r.parts {
		if e, exact := matrix()[[2]string{classOf(p), "need"}]; exact && r.needs {
			r.statement(e, classOf(p), p)
			continue
		}
		if e, exact := matrix()[[2]string{classOf(p), "no"}]; exact && r.not && !r.onlyList {
			r.statement(e, classOf(p), p)
			continue
		}
		if e, found := effectOf(classOf(p), "none"); found && e.plain == Doubt {
			r.statement(e, classOf(p), p)
		}
	}
}

// choose ends a choice of which nothing is circled: 修復歴 有・無 says nothing.
func (r *reader) choose() {
	if !r.choice {
		return
	}
	for _, s := range r.open {
		s.dropped = true
	}
	r.open, r.parts, r.choice = nil, nil, false
}

// unsure reads "not known" behind a noun that is open: 修復歴不明.
func (r *reader) unsure() bool {
	if len(r.open) == 0 || len(r.parts) > 0 {
		return false
	}
	for _, s := range r.open {
		if s.severity == Disqualify && s.category != Meter {
			s.severity = Grave
		}
	}
	r.open, r.choice = nil, false
	return true
}

// findings returns what stands, in the order of the sentence.
func (r *reader) findings(quote string) (list []Finding) {
	for _, s := range r.all {
		if !s.dropped && s.severity != None && s.severity != "" {
			list = append(list, Finding{s.category, s.severity, quote})
		}
	}
	return list
}
