package render

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"ushuru/pkg/sheet"
)

// The measures of the drawing in its own units.
const (
	mapWidth  = 760
	carBottom = 660 // where the texts below the car begin
	lineStep  = 20
	lineRunes = 92 // of a line of text
	chipWide  = 38
	chipHigh  = 20
	chipStep  = 3 // between chips

	besideLamps = 190 // middle of the names of the sides, which leave the lamps free
)

// Map draws the unfolded car as SVG, with the damage codes on their panels,
// coloured by severity, and says below what they mean. The language is Kiswahili
// for "sw", else English. The drawing has a title and a description for screen
// readers, no scripts and no links. Everything that was read on the sheet is
// escaped. Without codes the drawing says that none were read, which does not mean
// that there is no damage.
func Map(r *sheet.Report, lang string) []byte {
	d := &drawing{lang: lang}
	for _, p := range carPanels {
		d.panel(p)
	}
	d.wheels(&r.TyresMM)
	d.label(mapWidth/2, 56, d.text("front"))
	d.label(mapWidth/2, 648, d.text("rear"))
	d.label(besideLamps, 120, d.text("left"))
	d.label(mapWidth-besideLamps, 120, d.text("right"))
	elsewhere := d.codes(r.BodyMap)
	d.y = carBottom + lineStep
	d.explain(r.BodyMap, elsewhere)

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title desc" `+
		`xml:lang="%s" font-family="sans-serif" font-size="14">`, mapWidth, d.y, d.language())
	fmt.Fprintf(&b, `<title id="title">%s</title>`, escaped(d.text("title")))
	description := fmt.Sprintf(d.text("desc"), strconv.Itoa(len(r.BodyMap))) + " " + d.described(r.BodyMap)
	fmt.Fprintf(&b, `<desc id="desc">%s</desc>`, escaped(strings.TrimSpace(description)))
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`, mapWidth, d.y)
	fmt.Fprintf(&b, `<text x="%d" y="30" text-anchor="middle" font-size="18" font-weight="bold">%s</text>`,
		mapWidth/2, escaped(d.text("title")))
	b.WriteString(d.b.String())
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// carPanel is the place of a panel; of a panel with sides, that of the left one.
type carPanel struct {
	name       string
	sided      bool
	x, y, w, h int
}

// carPanels are the unfolded car: the middle seen from above, the sides folded
// out beside it.
var carPanels = []carPanel{
	{"front_bumper", false, 270, 66, 220, 38},
	{"headlamp", true, 270, 108, 46, 22},
	{"grille", false, 320, 108, 120, 22},
	{"bonnet", false, 285, 134, 190, 100},
	{"windscreen", false, 300, 238, 160, 44},
	{"roof", false, 300, 286, 160, 146},
	{"rear_window", false, 300, 436, 160, 40},
	{"boot", false, 285, 480, 190, 82},
	{"rear_lamp", true, 270, 566, 46, 22},
	{"rear_panel", false, 320, 566, 120, 22},
	{"rear_bumper", false, 270, 592, 220, 38},
	{"front_fender", true, 140, 134, 120, 96},
	{"front_door", true, 140, 234, 112, 98},
	{"rear_door", true, 140, 336, 112, 98},
	{"rear_fender", true, 140, 438, 120, 124},
	{"sill", true, 92, 234, 44, 200},
	{"door_mirror", true, 256, 238, 40, 26},
	{"pillar", true, 256, 270, 40, 162},
}

// on returns the panel on a side.
func (p carPanel) on(side string) carPanel {
	if side == "right" {
		p.x = mapWidth - p.x - p.w
	}
	return p
}

// drawing is an SVG that is being written.
type drawing struct {
	lang string
	b    strings.Builder
	y    int // of the next line of text
}

func (d *drawing) text(key string) string { return sheet.TextOf("map", key).In(d.lang) }

func (d *drawing) language() string {
	if d.lang == sheet.Swahili {
		return sheet.Swahili
	}
	return sheet.English
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder never fails
	return b.String()
}

// label writes a short text with its middle at x.
func (d *drawing) label(x, y int, text string) {
	fmt.Fprintf(&d.b, `<text x="%d" y="%d" text-anchor="middle" fill="#37474f">%s</text>`, x, y, escaped(text))
}

func (d *drawing) panel(p carPanel) {
	sides := []string{"left"}
	if p.sided {
		sides = append(sides, "right")
	}
	for _, side := range sides {
		at := p.on(side)
		fmt.Fprintf(&d.b, `<rect x="%d" y="%d" width="%d" height="%d" rx="6" fill="#f5f7f8" stroke="#78909c"/>`,
			at.x, at.y, at.w, at.h)
	}
}

// wheels draws the wheels with the tread of their tyres.
func (d *drawing) wheels(t *sheet.Tyres) {
	for _, wheel := range []struct {
		x, y  int
		tread *int
	}{
		{100, 182, t.FrontLeft}, {mapWidth - 100, 182, t.FrontRight}, {100, 496, t.RearLeft}, {mapWidth - 100, 496, t.RearRight},
	} {
		fmt.Fprintf(&d.b, `<circle cx="%d" cy="%d" r="30" fill="#eceff1" stroke="#78909c"/>`, wheel.x, wheel.y)
		if wheel.tread != nil {
			d.label(wheel.x, wheel.y+5, strconv.Itoa(*wheel.tread))
		}
	}
}

// codes writes the codes on their panels. It returns those that have no place
// on the drawing.
func (d *drawing) codes(marks []sheet.Mark) (elsewhere []*sheet.Mark) {
	placed := map[carPanel][]*sheet.Mark{}
	var order []carPanel
	for i := range marks {
		at, ok := placeOf(&marks[i])
		if !ok {
			elsewhere = append(elsewhere, &marks[i])
			continue
		}
		if len(placed[at]) == 0 {
			order = append(order, at)
		}
		placed[at] = append(placed[at], &marks[i])
	}
	for _, at := range order {
		d.chips(at, placed[at])
	}
	return elsewhere
}

// placeOf returns the panel of a code.
func placeOf(mark *sheet.Mark) (carPanel, bool) {
	for _, p := range carPanels {
		if p.name != mark.Panel {
			continue
		}
		if !p.sided {
			return p, true
		}
		if mark.Side == nil {
			return carPanel{}, false
		}
		return p.on(*mark.Side), true
	}
	return carPanel{}, false
}

// chips draws the codes of one panel in rows. The codes that do not fit are
// counted; the list below the car has all of them.
func (d *drawing) chips(p carPanel, marks []*sheet.Mark) {
	perRow := max(1, (p.w-chipStep)/(chipWide+chipStep))
	rows := max(1, (p.h-chipStep)/(chipHigh+chipStep))
	shown := min(len(marks), perRow*rows)
	if shown < len(marks) {
		shown--
	}
	used := min(perRow, max(shown, 1))
	left := p.x + (p.w-used*chipWide-(used-1)*chipStep)/2
	high := (min(len(marks), perRow*rows)-1)/perRow + 1
	top := p.y + (p.h-high*chipHigh-(high-1)*chipStep)/2
	for i := range marks {
		x, y := left+i%perRow*(chipWide+chipStep), top+i/perRow*(chipHigh+chipStep)
		if i >= shown {
			d.label(x+chipWide/2, y+15, "+"+strconv.Itoa(len(marks)-shown))
			return
		}
		d.chip(x, y, marks[i])
	}
}

// chipColours has the colours of fill and text by severity.
var chipColours = map[sheet.Severity][2]string{
	sheet.High:     {"#b3261e", "#ffffff"},
	sheet.Medium:   {"#f9c74f", "#000000"},
	sheet.Low:      {"#cfd8dc", "#000000"},
	sheet.Info:     {"#eceff1", "#000000"},
	sheet.NotKnown: {"#ffffff", "#000000"},
}

func (d *drawing) chip(x, y int, mark *sheet.Mark) {
	colours, known := chipColours[mark.Severity]
	if !known {
		colours = chipColours[sheet.NotKnown]
	}
	fmt.Fprintf(&d.b, `<g><title>%s</title><rect x="%d" y="%d" width="%d" height="%d" rx="4" fill="%s" stroke="#263238"/>`,
		escaped(placeName(mark.Panel, mark.Side).In(d.lang)+": "+mark.CodeRaw+" – "+markMeaning(mark, d.lang)),
		x, y, chipWide, chipHigh, colours[0])
	fmt.Fprintf(&d.b, `<text x="%d" y="%d" text-anchor="middle" font-weight="bold" fill="%s">%s</text></g>`,
		x+chipWide/2, y+15, colours[1], escaped(mark.CodeRaw))
}

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
