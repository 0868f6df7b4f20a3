package aitest

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"ushuru/pkg/sheet/sheettest"
)

// The rule of reading sheets. The simulator decodes the first picture that it
// was sent and looks for the mark of a SIMULATED sheet on it, a QR code. What
// it says is what stands on the sheet of that mark, in the words and fields that
// the schema asks for, as far as it is not covered:
//   - without a mark that can be read, the picture is a photograph;
//   - a picture turned by more than 45 degrees cannot be read;
//   - a blank form is not filled in, and a fake makes no sense;
//   - what is covered is not printed.
//
// So a picture that the pipeline turned, cropped or shrank too much is not read.

// seen is what the simulator sees of a picture.
type seen struct {
	sheet sheettest.Sheet
	found bool // there is a sheet
	truth sheettest.Truth
	level bool // it stands upright
}

const mostTurned = 45

func look(r *chatRequest) (s seen) {
	for _, picture := range r.pictures() {
		id, turned, err := sheettest.ReadMark(picture)
		if err != nil {
			continue
		}
		if s.sheet, s.found = sheettest.ByID(id); s.found {
			s.truth, s.level = s.sheet.Seen(), math.Abs(turned) <= mostTurned
			return s
		}
	}
	return s
}

// said makes an answer of values by the schema.
func said(r *chatRequest, f fault, values map[string]any) answer {
	a := answer{finish: "stop", promptTokens: r.promptTokens(), content: fillFrom(r.schema, values)}
	if f.InventField {
		a.content = strings.TrimSuffix(a.content, "}") + `,"accident_free":true}`
	}
	return a
}

// gate says what the picture is.
func gate(r *chatRequest, f fault) answer {
	s := look(r)
	if !s.found && f.SeeSheet { // without a label to quote, as there is none
		return said(r, f, map[string]any{
			"kind": "auction_sheet", "is_auction_sheet": true, "filled_in": true, "makes_sense": true, "readability": "full",
		})
	}
	if !s.found {
		return said(r, f, map[string]any{"kind": "photo", "readability": "none"})
	}
	values := map[string]any{
		"kind": "auction_sheet", "is_auction_sheet": true, "filled_in": s.sheet.Kind != sheettest.Blank,
		"makes_sense": s.sheet.Kind != sheettest.Fake, "readability": "full", "anchors": s.sheet.Labels(),
	}
	switch {
	case !s.level:
		values["readability"], values["anchors"] = "none", []string{}
	case s.sheet.Covered > 0:
		values["readability"], values["unreadable_areas"] = "partial", []string{"lower_half"}
	}
	return said(r, f, values)
}

// reading says what is printed where.
func reading(r *chatRequest, f fault) answer {
	s := look(r)
	switch {
	case !s.found && f.SeeSheet:
		s.truth, s.level = sheettest.Make(1+r.promptTokens()%sheettest.Number).Truth, true
	case !s.level:
		s.truth = sheettest.Truth{}
	}
	values := printed(&s.truth)
	if f.Obey && s.sheet.Order != "" {
		obeyOrder(values, s.sheet.Order)
	}
	if f.InventValue {
		values = invent(values)
	}
	return said(r, f, values)
}

// again says what stands in the places that matter most.
func again(r *chatRequest, f fault) answer {
	s := look(r)
	if !s.found && f.SeeSheet {
		s.truth, s.level = sheettest.Make(1+r.promptTokens()%sheettest.Number).Truth, true
	}
	t := &s.truth
	if !s.level {
		*t = sheettest.Truth{}
	}
	digits := t.Digits
	values := map[string]any{
		"unit": unitWord(t.Unit), "flag": orNot(t.Flag), "overall": orNot(t.Fields["overall"]),
		"exterior": orNot(t.Fields["exterior"]), "interior": orNot(t.Fields["interior"]),
		"repair_history": orNot(t.Fields["repair"]),
		"colour":         t.Fields["colour"], "first_registration": t.Fields["first_registration"],
	}
	if f.OtherDigits {
		digits = other(digits)
		values["overall"], values["colour"], values["first_registration"] = "6", "ミドリ", "H1年1月"
		values["exterior"], values["interior"], values["repair_history"] = "E", "E", "小"
	}
	values["mileage_boxes"] = strings.Split(digits, "")
	if f.InventValue {
		values = invent(values)
	}
	return said(r, f, values)
}

// other changes the last digit.
func other(digits string) string {
	if digits == "" {
		return "7"
	}
	last := digits[len(digits)-1]
	return digits[:len(digits)-1] + string('0'+(last-'0'+1)%10)
}

// fillFrom writes an object by its schema, in the order of the schema. What
// values lack is not printed.
func fillFrom(s *schema, values map[string]any) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, p := range s.Properties {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoted(p.name) + ":" + valueFrom(p.schema, values[p.name]))
	}
	b.WriteByte('}')
	return b.String()
}

func valueFrom(s *schema, value any) string {
	switch s.Type {
	case "object":
		inner, _ := value.(map[string]any)
		return fillFrom(s, inner)
	case "array":
		return listFrom(s, value)
	case "boolean":
		if value == true {
			return "true"
		}
		return "false"
	case "string":
		text, _ := value.(string)
		if text == "" && slices.Contains(s.Enum, notPrinted) {
			text = notPrinted
		} else if text == "" && len(s.Enum) > 0 {
			text = s.Enum[0]
		}
		return quoted(text)
	default:
		encoded, err := json.Marshal(value)
		if err != nil || value == nil {
			return "0"
		}
		return string(encoded)
	}
}

func listFrom(s *schema, value any) string {
	var items []string
	switch list := value.(type) {
	case []string:
		for _, item := range list {
			items = append(items, quoted(item))
		}
	case []map[string]any:
		for _, item := range list {
			items = append(items, fillFrom(s.Items, item))
		}
	}
	return "[" + strings.Join(items, ",") + "]"
}
