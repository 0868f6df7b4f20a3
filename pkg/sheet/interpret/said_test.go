package interpret_test

import (
	"slices"
	"testing"

	"ushuru/pkg/condition"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/interpret"
	"ushuru/pkg/sheet/transcribe"
	"ushuru/pkg/sheet/transcribe/transcribetest"
)

// The words of the sheet and the answers on the grave matters are joined: the graver
// holds, an answer never clears words, and one that nothing on the sheet proves is a doubt.
func TestAnswersAndWordsAreJoined(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		note         string
		answer, says string
		want         condition.Severity
		quote        string
	}{
		"grave words, yes":            {"冠水歴あり", "yes", "冠水歴あり", condition.Disqualify, "冠水歴あり"},
		"grave words, no":             {"冠水歴あり", "no", "", condition.Disqualify, "冠水歴あり"},
		"grave words, not said":       {"冠水歴あり", "not_said", "", condition.Disqualify, "冠水歴あり"},
		"nothing known, yes, found":   {"床から妙な形跡", "yes", "妙な形跡", condition.Grave, "妙な形跡"},
		"nothing, yes, not found":     {"シート汚れ", "yes", "車内に水の線", condition.Doubt, "車内に水の線"},
		"nothing, yes, empty":         {"シート汚れ", "yes", "", condition.Doubt, ""},
		"denied, yes, its own denial": {"冠水歴なし", "yes", "冠水歴なし", condition.Doubt, "冠水歴なし"},
		"denied, no":                  {"冠水歴なし", "no", "冠水歴なし", condition.None, ""},
		"nothing, no":                 {"シート汚れ", "no", "", condition.None, ""},
		"nothing, not said":           {"シート汚れ", "not_said", "", condition.None, ""},
		"minor words, yes, found":     {"トランク水入り", "yes", "トランク水入り", condition.Caution, "トランク水入り"},
	} {
		raw := transcribetest.Prius()
		raw.Reading.Notes = []transcribe.Note{{Author: transcribe.InspectorNotes, JP: c.note, Kind: "info", Area: "inside"}}
		raw.Reading.Said = map[string]transcribe.Answer{"flood": {Answer: c.answer, Quote: c.says}}
		r := interpret.Transcript(raw, interpret.Known{Now: now})
		i := slices.IndexFunc(r.RedFlags, func(f sheet.RedFlag) bool { return f.Category == "flood" })
		got, quote := condition.None, ""
		if i >= 0 {
			got, quote = r.RedFlags[i].Level, r.RedFlags[i].QuoteJP
		}
		if got != c.want || quote != c.quote {
			t.Errorf("%s: got %s %q, want %s %q", name, got, quote, c.want, c.quote)
		}
	}
}
