package interpret

import (
	"slices"
	"strings"

	"ushuru/pkg/sheet"
)

// levels are in ascending order.
var levels = []sheet.Level{sheet.Nothing, sheet.Weak, sheet.Doubtful, sheet.Sure}

// noConfidence is the confidence of a report without values.
var noConfidence = sheet.Confidence{
	Overall: sheet.Nothing, House: sheet.Nothing, Vehicle: sheet.Nothing, Dates: sheet.Nothing, Mileage: sheet.Nothing,
	Grades: sheet.Nothing, RepairHistory: sheet.Nothing, Equipment: sheet.Nothing, Notes: sheet.Nothing,
	BodyMap: sheet.Nothing, Documents: sheet.Nothing,
}

// lower returns the lower of two levels.
func lower(a, b sheet.Level) sheet.Level {
	return levels[min(max(slices.Index(levels, a), 0), max(slices.Index(levels, b), 0))]
}

// confidence gives each block of the report a level. The model's own word on the
// clarity of a block can lower the level, but cannot raise it above the level
// that the checks leave.
func (in *interpreter) confidence() sheet.Confidence {
	r, clarity := in.report, in.raw.Reading.Clarity
	block := func(word string, prefixes ...string) sheet.Level {
		return lower(clarityLevel(word), in.checked(prefixes...))
	}
	c := sheet.Confidence{
		House: block(clarity["house"], "house", "lot", "auction_date"), Vehicle: block(clarity["vehicle"], "vehicle"),
		Dates: block(clarity["dates"], "dates"), Mileage: block(clarity["mileage"], "mileage"),
		Grades: block(clarity["grades"], "grades"), RepairHistory: block(clarity["repair_history"], "repair_history"),
		Equipment: block(clarity["equipment"], "equipment"), Notes: block(clarity["notes"], "notes"),
		BodyMap: block(clarity["map"], "body_map", "glass", "tyres_mm"), Documents: block(clarity["documents"], "documents"),
	}
	if r.Mileage.Value == nil {
		c.Mileage = sheet.Nothing
	} else if r.Mileage.ScaleInferred || r.Mileage.Flag == nil {
		c.Mileage = lower(c.Mileage, sheet.Doubtful)
	}
	if r.Grades.OverallRaw == nil {
		c.Grades = lower(c.Grades, sheet.Weak)
	}
	if in.raw.Second == nil { // there is only one reading
		for _, level := range []*sheet.Level{&c.Mileage, &c.Grades, &c.Dates} {
			*level = lower(*level, sheet.Doubtful)
		}
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

// surer returns the higher of two levels.
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

// checked returns the level that the checks leave to a block.
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
