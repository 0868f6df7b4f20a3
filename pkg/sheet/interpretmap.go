package sheet

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// codePattern is a damage code: letters, perhaps a size; or one of the words.
var codePattern = regexp.MustCompile(`^(?:([A-Z]{1,3})([0-9]?)|(欠|穴|コゲ|ワレ|割れ)([0-9]?))$`)

// bodyMap explains the codes on the drawing: by the printed legend, else by our
// table. A code that neither has keeps no meaning.
func (in *interpreter) bodyMap() {
	in.readLegend()
	for i, raw := range in.raw.Sheet.Map {
		if i == maxMarks {
			in.unreadable("body_map", NotAllowed)
			return
		}
		code := strings.ToUpper(narrow(raw.Code))
		parts := codePattern.FindStringSubmatch(code)
		if parts == nil {
			reason := NotAllowed
			if raw.Code == NotReadable {
				reason = Illegible
			}
			in.unreadable("body_map", reason)
			continue
		}
		mark := Mark{Panel: otherValue, CodeRaw: code, Severity: NotKnown}
		if slices.Contains(panels, raw.Panel) {
			mark.Panel = raw.Panel
		}
		if raw.Side == "left" || raw.Side == "right" {
			mark.Side = new(raw.Side)
		}
		in.explain(&mark, parts[1]+parts[3], parts[2]+parts[4])
		in.report.BodyMap = append(in.report.BodyMap, mark)
	}
}

// readLegend takes the lines of the printed legend that can be one.
func (in *interpreter) readLegend() {
	in.legend = map[string]string{}
	for _, line := range in.raw.Sheet.Legend {
		code := strings.ToUpper(narrow(line.Code))
		phrase := quotable(line.JP, maxValue)
		if codePattern.MatchString(code) && phrase != "" && phrase != NotReadable && !foul(phrase) {
			if _, twice := in.legend[code]; !twice {
				in.legend[code] = phrase
			}
		}
	}
}

// explain says what the letters mean. A legend may make a code graver than it
// is elsewhere, but no milder: a picture can print any legend.
func (in *interpreter) explain(mark *Mark, letters, size string) {
	if size != "" {
		n, _ := strconv.Atoi(size) // one digit
		mark.SizeRaw = &n
	}
	usual, usualKnown := usualDamage(letters)
	if usualKnown {
		mark.Severity = usual.severity
	}
	if phrase, printed := in.legend[letters]; printed {
		mark.FromLegend, mark.LegendJP = true, &phrase
		if says, known := damageOf("legend", phrase); known {
			mark.Meaning = &says.text
			mark.Severity = graver(says.severity, mark.Severity)
		}
	} else if usualKnown {
		mark.Meaning = &usual.text
	}
	if mark.SizeRaw == nil || !usualKnown || usual.sizes == "" || mark.Meaning == nil {
		return
	}
	if about, known := damageOf("size", usual.sizes+size); known {
		mark.SizeMeans = &about.text
	}
	if *mark.SizeRaw >= 3 {
		mark.Severity = graver(next(mark.Severity), mark.Severity)
	}
}

// usualDamage is our table: a code of it, or two letters that stand together.
func usualDamage(letters string) (damage, bool) {
	if d, found := damageOf("code", letters); found {
		return d, true
	}
	if len(letters) != 2 || letters[0] == letters[1] {
		return damage{}, false
	}
	first, found1 := damageOf("code", letters[:1])
	second, found2 := damageOf("code", letters[1:])
	if !found1 || !found2 {
		return damage{}, false
	}
	return damage{
		Text{first.text.EN + " and " + second.text.EN, first.text.SW + " na " + second.text.SW},
		graver(first.severity, second.severity), first.sizes,
	}, true
}

var severities = []Severity{NotKnown, Info, Low, Medium, High}

// graver returns the heavier of two severities.
func graver(a, b Severity) Severity {
	return severities[max(slices.Index(severities, a), slices.Index(severities, b), 0)]
}

// next is one step heavier.
func next(s Severity) Severity {
	return severities[min(max(slices.Index(severities, s), 0)+1, len(severities)-1)]
}

// tyres are treads in mm, printed perhaps in brackets.
func (in *interpreter) tyres() {
	t, raw := &in.report.TyresMM, &in.raw.Sheet.Tyres
	for _, tyre := range []struct {
		name, printed string
		mm            **int
	}{
		{"front_left", raw.FrontLeft, &t.FrontLeft},
		{"front_right", raw.FrontRight, &t.FrontRight},
		{"rear_left", raw.RearLeft, &t.RearLeft},
		{"rear_right", raw.RearRight, &t.RearRight},
		{"spare", raw.Spare, &t.Spare},
	} {
		printed := strings.Trim(narrow(tyre.printed), "[]()")
		*tyre.mm = in.number("tyres_mm."+tyre.name, printed, 0, 15, "mm", "MM", "分")
	}
}
