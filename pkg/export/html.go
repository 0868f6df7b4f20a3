package export

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// Bounds of a page, which must not be larger than 150 KB.
const (
	maxTable  = 40 << 10 // bytes of rows
	maxNotes  = 15 << 10
	maxCell   = 60 // characters
	maxReason = 160
	pageWidth = 720
	pageTall  = 380
)

// page is an HTML page of its own, without scripts: the picture, the cheapest cars, as many
// rows as there is room for, and the notes.
type page struct {
	w      io.Writer
	digest *digest
	rows   strings.Builder
	shown  int
	all    int
}

// NewHTML returns a Writer of a page.
func NewHTML(w io.Writer, o Options) (Writer, error) {
	return &page{w: w, digest: newDigest(o)}, nil
}

// Line adds a row to the page.
func (p *page) Line(l Line) error {
	p.digest.add(l)
	p.all++
	if p.rows.Len() > maxTable || p.shown < p.all-1 {
		return nil
	}
	p.shown++
	c := cells{
		row: l.Number, car: l.name(), year: l.year(), outcome: cmp.Or(l.Reason, p.digest.state(l.State)), reference: l.Reference,
	}
	if e := l.Estimate; e != nil {
		if e.Summary != nil && e.Summary.OnTheRoad != nil {
			c.cost = thousands(e.Summary.OnTheRoad.TZS)
		}
		if highest, ok := maxPrice(e).(decimal.Decimal); ok {
			c.highest = thousands(highest.IntPart())
		}
		if e.Matched.Confidence != "" {
			c.outcome = p.digest.match(e.Matched.Confidence)
		}
	}
	p.rows.WriteString(p.digest.row(c))
	return nil
}

// cells are a row of a table: untrusted text. What names the car and its cost come first,
// so that a phone shows them.
type cells struct {
	row, year                              int
	car, cost, highest, outcome, reference string
}

// row returns a row of a table.
func (d *digest) row(c cells) string {
	var b strings.Builder
	b.WriteString("<tr>")
	cell := func(class, text string, most int) {
		if runes := []rune(text); len(runes) > most {
			text = string(runes[:most]) + "…"
		}
		b.WriteString("<td" + class + ">" + html.EscapeString(text) + "</td>")
	}
	cell("", strconv.Itoa(c.row), maxCell)
	cell("", c.car, maxCell)
	cell(" class=n", plainText(count(c.year)), maxCell)
	cell(" class=n", c.cost, maxCell)
	if d.options.Terms.Target != "" {
		cell(" class=n", c.highest, maxCell)
	}
	if c.outcome != "" {
		cell("", c.outcome, maxReason)
	}
	cell("", c.reference, maxCell)
	return b.String() + "</tr>\n"
}

// header returns the names of the columns of a table.
func (d *digest) header(hasOutcome bool) string {
	names := []string{"row", "car", "year", "onTheRoad"}
	if d.options.Terms.Target != "" {
		names = append(names, "maxPrice")
	}
	if hasOutcome {
		names = append(names, "outcome")
	}
	var b strings.Builder
	b.WriteString("<tr>")
	for _, name := range append(names, "reference") {
		b.WriteString("<th>" + html.EscapeString(d.text(name)) + "</th>")
	}
	return b.String() + "</tr>\n"
}

func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

const pageStyle = `body{font:15px/1.4 system-ui,sans-serif;margin:2em auto;max-width:60em;padding:0 1em;color:#222}` +
	`table{border-collapse:collapse;margin:1em 0;width:100%;font-size:13px}` +
	`td,th{padding:.25em .5em;border-bottom:1px solid #ddd;text-align:left}` +
	`th{background:#e2efda}td:nth-child(2){overflow-wrap:anywhere;min-width:7em}.n{text-align:right;white-space:nowrap}` +
	`.wide{overflow-x:auto}.notes td{overflow-wrap:anywhere}` +
	`.key{white-space:nowrap}svg{width:100%;height:auto}.key svg{width:.6em}`

// pageFormat is the beginning of a page: its language, title, style, and title again.
const pageFormat = `<!doctype html><html lang="%s"><meta charset="utf-8">` +
	`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">` +
	`<meta name="viewport" content="width=device-width"><title>%s</title><style>%s</style><h1>%s</h1>` + "\n"

// Close writes the page.
func (p *page) Close() error {
	d := p.digest
	var b strings.Builder
	title := html.EscapeString(d.text("picture"))
	_, _ = fmt.Fprintf(&b, pageFormat, html.EscapeString(d.options.Lang), title, pageStyle, title)
	b.WriteString(d.picture())
	b.WriteString("<h2>" + html.EscapeString(d.text("cheapest")) + "</h2>" + d.wide("cheapest") + d.header(false))
	for _, c := range d.cheapest {
		shown := cells{row: c.row, car: c.name, year: c.year, cost: thousands(c.tzs), reference: c.reference}
		if c.maxPrice != nil {
			shown.highest = thousands(*c.maxPrice)
		}
		b.WriteString(d.row(shown))
	}
	_, _ = fmt.Fprintf(&b, "</table></div><h2>%s: %d / %d</h2>%s%s%s</table></div>",
		html.EscapeString(d.text("rows")), p.shown, p.all, d.wide("rows"), d.header(true), p.rows.String())
	b.WriteString(d.failures())
	b.WriteString("<h2>" + html.EscapeString(d.text("note")) + `</h2><table class="notes">`)
	begin := b.Len()
	for notes, i := d.pageNotes(), 0; i < len(notes) && b.Len() < begin+maxNotes; i++ {
		b.WriteString(note(notes[i]))
	}
	b.WriteString("</table></html>\n")
	_, err := io.WriteString(p.w, b.String())
	return err
}

// wide returns the beginning of a table that scrolls on a narrow screen, by keys too.
func (d *digest) wide(name string) string {
	return `<div class="wide" tabindex="0" role="region" aria-label="` + html.EscapeString(d.text(name)) + `"><table>`
}

func note(n [2]string) string {
	text := n[1]
	if runes := []rune(text); len(runes) > 5*maxCell {
		text = string(runes[:5*maxCell]) + "…"
	}
	return "<tr><td>" + html.EscapeString(n[0]) + "</td><td>" + html.EscapeString(text) + "</td></tr>\n"
}

// Discard does nothing: nothing was sent.
func (*page) Discard() {}

// picture returns the drawing of the cost over the year. Cars that would be the same dot
// are drawn once, so that ten thousand take little room.
func (d *digest) picture() string {
	if len(d.points) == 0 {
		return ""
	}
	const left, bottom, top, right = 70, 40, 10, 15
	first, last, most := math.MaxInt, 0, int64(1)
	for _, p := range d.points {
		first, last, most = min(first, p.year), max(last, p.year), max(most, p.tzs)
	}
	step := niceStep(most)
	most = (most + step - 1) / step * step
	x := func(year int) int { return left + (pageWidth-left-right)*(2*(year-first)+1)/(2*(last-first+1)) }
	y := func(tzs int64) int {
		return top + int(float64(pageTall-top-bottom)*(1-float64(tzs)/float64(most)))
	}
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s" font-size="11" fill="#555">`,
		pageWidth, pageTall, html.EscapeString(d.text("picture")))
	for tzs := int64(0); tzs <= most; tzs += step {
		_, _ = fmt.Fprintf(&b, `<path d="M%d %dH%d" stroke="#ddd"/><text x="%d" y="%d" text-anchor="end">%g M</text>`,
			left, y(tzs), pageWidth-right, left-6, y(tzs)+4, float64(tzs)/1e6)
	}
	every := (last-first)/14 + 1
	for year := first; year <= last; year += every {
		_, _ = fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%d</text>`, x(year), pageTall-bottom+18, year)
	}
	_, _ = fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`,
		pageWidth/2, pageTall-5, html.EscapeString(d.text("year")))
	cheapest := make([]point, len(d.cheapest))
	for i, c := range d.cheapest {
		cheapest[i] = c.point
	}
	dots(&b, cheapest, x, y, `stroke="#222" stroke-width="9"`)
	for _, of := range levels() {
		dots(&b, slices.DeleteFunc(slices.Clone(d.points), func(p point) bool { return p.confidence != of.confidence }), x, y,
			`stroke="`+of.colour+`" stroke-width="5"`)
	}
	b.WriteString("</svg>\n<p>" + html.EscapeString(d.text("confidence")) + ": ")
	for _, of := range levels() {
		_, _ = fmt.Fprintf(&b, `<span class="key"><svg viewBox="0 0 9 9" aria-hidden="true">`+
			`<circle cx="4.5" cy="4.5" r="4" fill="%s"/></svg> %s</span> `,
			of.colour, html.EscapeString(d.word(string(of.confidence))))
	}
	_, _ = fmt.Fprintf(&b, "(%s)</p>\n", html.EscapeString(d.text("ring")))
	return b.String()
}

// level is how sure the entries of cars are, and the colour of their dots.
type level struct {
	confidence vehicle.Confidence
	colour     string
}

// levels are in the order in which they are drawn: those that are less sure above the others.
func levels() []level {
	return []level{{vehicle.High, "#1b6e48"}, {vehicle.Medium, "#b36b00"}, {vehicle.Low, "#c2185b"}}
}

// word returns a value as a word of the page's language; the value itself when it has none.
func (d *digest) word(value string) string { return message.Word(value).In(d.options.Lang) }

// match returns how sure an entry of TRA is, as a table says it.
func (d *digest) match(confidence vehicle.Confidence) string {
	return message.Say("export/match", message.Values{"level": string(confidence)}).In(d.options.Lang)
}

// failures returns why cars have no cost, the commonest reason first; "" when all have one.
func (d *digest) failures() string {
	if len(d.codes) == 0 {
		return ""
	}
	codes := slices.SortedFunc(maps.Keys(d.codes), func(a, b string) int {
		return cmp.Or(cmp.Compare(d.codes[b], d.codes[a]), strings.Compare(a, b))
	})
	var b strings.Builder
	b.WriteString("<h2>" + html.EscapeString(d.text("failures")) + `</h2><table class="notes">`)
	for _, code := range codes {
		b.WriteString(note([2]string{cmp.Or(d.whys[code], code), strconv.Itoa(d.codes[code])}))
	}
	b.WriteString("</table>")
	return b.String()
}

// dots draws points as one path of strokes without length.
func dots(b *strings.Builder, points []point, x func(int) int, y func(int64) int, style string) {
	places := make([][2]int, len(points))
	for i, p := range points {
		places[i] = [2]int{x(p.year), y(p.tzs)}
	}
	slices.SortFunc(places, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	b.WriteString(`<path stroke-linecap="round" fill="none" ` + style + ` d="`)
	before := [2]int{-1, -1}
	for _, place := range slices.Compact(places) {
		if place[0] == before[0] {
			_, _ = fmt.Fprintf(b, "m0 %dh0", place[1]-before[1])
		} else {
			_, _ = fmt.Fprintf(b, "M%d %dh0", place[0], place[1])
		}
		before = place
	}
	b.WriteString(`"/>`)
}

// niceStep returns the step of an axis with about five lines.
func niceStep(most int64) int64 {
	for step := int64(1); ; step *= 10 {
		for _, factor := range []int64{1, 2, 5} {
			if most/(step*factor) <= 6 {
				return step * factor
			}
		}
	}
}
