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
func (r *reader) deny(kind string, tok *token) {
	r.known = true
	defer func() { r.wasDeny, r.ended, r.good = true, false, nil }()
	switch {
	case r.record && len(r.fresh) > 0 && r.fresh[0].category == Meter:
		r.fresh[0].severity, r.open = Disqualify, nil // replaced, without a record
		return
	case r.good != nil && kind != "fine" && len(r.open) == 0:
		r.denyGood(false)
		return
	case len(r.before) > 0 && len(r.open) == 0:
		r.denyThese(r.before)
		r.before = nil
		return
	case len(r.parts) > 0 && kind != "fine":
		r.open = nil
		for _, p := range r.parts {
			if e, found := effectOf(classOf(p), "no"); found {
				r.statement(e, classOf(p), tok)
			}
		}
		r.open, r.parts = nil, nil
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
	mine := slices.ContainsFunc(r.open, func(s *statement) bool { return s.item == r.item && !s.isEvent })
	var denied []*statement
	for _, s := range r.open {
		if mine && s.isEvent && s.item < r.item && s.severity.IsGrave() {
			s.severity = Doubt
			continue
		}
		denied = append(denied, s)
	}
	r.denyThese(denied)
	r.open, r.used = nil, nil
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
	if r.good.note == "need" {
		severity = r.good.severity
	} else if category == NoCategory {
		category = Accident
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
func (r *reader) flip(*token) {
	switch {
	case r.good != nil:
		r.denyGood(true)
	case r.wasDeny && len(r.justDeny) > 0:
		r.restore(Grave)
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
	r.open, r.parts, r.ended, r.good = nil, nil, false, nil
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
	r.choose()
	r.unfound()
}

// unfound leaves parts of the frame that are named without a finding in doubt.
func (r *reader) unfound() {
	for _, p := range r.parts {
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

// findings returns what stands.
func (r *reader) findings(quote string) (list []Finding) {
	for _, s := range r.all {
		if !s.dropped && s.severity != None && s.severity != "" {
			list = append(list, Finding{s.category, s.severity, quote})
		}
	}
	slices.SortStableFunc(list, func(a, b Finding) int { return b.Severity.Rank() - a.Severity.Rank() })
	return list
}
