package pairs

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/dom"
)

// breakable are the fields whose values pages break by <br>: codes and numbers.
var breakable = map[string]bool{
	claim.FieldCode: true, claim.FieldChassis: true, claim.FieldFrame: true, claim.FieldEngine: true, claim.FieldPrice: true,
	claim.FieldCF: true, claim.FieldMileage: true,
}

// brokenLine stands for a line break inside a value.
const brokenLine = '\u2424'

// valueText returns the text of the value of a field. A code or a number that a line
// break divides is joined: half of it would be another value.
func valueText(field string, value *html.Node) string {
	if !breakable[field] || !hasBreak(value) {
		return dom.Text(value)
	}
	parts := strings.Split(claim.Clean(dom.VisibleText(value, brokenLine)), string(brokenLine))
	joined := strings.TrimSpace(parts[0])
	for _, part := range parts[1:] {
		part = strings.TrimSpace(part)
		if !isBroken(field, joined, part) {
			joined += " "
		}
		joined += part
	}
	return claim.Clean(joined)
}

func hasBreak(n *html.Node) bool {
	return dom.HasElement(n, func(e *html.Node) bool { return e.DataAtom == atom.Br })
}

// isBroken reports that two lines are the halves of one code or number.
func isBroken(field, before, after string) bool {
	if before == "" || after == "" {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	switch field {
	case claim.FieldCode, claim.FieldChassis, claim.FieldFrame:
		own := before[strings.LastIndexByte(before, '-')+1:]
		isEnd := strings.IndexFunc(after, func(r rune) bool { return !unicode.IsDigit(r) }) < 0 && len(after) <= 3
		return last == '-' || first == '-' || first == '*' ||
			unicode.IsDigit(first) && (isEnd || !strings.ContainsFunc(own, unicode.IsDigit))
	}
	return (unicode.IsDigit(last) || last == ',') && (unicode.IsDigit(first) || first == ',')
}
