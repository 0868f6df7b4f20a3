package interpret

import (
	"strings"

	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/transcribe"
)

// groupOf returns the group of a grade on the closed list. RA is a grade of its
// own, not an R with a letter.
func groupOf(mark string) sheet.GradeGroup {
	switch mark {
	case "R", "R1", "R2", "RA", "RB", "RC", "A", "0":
		return sheet.RepairGrade
	case "***", "**", "*", "-", "X", "無効":
		return sheet.NotGraded
	}
	return sheet.Graded
}

// grades reads the overall grade and the two letters. They are separate
// judgements: none is inferred from another.
func (in *interpreter) grades() {
	g, raw := &in.report.Grades, &in.raw.Reading.Grades
	second := in.secondReading()
	g.Exterior = in.letter("grades.exterior", raw.Exterior, second.Exterior)
	g.Interior = in.letter("grades.interior", raw.Interior, second.Interior)
	first := in.listed("grades.overall_raw", raw.Overall, transcribe.OverallGrades)
	if again := in.raw.Second; again != nil {
		if second := again.Overall; second != raw.Overall && (first != "" || second != sheet.NotPrinted) {
			first := strings.ReplaceAll(raw.Overall, sheet.NotPrinted, "")
			in.unreadable("grades.overall_raw", sheet.ReadingsDiffer, first, second)
			return
		}
	}
	if first == "" {
		return
	}
	group := groupOf(first)
	g.OverallRaw, g.Group = &first, &group
	if group == sheet.Graded {
		g.Meaning = new(sheet.TextOf("grade", first))
	} else {
		g.Meaning = new(sheet.TextOf("grade", string(group)))
	}
}

func (in *interpreter) letter(field, printed, second string) *string {
	printed = in.compareReadings(field, sheet.Narrow(printed), sheet.Narrow(second), transcribe.Letters)
	if printed == "" {
		return nil
	}
	return &printed
}

// secondReading returns the second reading; an empty one when there is none.
func (in *interpreter) secondReading() *transcribe.SecondReading {
	if in.raw.Second == nil {
		return &transcribe.SecondReading{}
	}
	return in.raw.Second
}

// compareReadings returns a value of a closed list when both readings agree on
// it. An empty second reading does not count.
func (in *interpreter) compareReadings(field, first, second string, list transcribe.List) string {
	if second != "" && second != first && (first != "" || second != sheet.NotPrinted) {
		none := strings.NewReplacer(sheet.NotPrinted, "-")
		in.unreadable(field, sheet.ReadingsDiffer, none.Replace(first), none.Replace(second))
		return ""
	}
	return in.listed(field, first, list)
}

// repair reads what the sheet says about repairs of the frame, and their place.
func (in *interpreter) repair() {
	r := &in.report.RepairHistory
	printed := in.compareReadings("repair_history.status", in.raw.Reading.Repair, in.secondReading().Repair, transcribe.Repairs)
	switch printed {
	case "有", "小", "中", "大":
		r.Status = sheet.RepairYes
		r.Evidence = append(r.Evidence, "修復歴 "+printed)
	case "無":
		r.Status = sheet.RepairNo
		r.Evidence = append(r.Evidence, "修復歴 無")
	}
	if group := in.report.Grades.Group; group != nil && *group == sheet.RepairGrade {
		r.Status = sheet.RepairYes
		r.Evidence = append(r.Evidence, "評価点 "+*in.report.Grades.OverallRaw)
	}
	seen := map[string]bool{}
	for _, note := range in.report.AllNotes() {
		folded := sheet.Fold(note.JP)
		switch {
		case strings.Contains(folded, "修復歴無"):
			if r.Status == sheet.RepairNotStated {
				r.Status = sheet.RepairNo
			}
			r.Evidence = append(r.Evidence, note.JP)
			continue
		case strings.Contains(folded, "修復歴"):
			r.Status = sheet.RepairYes
			r.Evidence = append(r.Evidence, note.JP)
		}
		for _, word := range sheet.FrameWords {
			if !sheet.MentionsFrame(note, word) {
				continue
			}
			if !seen[note.JP] && !strings.Contains(folded, "修復歴") {
				r.Evidence = append(r.Evidence, note.JP)
			}
			seen[note.JP] = true
			if part, found := sheet.WordOf("frame", word); found && !seen[word] {
				r.Parts = append(r.Parts, part.Text)
				seen[word] = true
			}
		}
	}
}
