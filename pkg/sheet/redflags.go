package sheet

import (
	"strings"
	"sync"
)

// The values of RedFlag.Rule.
const (
	FlagRepairGrade    = "grade_repair"
	FlagNotGraded      = "grade_not_graded"
	FlagRepairHistory  = "repair_history"
	FlagFrame          = "frame_word"
	FlagFlood          = "flood"
	FlagMeterReplaced  = "mileage_replaced"
	FlagMeterTampered  = "mileage_tampered"
	FlagMeterUnknown   = "mileage_unknown"
	FlagAccidentCorner = "accident_corner"
	FlagUse            = "commercial_use"
	FlagCorrosion      = "corrosion"
	FlagReplacedPart   = "part_replaced"
	FlagEngineGearbox  = "engine_gearbox"
	FlagWarningLamp    = "warning_lamp"
	FlagAirCon         = "air_conditioning"
	FlagColourChanged  = "colour_changed"
	FlagScale          = "mileage_scale"
	FlagUnreadable     = "sheet_unreadable_in_part"
	FlagReadingsDiffer = "readings_differ"
)

// flagged returns the words that raise a red flag wherever a note has them: the
// list "red" of words.csv, in its order. Rules and severities are our proposal.
var flagged = sync.OnceValue(func() (list []struct{ word, rule string }) {
	for _, row := range ReadTable(wordTable, 5) {
		if row[0] == "red" {
			list = append(list, struct{ word, rule string }{row[1], row[2]})
		}
	}
	return list
})

// flagList collects red flags, each once.
type flagList struct {
	flags []RedFlag
	seen  map[string]bool
}

func (l *flagList) add(rule, quote string) {
	if l.seen[rule] {
		return
	}
	l.seen[rule] = true
	s := texts()[[2]string{"flag", rule}]
	l.flags = append(l.flags, RedFlag{rule, quote, s.Text, s.Severity})
}

// FindRedFlags returns what the buyer should know before paying, each once, with
// its evidence.
func FindRedFlags(r *Report) []RedFlag {
	l := &flagList{[]RedFlag{}, map[string]bool{}}
	l.grades(r)
	l.mileage(&r.Mileage)
	l.car(r)
	l.notes(r)
	l.bodyMap(r)
	if r.Readability.Overall != Full {
		l.add(FlagUnreadable, "")
	}
	for _, u := range r.Unreadable {
		if u.Reason == ReadingsDiffer || u.Reason == Contradicts {
			l.add(FlagReadingsDiffer, strings.Join(u.Readings, " / "))
		}
	}
	return l.flags
}

func (l *flagList) grades(r *Report) {
	if group := r.Grades.Group; group != nil && *group == RepairGrade {
		l.add(FlagRepairGrade, "評価点 "+*r.Grades.OverallRaw)
	} else if group != nil && *group == NotGraded {
		l.add(FlagNotGraded, "評価点 "+*r.Grades.OverallRaw)
	}
	if r.RepairHistory.Status == RepairYes {
		l.add(FlagRepairHistory, firstOf(r.RepairHistory.Evidence))
	}
	if c := r.House.Corner; c != nil && (strings.Contains(*c, "事故") || strings.Contains(*c, "現状")) {
		l.add(FlagAccidentCorner, *c)
	}
}

func (l *flagList) mileage(m *Mileage) {
	if m.Flag != nil && *m.Flag != NoFlag {
		rule := map[Flag]string{Replaced: FlagMeterReplaced, Tampered: FlagMeterTampered, Unknown: FlagMeterUnknown}[*m.Flag]
		l.add(rule, deref(m.FlagText))
	}
	if m.ScaleInferred {
		l.add(FlagScale, *m.RawDigits)
	}
}

func (l *flagList) car(r *Report) {
	if u := r.Vehicle.UseHistory; u != nil && (*u == "rental" || *u == "hire" || *u == "driving_school") {
		l.add(FlagUse, *r.Vehicle.UseHistoryRaw)
	}
	if r.Vehicle.ColourChanged {
		l.add(FlagColourChanged, *r.Vehicle.ColourJP)
	}
}

func (l *flagList) notes(r *Report) {
	for _, note := range r.AllNotes() {
		for _, f := range flagged() {
			if Mentions(note.JP, f.word) {
				l.add(f.rule, note.JP)
			}
		}
		for _, word := range FrameWords {
			if MentionsFrame(note, word) {
				l.add(FlagFrame, note.JP)
			}
		}
	}
}

func (l *flagList) bodyMap(r *Report) {
	for _, mark := range r.BodyMap {
		letters := strings.TrimRight(mark.CodeRaw, "0123456789")
		switch {
		case letters == "X" || letters == "XX" || mark.Meaning != nil && strings.Contains(mark.Meaning.EN, "replac"):
			l.add(FlagReplacedPart, mark.CodeRaw)
		case letters == "C" && (mark.Panel == "floor" || mark.Panel == "sill"):
			l.add(FlagCorrosion, mark.CodeRaw)
		}
	}
}

func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// FrameWords are the parts of the frame and the work on it. A note with one of them
// is evidence, but not yet a repair history.
var FrameWords = []string{
	"骨格", "コアサポート", "ピラー", "フロア", "インサイドパネル", "バックパネル", "サイドメンバー", "クロスメンバー", "修正", "突き上げ",
}

// MentionsFrame reports whether a note has a word of FrameWords. Floor mats and
// floor levers do not count.
func MentionsFrame(note *Note, word string) bool {
	text := Fold(note.JP)
	if word == "フロア" {
		text = strings.NewReplacer("フロアマット", "", "フロアAT", "", "フロアMT", "", "フロアシフト", "").Replace(text)
	}
	return Mentions(text, word)
}
