package interpret

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"ushuru/pkg/condition"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/transcribe"
)

const (
	kmPerMile = 1.609344
	maxMiles  = 999_999 // or kilometres: the boxes have six digits

	// minCertain is the least reading that is taken for what it says: below it
	// the digits may be thousands (/// 089 Km).
	minCertain = 300
)

// mileage reads what the meter showed, when both readings of the digits agree.
func (in *interpreter) mileage() {
	m := &in.report.Mileage
	in.unit()
	in.flag()
	digits := strings.NewReplacer(",", "", " ", "", "KM", "", "km", "", "/", "", "-", "").
		Replace(in.printed("mileage.value", in.raw.Reading.Mileage.Digits))
	if again := in.raw.Second; again != nil {
		second := digitBoxes(again.Boxes)
		if strings.TrimLeft(digits, "0") != strings.TrimLeft(second, "0") || (digits == "") != (second == "") {
			in.unreadable("mileage.value", sheet.ReadingsDiffer, digits, second)
			return
		}
	}
	if digits == "" {
		return
	}
	value, err := strconv.Atoi(digits)
	if err != nil || len(digits) > 6 || value < 0 || value > maxMiles || strings.ContainsAny(digits, "+-") {
		in.unreadable("mileage.value", sheet.NotAllowed)
		return
	}
	m.RawDigits, m.Value = &digits, &value
	if value > 0 && value < minCertain {
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

// digitBoxes joins the digits of the second reading. An unreadable digit becomes
// a question mark, which differs from every digit.
func digitBoxes(list []string) string {
	var b strings.Builder
	for _, box := range list {
		box = sheet.Narrow(box)
		switch {
		case box == sheet.NotReadable:
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

// unit reads the unit. The default is kilometres, as on Japanese meters.
func (in *interpreter) unit() {
	const field = "mileage.unit"
	unit := in.listed(field, in.raw.Reading.Mileage.Unit, transcribe.Units)
	illegible := in.raw.Reading.Mileage.Unit == sheet.NotReadable
	if again := in.raw.Second; again != nil && again.Unit != in.raw.Reading.Mileage.Unit {
		if unit != "" && again.Unit != sheet.NotPrinted || again.Unit == "mile" {
			in.unreadable(field, sheet.ReadingsDiffer, in.raw.Reading.Mileage.Unit, again.Unit)
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

var flagSigns = map[string]sheet.Flag{
	"$": sheet.Replaced, "*": sheet.Tampered, "#": sheet.Unknown, sheet.NotPrinted: sheet.NoFlag, "": sheet.NoFlag,
}

// flag reads the sign beside the digits. Without a sign, the words for it in the
// checklist or in a note count the same.
func (in *interpreter) flag() {
	const field = "mileage.flag"
	m := &in.report.Mileage
	inWords := in.flagInWords()
	sign := in.raw.Reading.Mileage.Flag
	flag, known := flagSigns[sign]
	switch again := in.raw.Second; {
	case sign == sheet.NotReadable, !known:
		in.unreadable(field, sheet.Illegible)
		known = false
	case again != nil && flagSigns[again.Flag] != flag:
		none := strings.NewReplacer(sheet.NotPrinted, "-")
		in.unreadable(field, sheet.ReadingsDiffer, none.Replace(sign), none.Replace(again.Flag))
		known = false
	}
	if inWords != "" && (!known || flag == sheet.NoFlag) {
		flag, known = inWords, true
		in.inferred(field, "from the words on the sheet, not from a sign beside the digits")
	}
	if known {
		m.Flag = &flag
	}
}

// flagInWords finds the words for a flag and records them.
func (in *interpreter) flagInWords() sheet.Flag {
	texts := []string{}
	circled := in.raw.Reading.MeterCircled
	if transcribe.Meters.Has(circled) && circled != sheet.NotPrinted && circled != sheet.NotReadable {
		texts = append(texts, circled)
	}
	for _, note := range in.report.AllNotes() {
		texts = append(texts, note.JP)
	}
	found := sheet.Flag("")
	for _, text := range texts {
		for _, f := range condition.Read(text).Findings {
			flag := meterFlag(f, text)
			if flag == "" || found != "" && found != sheet.Replaced {
				continue
			}
			found, in.report.Mileage.FlagText = flag, &text
		}
	}
	return found
}

// tamperedWords match the words of proof; all other doubts leave the mileage unknown.
var tamperedWords = regexp.MustCompile(`改|カイザン|巻|戻|減算`)

// meterFlag returns the mark of the trade for what words say of the meter.
func meterFlag(f condition.Finding, text string) sheet.Flag {
	switch {
	case f.Category != condition.Meter:
	case f.Severity == condition.Caution:
		return sheet.Replaced
	case f.Severity.IsGrave() && tamperedWords.MatchString(sheet.Fold(text)):
		return sheet.Tampered
	case f.Severity.IsGrave():
		return sheet.Unknown
	}
	return ""
}
