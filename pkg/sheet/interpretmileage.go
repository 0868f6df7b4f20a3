package sheet

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	kmPerMile = 1.609344
	mostMiles = 999_999 // or kilometres: the boxes have six digits

	// shortest is the least reading that is taken for what it says: below it
	// the digits may be thousands (/// 089 Km).
	shortest = 300
)

// mileage is what the meter showed, when two looks at the digits agree.
func (in *interpreter) mileage() {
	m := &in.report.Mileage
	in.unit()
	in.flag()
	digits := strings.NewReplacer(",", "", " ", "", "KM", "", "km", "", "/", "", "-", "").
		Replace(in.printed("mileage.value", in.raw.Sheet.Mileage.Digits))
	if again := in.raw.Again; again != nil {
		second := boxes(again.Boxes)
		if strings.TrimLeft(digits, "0") != strings.TrimLeft(second, "0") || (digits == "") != (second == "") {
			in.unreadable("mileage.value", ReadingsDiffer, digits, second)
			return
		}
	}
	if digits == "" {
		return
	}
	value, err := strconv.Atoi(digits)
	if err != nil || len(digits) > 6 || value < 0 || value > mostMiles || strings.ContainsAny(digits, "+-") {
		in.unreadable("mileage.value", NotAllowed)
		return
	}
	m.RawDigits, m.Value = &digits, &value
	if value > 0 && value < shortest {
		m.ScaleInferred, m.Thousands = true, new(value*1000)
		in.inferred("mileage.value", "so short a number may be in thousands")
	}
	if m.Unit == nil {
		return
	}
	m.ValueKM = new(value)
	if *m.Unit == "mile" {
		m.ValueKM = new(int(math.Round(float64(value) * kmPerMile)))
	}
}

// boxes joins the digits of a second look. One that cannot be read stands as
// a question mark, so that it differs from every digit.
func boxes(list []string) string {
	var b strings.Builder
	for _, box := range list {
		box = narrow(box)
		switch {
		case box == NotReadable:
			b.WriteByte('?')
		case len(box) == 1 && box >= "0" && box <= "9":
			b.WriteString(box)
		case box == "", box == "/", box == "-":
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}

// unit is kilometres where the sheet says nothing, as on Japanese meters.
func (in *interpreter) unit() {
	const field = "mileage.unit"
	unit := in.listed(field, in.raw.Sheet.Mileage.Unit, units)
	illegible := in.raw.Sheet.Mileage.Unit == NotReadable
	if again := in.raw.Again; again != nil && again.Unit != in.raw.Sheet.Mileage.Unit {
		if unit != "" && again.Unit != NotPrinted || again.Unit == "mile" {
			in.unreadable(field, ReadingsDiffer, in.raw.Sheet.Mileage.Unit, again.Unit)
			return
		}
	}
	if unit == "" && !illegible {
		unit = "km"
		in.inferred(field, "no unit is circled; Japanese meters show kilometres")
	}
	if unit != "" {
		in.report.Mileage.Unit = &unit
	}
}

var flagSigns = map[string]Flag{"$": Replaced, "*": Tampered, "#": Unknown, NotPrinted: NoFlag, "": NoFlag}

// flagWords are those of the printed checklist and of notes.
var flagWords = []struct {
	word string
	flag Flag
}{
	{"改ざん", Tampered}, {"走行不明", Unknown}, {"不明車", Unknown}, {"メーター交換", Replaced}, {"交換車", Replaced},
}

// flag is the sign beside the digits. Where there is none, the words for it in
// the checklist or in a note count as much.
func (in *interpreter) flag() {
	const field = "mileage.flag"
	m := &in.report.Mileage
	said := in.flagSaid()
	sign := in.raw.Sheet.Mileage.Flag
	flag, known := flagSigns[sign]
	switch again := in.raw.Again; {
	case sign == NotReadable, !known:
		in.unreadable(field, Illegible)
		known = false
	case again != nil && flagSigns[again.Flag] != flag:
		none := strings.NewReplacer(NotPrinted, "-")
		in.unreadable(field, ReadingsDiffer, none.Replace(sign), none.Replace(again.Flag))
		known = false
	}
	if said != "" && (!known || flag == NoFlag) {
		flag, known = said, true
		in.inferred(field, "from the words on the sheet, not from a sign beside the digits")
	}
	if known {
		m.Flag = &flag
	}
}

// flagSaid finds the words for a flag and keeps them.
func (in *interpreter) flagSaid() Flag {
	texts := []string{}
	if circled := in.raw.Sheet.MeterCircled; slices.Contains(meters, circled) && circled != NotPrinted && circled != NotReadable {
		texts = append(texts, circled)
	}
	for _, note := range in.report.allNotes() {
		texts = append(texts, note.JP)
	}
	for _, w := range flagWords {
		for _, text := range texts {
			if says(text, w.word) {
				in.report.Mileage.FlagText = &text
				return w.flag
			}
		}
	}
	return ""
}
