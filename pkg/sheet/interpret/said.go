package interpret

import (
	"strings"

	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/transcribe"
)

// said reads the answers on the grave matters, and looks for their quotes among the
// texts that were read.
func (in *interpreter) said() {
	texts := in.written()
	for _, subject := range sheet.Subjects {
		raw := in.raw.Reading.Said[string(subject)]
		if raw.Answer != "yes" && raw.Answer != "no" {
			continue
		}
		quote := masked(quotable(raw.Quote, transcribe.MaxNoteJP))
		if isInstruction(quote) || quote == sheet.NotReadable {
			quote = ""
		}
		in.report.Said = append(in.report.Said, sheet.Said{
			About: string(subject), Answer: raw.Answer, QuoteJP: quote,
			Found: quote != "" && strings.Contains(texts, sheet.Fold(quote)),
		})
	}
}

// written returns the folded texts of the sheet in which a quote can lie.
func (in *interpreter) written() string {
	var b strings.Builder
	add := func(text string) { b.WriteString(sheet.Fold(text) + "\n") }
	for _, note := range in.report.AllNotes() {
		add(note.JP)
	}
	r := in.report
	for _, text := range append(r.RepairHistory.Evidence, "修復歴"+in.raw.Reading.Repair, in.raw.Reading.MeterCircled) {
		add(text)
	}
	if r.House.Corner != nil {
		add(*r.House.Corner)
	}
	if r.Grades.OverallRaw != nil {
		add("評価点" + *r.Grades.OverallRaw)
	}
	return b.String()
}
