package catalogue

import (
	"slices"
	"strings"

	"ushuru/pkg/chassis"
)

// Label is one of the authority's model-body texts, parsed.
type Label struct {
	Make   Make
	Text   string   // byte for byte; what every further call must send
	Model  string   // COROLLA FIELDER
	Codes  []string // NKE165; rarely several, rarely none
	Extras []string // HYBRID
	Body   string   // WAGON; empty when the label ends with its code
}

// ParseLabel parses a label. It collapses white space and splits the text at
// " - ": the first part is the model, the last one the body, and between them are
// the code and extras. Irregular labels are parsed as follows:
//   - of the parts after the model, the code is the first that looks like one;
//     a part without a digit (GRB) counts only directly after the model;
//   - a part with several codes (NCP51 / NCP55) gives them all;
//   - parts that are neither code nor last are extras, in their order;
//   - a label that ends with its code has no body, one part is a model alone.
//
// It never fails: an unknown part becomes the model or the body, and Text is
// always the whole label.
func ParseLabel(mk Make, text string) Label {
	label := Label{Make: mk, Text: text}
	parts := strings.Split(strings.Join(strings.Fields(text), " "), " - ")
	label.Model = parts[0]
	rest := parts[1:]
	at := slices.IndexFunc(rest, func(part string) bool { return strings.ContainsAny(part, digits) && codesOf(part) != nil })
	if at < 0 && len(rest) > 1 && codesOf(rest[0]) != nil && !plainWords[rest[0]] {
		at = 0
	}
	if at >= 0 {
		label.Codes = codesOf(rest[at])
	}
	for i, part := range rest {
		switch {
		case i == at:
		case i == len(rest)-1:
			label.Body = part
		default:
			label.Extras = append(label.Extras, part)
		}
	}
	return label
}

const digits = "0123456789"

// plainWords are words at the place of a code that are not codes.
var plainWords = map[string]bool{
	"HYBRID": true, "PETROL": true, "DIESEL": true, "TURBO": true, "COMMUTER": true,
	"SEDAN": true, "SALOON": true, "WAGON": true, "COUPE": true, "MINIVAN": true, "MINIBUS": true, "VAN": true, "SUV": true,
	"TRUCK": true, "PICKUP": true, "ESTATE": true, "BUS": true, "MPV": true,
}

// codesOf returns the codes of a part, or nil when one of its words is not a code.
// In a label five or six digits are a code too (204046, 95220).
func codesOf(part string) []string {
	var codes []string
	for _, word := range strings.FieldsFunc(part, func(r rune) bool { return strings.ContainsRune(" /,;", r) }) {
		code, ok := chassis.Parse(word)
		switch {
		case ok:
			codes = append(codes, code.Code)
		case (len(word) == 5 || len(word) == 6) && strings.Trim(word, digits) == "":
			codes = append(codes, word)
		default:
			return nil
		}
	}
	return codes
}

// Hybrid reports whether the label itself names a hybrid, as the authority's
// four-part labels do. Three-part labels may be hybrids without saying so.
func (l Label) Hybrid() bool {
	return slices.ContainsFunc(l.Extras, func(extra string) bool { return strings.Contains(strings.ToUpper(extra), "HYBRID") }) ||
		strings.Contains(strings.ToUpper(l.Model), "HYBRID")
}
