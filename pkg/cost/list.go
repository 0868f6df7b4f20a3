package cost

import "strings"

// Row is a fee of the tables as people read it.
type Row struct {
	Code      string `json:"code"`
	Days      string `json:"days,omitempty"`      // on which it is charged; empty is every day
	Countries string `json:"countries,omitempty"` // empty is every one
	Value     string `json:"value"`
	Standing  string `json:"standing"`
	Source    string `json:"source"`
	Date      string `json:"date"`
}

// Rows returns every fee of the tables, in their order.
func (t *Tables) Rows() (rows []Row) {
	for _, l := range t.lines {
		for _, f := range l.Fees {
			rows = append(rows, Row{
				l.Code, days(f.From, f.Until), f.countries(), f.value(), string(f.Standing), f.Source, f.Date,
			})
		}
		if s := t.storage; l.Code == codeStorage {
			value := s.PerDay.String() + "USD/m3/day(" + s.Later.String() + ")"
			rows = append(rows, Row{l.Code, "", "", value, string(s.Standing), s.Source, s.Date})
		}
	}
	return rows
}

func days(from, until string) string {
	if from == "" && until == "" {
		return ""
	}
	return from + ".." + until
}

func (f fee) countries() string {
	if len(f.Except) > 0 {
		return "not " + strings.Join(f.Except, ", ")
	}
	return strings.Join(f.Only, ", ")
}

// value returns the amount with its bounds in parentheses: 120USD/m3(70..180).
func (f fee) value() string {
	text := f.Amount.text()
	if f.Low != nil || f.High != nil {
		prices := f.prices()
		text += "(" + prices[1].bound(f.Amount) + ".." + prices[2].bound(f.Amount) + ")"
	}
	if f.VAT.IsPositive() {
		text += "+" + f.VAT.Shift(2).String() + "%"
	}
	return text
}

// bound returns a bound of an amount, without the unit when that is the same.
func (p price) bound(of price) string {
	if p.Unit == of.Unit {
		return strings.TrimSuffix(p.text(), string(p.Unit))
	}
	return p.text()
}

func (p price) text() string {
	if p.Unit.isFraction() {
		return p.Value.Shift(2).String() + "%" + string(p.Unit)
	}
	return p.Value.String() + string(p.Unit)
}

// OtherRules returns the tax rules that are announced or stayed, with their sources.
func (t *Tables) OtherRules() (rows []Row) {
	for _, r := range t.law.Others() {
		e := r.Evidence["state"]
		rows = append(rows, Row{"tax_rules", days(r.From, ""), "", string(r.State), e.Grade, e.Source, r.From})
	}
	return rows
}
