package interpret

import (
	"regexp"
	"strconv"
	"strings"

	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/transcribe"
)

// codePattern matches a damage code: letters or a word, and an optional size.
var codePattern = regexp.MustCompile(`^(?:([A-Z]{1,3})([0-9]?)|(欠|穴|コゲ|ワレ|割れ)([0-9]?))$`)

// severalCodes parts the codes of one mark: A1 U2, A1/U2.
var severalCodes = regexp.MustCompile(`[\s/,、・+]+`)

// tens matches a size of two digits, which forms use for the larger marks: A10.
var tens = regexp.MustCompile(`^([ABUWSCPH])([1-4]0)$`)

// marksOf returns the codes of one mark.
func marksOf(code string) []string {
	parts := severalCodes.Split(code, -1)
	for _, part := range parts {
		if len(parts) > 1 && !sizedCode.MatchString(part) {
			return []string{code} // whole, so that the report says that it is no code
		}
	}
	return parts
}

// sizedCode matches a code that may stand beside another in one mark.
var sizedCode = regexp.MustCompile(`^[A-Z]{1,2}[0-9]$`)

// bodyMap reads the codes on the drawing and explains them by the printed legend,
// else by the table of codes. A code in neither has no meaning.
func (in *interpreter) bodyMap() {
	in.readLegend()
	for i, raw := range in.raw.Reading.Map {
		if i == transcribe.MaxMarks {
			in.unreadable("body_map", sheet.NotAllowed)
			return
		}
		for _, code := range marksOf(strings.ToUpper(sheet.Narrow(raw.Code))) {
			in.mark(raw, code)
		}
	}
}

// mark reads one code of the drawing.
func (in *interpreter) mark(raw transcribe.Mark, code string) {
	printed := code
	if written := words()["code"][code]; written != "" {
		code = written
	}
	if long := tens.FindStringSubmatch(code); long != nil {
		size, _ := strconv.Atoi(long[2])
		code = long[1] + strconv.Itoa(min((size+9)/10, largest)) // A10: centimetres, the size of A1
	}
	parts := codePattern.FindStringSubmatch(code)
	if parts == nil {
		reason := sheet.NotAllowed
		if raw.Code == sheet.NotReadable {
			reason = sheet.Illegible
		}
		in.unreadable("body_map", reason)
		return
	}
	mark := sheet.Mark{Panel: transcribe.OtherValue, CodeRaw: printed, Severity: sheet.NotKnown}
	if transcribe.Panels.Has(raw.Panel) {
		mark.Panel = raw.Panel
	}
	if raw.Side == "left" || raw.Side == "right" {
		mark.Side = new(raw.Side)
	}
	in.explain(&mark, parts[1]+parts[3], parts[2]+parts[4])
	in.report.BodyMap = append(in.report.BodyMap, mark)
}

// largest is the largest number of a size.
const largest = 4

// readLegend reads the valid lines of the printed legend.
func (in *interpreter) readLegend() {
	in.legend = map[string]string{}
	for _, line := range in.raw.Reading.Legend {
		code := strings.ToUpper(sheet.Narrow(line.Code))
		phrase := quotable(line.JP, transcribe.MaxValue)
		if codePattern.MatchString(code) && phrase != "" && phrase != sheet.NotReadable && !isInstruction(phrase) {
			if _, exists := in.legend[code]; !exists {
				in.legend[code] = phrase
			}
		}
	}
}

// explain adds what the letters mean. A legend can make a code graver than the
// table does, but not milder: an image can print any legend.
func (in *interpreter) explain(mark *sheet.Mark, letters, size string) {
	if size != "" {
		n, _ := strconv.Atoi(size) // one digit
		mark.SizeRaw = &n
	}
	usual, usualKnown := usualDamage(letters)
	if usualKnown {
		mark.Severity = usual.Severity
	}
	if phrase, printed := in.legend[letters]; printed {
		mark.FromLegend, mark.LegendJP = true, &phrase
		if says, known := sheet.DamageOf("legend", phrase); known {
			mark.Meaning = &says.Text
			mark.Severity = sheet.Graver(says.Severity, mark.Severity)
		}
	} else if usualKnown {
		mark.Meaning = &usual.Text
	}
	if mark.SizeRaw == nil || !usualKnown || usual.Sizes == "" || mark.Meaning == nil {
		return
	}
	if about, known := sheet.DamageOf("size", usual.Sizes+size); known {
		mark.SizeMeans = &about.Text
	}
	if *mark.SizeRaw >= 3 {
		mark.Severity = sheet.Graver(mark.Severity.Next(), mark.Severity)
	}
}

// usualDamage looks up a code in the table of codes. Two letters that are not a
// code of their own are two codes.
func usualDamage(letters string) (sheet.Damage, bool) {
	if d, found := sheet.DamageOf("code", letters); found {
		return d, true
	}
	if len(letters) != 2 || letters[0] == letters[1] {
		return sheet.Damage{}, false
	}
	first, found1 := sheet.DamageOf("code", letters[:1])
	second, found2 := sheet.DamageOf("code", letters[1:])
	if !found1 || !found2 {
		return sheet.Damage{}, false
	}
	return sheet.Damage{
		Text:     sheet.Text{EN: first.Text.EN + " and " + second.Text.EN, SW: first.Text.SW + " na " + second.Text.SW},
		Severity: sheet.Graver(first.Severity, second.Severity), Sizes: first.Sizes,
	}, true
}

// tyres reads the treads in mm. They may be printed in brackets.
func (in *interpreter) tyres() {
	t, raw := &in.report.TyresMM, &in.raw.Reading.Tyres
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
		printed := strings.Trim(sheet.Narrow(tyre.printed), "[]()")
		*tyre.mm = in.number("tyres_mm."+tyre.name, printed, 0, 15, "mm", "MM", "分")
	}
}
