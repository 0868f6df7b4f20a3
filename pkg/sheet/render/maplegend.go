package render

import (
	"fmt"
	"strings"

	"ushuru/pkg/sheet"
)

// explain writes the text below the car: the codes without a place on the drawing,
// and what each code means.
func (d *drawing) explain(marks []sheet.Mark, elsewhere []*sheet.Mark) {
	if len(marks) == 0 {
		d.write(sheet.TextOf("say", "no_codes").In(d.lang))
		d.y += lineStep
		return
	}
	if len(elsewhere) > 0 {
		d.write(d.text("elsewhere"))
		for _, mark := range elsewhere {
			d.write("  " + placeName(mark.Panel, mark.Side).In(d.lang) + ": " + mark.CodeRaw)
		}
		d.y += lineStep / 2
	}
	d.write(d.text("legend"))
	seen := map[string]bool{}
	for i := range marks {
		line := markMeaning(&marks[i], d.lang) + " (" + d.text(string(marks[i].Severity)) + ")"
		if key := marks[i].CodeRaw + line; !seen[key] {
			seen[key] = true
			d.chip(20, d.y-15, &marks[i])
			d.writeAt(20+chipWide+8, line)
			d.y += 4
		}
	}
	d.y += lineStep / 2
	d.write(d.text("proposal"))
	d.write(d.text("tread"))
}

// described returns the drawing in words.
func (d *drawing) described(marks []sheet.Mark) string {
	if len(marks) == 0 {
		return sheet.TextOf("say", "no_codes").In(d.lang)
	}
	lines := make([]string, len(marks))
	for i := range marks {
		place := placeName(marks[i].Panel, marks[i].Side).In(d.lang)
		lines[i] = place + ": " + marks[i].CodeRaw + ", " + markMeaning(&marks[i], d.lang)
	}
	return strings.Join(lines, "; ") + "."
}

// write writes a text on as many lines as it needs.
func (d *drawing) write(text string) { d.writeAt(20, text) }

func (d *drawing) writeAt(x int, text string) {
	for _, line := range wrapped(text, lineRunes) {
		fmt.Fprintf(&d.b, `<text x="%d" y="%d">%s</text>`, x, d.y, escaped(line))
		d.y += lineStep
	}
}

// wrapped breaks a text at its spaces into lines of at most maxRunes characters.
func wrapped(text string, maxRunes int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > maxRunes {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
