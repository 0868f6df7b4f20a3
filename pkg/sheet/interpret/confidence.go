package interpret

import (
	"slices"
	"strings"

	"ushuru/pkg/sheet"
)

var levels = []sheet.Level{sheet.Nothing, sheet.Weak, sheet.Doubtful, sheet.Sure}

// lower returns the less sure of two levels.
func lower(a, b sheet.Level) sheet.Level {
	return levels[min(max(slices.Index(levels, a), 0), max(slices.Index(levels, b), 0))]
}

// confidence grades each block: what the model says of its clarity, lowered by
// what could not be taken. A model's word can lower a level and never raise it
// above what the checks leave.
func (in *interpreter) confidence() sheet.Confidence {
	r, said := in.report, &in.raw.Reading.Clarity
	block := func(clarity string, prefixes ...string) sheet.Level {
		return lower(clarityLevel(clarity), in.checked(prefixes...))
	}
	c := sheet.Confidence{
		House: block(said.House, "house", "lot", "auction_date"), Vehicle: block(said.Vehicle, "vehicle"),
		Dates: block(said.Dates, "dates"), Mileage: block(said.Mileage, "mileage"),
		Grades: block(said.Grades, "grades"), RepairHistory: block(said.Repair, "repair_history"),
		Equipment: block(said.Equipment, "equipment"), Notes: block(said.Notes, "notes"),
		BodyMap: block(said.Map, "body_map", "glass", "tyres_mm"), Documents: block(said.Documents, "documents"),
	}
	if r.Mileage.Value == nil {
		c.Mileage = sheet.Nothing
	} else if r.Mileage.ScaleInferred || r.Mileage.Flag == nil {
		c.Mileage = lower(c.Mileage, sheet.Doubtful)
	}
	if r.Grades.OverallRaw == nil {
		c.Grades = lower(c.Grades, sheet.Weak)
	}
	if in.raw.Second == nil { // nobody looked twice
		c.Mileage, c.Grades, c.Dates = lower(c.Mileage, sheet.Doubtful), lower(c.Grades, sheet.Doubtful), lower(c.Dates, sheet.Doubtful)
	}
	for area, level := range map[string][]*sheet.Level{
		"head": {&c.House}, "car_data": {&c.Vehicle}, "grades": {&c.Grades}, "mileage": {&c.Mileage}, "dates": {&c.Dates},
		"equipment": {&c.Equipment}, "seller_notes": {&c.Notes}, "inspector_notes": {&c.Notes, &c.RepairHistory},
		"office_notes": {&c.Notes}, "body_map": {&c.BodyMap}, "documents": {&c.Documents},
		"upper_half": {&c.Vehicle, &c.Grades}, "lower_half": {&c.Notes, &c.BodyMap, &c.RepairHistory},
		"left_half": {&c.Notes, &c.BodyMap}, "right_half": {&c.Notes, &c.BodyMap},
	} {
		if slices.Contains(r.Readability.UnreadableAreas, area) {
			for _, l := range level {
				*l = lower(*l, sheet.Weak)
			}
		}
	}
	c.Overall = sheet.Sure
	for _, level := range []sheet.Level{c.Vehicle, c.Dates, c.Mileage, c.Grades, c.Notes, c.BodyMap} {
		c.Overall = lower(c.Overall, surer(level, sheet.Weak))
	}
	if r.Readability.Overall != sheet.Full {
		c.Overall = lower(c.Overall, sheet.Doubtful)
	}
	return c
}

// surer is the surer of two levels.
func surer(a, b sheet.Level) sheet.Level {
	if lower(a, b) == a {
		return b
	}
	return a
}

func clarityLevel(clarity string) sheet.Level {
	switch clarity {
	case "clear":
		return sheet.Sure
	case "doubtful":
		return sheet.Doubtful
	}
	return sheet.Weak
}

// checked is what the checks leave of a block.
func (in *interpreter) checked(prefixes ...string) sheet.Level {
	level := sheet.Sure
	for _, u := range in.report.Unreadable {
		block, _, _ := strings.Cut(u.Field, ".")
		if !slices.Contains(prefixes, block) {
			continue
		}
		switch u.Reason {
		case sheet.ReadingsDiffer, sheet.Contradicts:
			level = lower(level, sheet.Weak)
		case sheet.Illegible, sheet.NotAllowed, sheet.EraMissing:
			level = lower(level, sheet.Doubtful)
		case sheet.PrintedUnknown:
		}
	}
	return level
}
