package sheet

import "strings"

// groupOf sorts the marks of the closed list. Marks of the first group are
// whole: RA is no R.
func groupOf(mark string) GradeGroup {
	switch mark {
	case "R", "R1", "R2", "RA", "RB", "RC", "A", "0":
		return RepairGrade
	case "***", "**", "*", "-", "X", "無効":
		return NotGraded
	}
	return Graded
}

// grades are three separate judgements; none is concluded from another.
func (in *interpreter) grades() {
	g, raw := &in.report.Grades, &in.raw.Sheet.Grades
	second := in.again()
	g.Exterior = in.letter("grades.exterior", raw.Exterior, second.Exterior)
	g.Interior = in.letter("grades.interior", raw.Interior, second.Interior)
	first := in.listed("grades.overall_raw", raw.Overall, overallMarks)
	if again := in.raw.Again; again != nil {
		if second := again.Overall; second != raw.Overall && (first != "" || second != NotPrinted) {
			in.unreadable("grades.overall_raw", ReadingsDiffer, strings.ReplaceAll(raw.Overall, NotPrinted, ""), second)
			return
		}
	}
	if first == "" {
		return
	}
	group := groupOf(first)
	g.OverallRaw, g.Group = &first, &group
	if group == Graded {
		g.Meaning = new(textOf("grade", first).text)
	} else {
		g.Meaning = new(textOf("grade", string(group)).text)
	}
}

func (in *interpreter) letter(field, printed, second string) *string {
	printed = in.twice(field, narrow(printed), narrow(second), letters)
	if printed == "" {
		return nil
	}
	return &printed
}

// again is the second look, an empty one when there was none.
func (in *interpreter) again() *Again {
	if in.raw.Again == nil {
		return &Again{}
	}
	return in.raw.Again
}

// twice is a value of a closed list that two looks agree on. A second look that
// says nothing at all was not taken.
func (in *interpreter) twice(field, first, second string, list []string) string {
	if second != "" && second != first && (first != "" || second != NotPrinted) {
		none := strings.NewReplacer(NotPrinted, "-")
		in.unreadable(field, ReadingsDiffer, none.Replace(first), none.Replace(second))
		return ""
	}
	return in.listed(field, first, list)
}

// frameWords are parts of the frame and what is done to it. One in a note is
// evidence; it is not yet a repair history.
var frameWords = []string{
	"骨格", "コアサポート", "ピラー", "フロア", "インサイドパネル", "バックパネル", "サイドメンバー", "クロスメンバー", "修正", "突き上げ",
}

// repair is what the sheet says of repairs of the frame, and where.
func (in *interpreter) repair() {
	r := &in.report.RepairHistory
	printed := in.twice("repair_history.status", in.raw.Sheet.Repair, in.again().Repair, repairs)
	switch printed {
	case "有", "小", "中", "大":
		r.Status = RepairYes
		r.Evidence = append(r.Evidence, "修復歴 "+printed)
	case "無":
		r.Status = RepairNo
		r.Evidence = append(r.Evidence, "修復歴 無")
	}
	if group := in.report.Grades.Group; group != nil && *group == RepairGrade {
		r.Status = RepairYes
		r.Evidence = append(r.Evidence, "評価点 "+*in.report.Grades.OverallRaw)
	}
	seen := map[string]bool{}
	for _, note := range in.report.allNotes() {
		folded := fold(note.JP)
		switch {
		case strings.Contains(folded, "修復歴無"):
			if r.Status == RepairNotStated {
				r.Status = RepairNo
			}
			r.Evidence = append(r.Evidence, note.JP)
			continue
		case strings.Contains(folded, "修復歴"):
			r.Status = RepairYes
			r.Evidence = append(r.Evidence, note.JP)
		}
		for _, word := range frameWords {
			if !frameSays(note, word) {
				continue
			}
			if !seen[note.JP] && !strings.Contains(folded, "修復歴") {
				r.Evidence = append(r.Evidence, note.JP)
			}
			seen[note.JP] = true
			if part, found := wordOf("frame", word); found && !seen[word] {
				r.Parts = append(r.Parts, part.text)
				seen[word] = true
			}
		}
	}
}

// frameSays says whether a note has a word of the frame. A floor mat and a
// floor lever are none.
func frameSays(note *Note, word string) bool {
	text := fold(note.JP)
	if word == "フロア" {
		text = strings.NewReplacer("フロアマット", "", "フロアAT", "", "フロアMT", "", "フロアシフト", "").Replace(text)
	}
	return says(text, word)
}
