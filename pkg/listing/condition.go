package listing

import (
	"strings"

	"ushuru/pkg/condition"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/vehicle"
)

// maxStatements bounds what is kept of a page.
const maxStatements = 6

// setCondition keeps what the listing itself says of faults: the values of labels that
// speak of the condition, with their labels.
func (l *Listing) setCondition(doc *page.Document) {
	for _, pair := range doc.Pairs {
		isAbout := pair.Field == claim.FieldCondition || pair.Field == claim.FieldMileage
		if !isAbout || pair.Struck || len(pair.Value) > 300 {
			continue
		}
		value := strings.TrimSpace(pair.Value)
		if value == "" || value == "-" {
			continue
		}
		l.say(condition.ReadRow(pair.Label, value), pair.Label+": "+value)
	}
}

// say keeps the findings of a row from caution on.
func (l *Listing) say(said condition.Judgement, quote string) {
	for _, f := range said.Findings {
		if f.Severity.Rank() < condition.Caution.Rank() || len(l.Car.Condition) >= maxStatements {
			continue
		}
		statement := vehicle.Statement{Category: string(f.Category), Level: string(f.Severity), Quote: clip(quote)}
		for _, other := range l.Car.Condition {
			if other.Category == statement.Category && other.Level == statement.Level {
				return
			}
		}
		l.Car.Condition = append(l.Car.Condition, statement)
	}
}

// clip returns a quote as one short line.
func clip(quote string) string {
	const most = 80
	runes := []rune(strings.Join(strings.Fields(quote), " "))
	return string(runes[:min(len(runes), most)])
}
