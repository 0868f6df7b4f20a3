package interpret

import (
	"slices"
	"strings"

	"ushuru/pkg/condition"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/transcribe"
)

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
	group := condition.GroupOf(first)
	g.OverallRaw, g.Group = &first, &group
	g.Meaning = new(sheet.GradeText(first))
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
	for _, note := range in.report.AllNotes() {
		in.repairNote(note)
	}
	if printed == "有" && r.Status == sheet.RepairNo || printed == "無" && r.Status == sheet.RepairYes {
		in.unreadable("repair_history.status", sheet.Contradicts, r.Evidence...)
	}
}

// repairNote adds what a note says of repairs. A denial of the seller or the
// inspector counts where nothing else is said.
func (in *interpreter) repairNote(note *sheet.Note) {
	r, said := &in.report.RepairHistory, condition.Read(note.JP)
	for _, f := range said.Findings {
		isRepair := f.Category == condition.Accident || f.Category == condition.Frame
		switch {
		case !isRepair || f.Severity.Rank() < condition.Caution.Rank():
		case f.Severity == condition.Disqualify && strings.Contains(note.JP, "修復"):
			r.Status = sheet.RepairYes
			fallthrough
		default:
			if !slices.Contains(r.Evidence, note.JP) {
				r.Evidence = append(r.Evidence, note.JP)
			}
		}
	}
	denies := slices.Contains(said.Denied, condition.Accident) && said.Severity().Rank() < condition.Caution.Rank()
	if denies && strings.Contains(note.JP, "修復") {
		if r.Status == sheet.RepairNotStated {
			r.Status = sheet.RepairNo
		}
		r.Evidence = append(r.Evidence, note.JP)
	}
	if said.Category() == condition.Frame {
		in.frameParts(note)
	}
}

// frameParts adds the parts of the frame that a note names.
func (in *interpreter) frameParts(note *sheet.Note) {
	r := &in.report.RepairHistory
	for _, word := range sheet.FrameParts() {
		if part, _ := sheet.WordOf("frame", word); strings.Contains(sheet.Fold(note.JP), sheet.Fold(word)) &&
			!slices.Contains(r.Parts, part.Text) {
			r.Parts = append(r.Parts, part.Text)
		}
	}
}
