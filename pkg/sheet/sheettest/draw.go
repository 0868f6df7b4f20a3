package sheettest

import (
	"hash/fnv"
	"image"
	"slices"
	"strings"
)

// Draw draws the sheet as it lies on the table: straight and sharp. It gives
// ErrNoFonts where the fonts are missing.
func (s *Sheet) Draw() (image.Image, error) {
	if s.Kind == Photo {
		return photo(), nil
	}
	f := formOf(s.Form)
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(s.ID))
	c, err := newCanvas(f.size, hash.Sum64())
	if err != nil {
		return nil, err
	}
	p := page{canvas: c, sheet: s, truth: s.shown()}
	p.watermark()
	if err := p.head(); err != nil {
		return nil, err
	}
	for _, at := range f.place() {
		p.cell(at)
	}
	if s.Covered > 0 {
		p.cover()
	}
	return c.RGBA, nil
}

// Picture draws the sheet and does to it what its variant says. It is a JPEG.
func (s *Sheet) Picture() ([]byte, error) {
	drawn, err := s.Draw()
	if err != nil {
		return nil, err
	}
	return s.Variant.encode(s.Variant.apply(drawn))
}

// page is a sheet that is being drawn.
type page struct {
	*canvas
	sheet *Sheet
	truth Truth
}

// shown is what the form is filled with: of a fake, nonsense.
func (s *Sheet) shown() Truth {
	if s.Kind != Fake {
		return s.Truth
	}
	t := s.Truth.clone()
	for key, value := range t.Fields {
		t.Fields[key] = nonsense(value)
	}
	t.Points, t.Seller, t.Inspector = nil, []string{"縣車歹 12,000km 良奵状慂", "走行 98,400km"}, []string{"車躰美冝 髙級良軍", "無傚 検厞済"}
	return t
}

// nonsense shifts the Japanese characters of a text to others.
func nonsense(s string) string {
	return strings.Map(func(r rune) rune {
		if r > 0x3000 && r < 0x9f00 {
			return 0x5000 + (r*31)%0x800
		}
		return r
	}, s)
}

func (p *page) watermark() {
	w := writing{"label", 64, pale}
	for y := 220; y < p.Bounds().Dy(); y += 240 {
		for x := 20 + y%300; x < p.Bounds().Dx()-300; x += 620 {
			p.text(x, y, "SIMULATED 見本", w)
		}
	}
}

func (p *page) head() error {
	if err := p.drawMark(image.Pt(p.Bounds().Dx()-pageMargin-markSide, 14), p.sheet.ID); err != nil {
		return err
	}
	house := p.truth.House
	if house == "" {
		house = "オートオークション"
	}
	p.text(pageMargin, 58, house+" 出品票", writing{"label", 40, ink})
	p.text(pageMargin, 98, "SIMULATED 見本 — a made-up car, drawn by Ushuru for its tests", writing{"label", 20, alarm})
	p.text(pageMargin, 128, "この用紙は試験用の見本であり、実在の車両・会場とは関係ありません", writing{"label", 16, line})
	return nil
}

// byHand are the fields that people write where a machine prints the others.
var byHand = []string{"overall", "exterior", "interior", "seller", "inspector", "office", "points", "map", "tyres"}

// hand returns how the values of a field are written.
func (p *page) hand(key string, size int) writing {
	switch {
	case p.sheet.Style == Handwritten || p.sheet.Style == Mixed && slices.Contains(byHand, key):
		return writing{"pen", size, penInk}
	case key == "points":
		return writing{"mincho", size, ink}
	default:
		return writing{"print", size, ink}
	}
}

const (
	labelSize = 13
	valueSize = 24
	noteSize  = 22
)

// cell draws a field: its frame, its label, its value.
func (p *page) cell(at placed) {
	p.frame(at.at, line)
	p.fit(at.at.Min.X+4, at.at.Min.Y+labelSize+3, at.at.Dx()-8, at.label, writing{"label", labelSize, line})
	in := image.Rect(at.at.Min.X+8, at.at.Min.Y+labelSize+7, at.at.Max.X-6, at.at.Max.Y-5)
	if contents, special := map[string]func(*page, image.Rectangle){
		"digits": (*page).mileage, "seller": (*page).seller, "documents": (*page).documents,
		"map": (*page).carMap, "tyres": (*page).tyres, "legend": (*page).legend,
	}[at.key]; special {
		contents(p, in)
		return
	}
	switch at.key {
	case "circled":
		p.choices(in, words.Circled, p.truth.Circled)
	case "glass":
		p.choices(in, words.Glass, p.truth.Glass)
	case "inside":
		p.choices(in, words.Rooms, p.truth.Inside)
	case "meter":
		p.choices(in, words.Meters, []string{p.truth.Meter})
	case "repair":
		p.choices(in, []string{"有", "無"}, []string{p.truth.Fields["repair"]})
	case "points":
		p.paragraph(in, p.truth.Points, p.hand(at.key, noteSize))
	case "inspector":
		p.paragraph(in, p.truth.Inspector, p.hand(at.key, noteSize+2))
	case "office":
		p.paragraph(in, p.truth.Office, p.hand(at.key, noteSize))
	default:
		p.value(in, at.key)
	}
}

// value writes a short value into the middle, smaller when it would not fit.
func (p *page) value(in image.Rectangle, key string) {
	w := p.hand(key, valueSize)
	if key == "overall" {
		w.size = 34
	}
	value := p.truth.Fields[key]
	for w.size > 10 && p.width(value, w) > in.Dx() {
		w.size--
	}
	p.text(in.Min.X+(in.Dx()-p.width(value, w))/2, in.Max.Y-4, value, w)
}

// seller writes the cautions, and an order in a pale print of its own.
func (p *page) seller(in image.Rectangle) {
	if p.sheet.Order != "" {
		below := image.Rect(in.Min.X, in.Max.Y-70, in.Max.X, in.Max.Y)
		p.paragraph(below, strings.SplitAfter(p.sheet.Order, " "), writing{"label", 18, ink})
		in.Max.Y -= 74
	}
	p.paragraph(in, p.truth.Seller, p.hand("seller", noteSize))
}

// mileage draws a box for each digit, the two units and the flag.
func (p *page) mileage(in image.Rectangle) {
	const boxes = 6
	unit := writing{"label", 15, ink}
	side := min(in.Dy(), (in.Dx()-100)/boxes)
	w := p.hand("digits", side*4/5)
	digits := []rune(p.truth.Digits)
	for i := range boxes {
		box := image.Rect(in.Min.X+26+i*side, in.Min.Y, in.Min.X+26+(i+1)*side, in.Min.Y+side)
		p.frame(box, line)
		if at := i - boxes + len(digits); at >= 0 {
			p.text(box.Min.X+(side-p.width(string(digits[at]), w))/2, box.Max.Y-side/6, string(digits[at]), w)
		}
	}
	if p.truth.Flag != "" {
		p.text(in.Min.X, in.Min.Y+side-6, p.truth.Flag, p.hand("digits", 24))
	}
	x, y := in.Min.X+26+boxes*side+8, in.Min.Y+side*2/3
	for _, name := range []string{"km", "マイル"} {
		end := p.text(x, y, name, unit)
		if name == p.truth.Unit {
			p.circle(image.Rect(x-4, y-17, end+4, y+6), penInk)
		}
		x = end + 8
	}
}

// choices prints words and circles some.
func (p *page) choices(in image.Rectangle, list, circled []string) {
	w := writing{"label", 18, ink}
	total := 0
	for _, word := range list {
		total += p.width(word, w)
	}
	for w.size > 11 && total+10*len(list) > in.Dx() {
		w.size--
		total = total * w.size / (w.size + 1)
	}
	gap := max((in.Dx()-total)/(len(list)+1), 4)
	x, y := in.Min.X+gap/2, in.Max.Y-10
	for _, word := range list {
		end := p.text(x, y, word, w)
		for _, one := range circled {
			if one == word {
				p.circle(image.Rect(x-5, y-w.size-2, end+5, y+6), penInk)
			}
		}
		x = end + gap
	}
}

// documents prints 有・無 after each and circles one.
func (p *page) documents(in image.Rectangle) {
	w := writing{"label", 14, ink}
	labels := []string{"新車整備手帳", "保証書", "取扱説明書"}
	share := in.Dx() / len(labels)
	for i, label := range labels {
		x, y := in.Min.X+i*share, in.Max.Y-10
		x = p.fit(x, y, share-60, label, w) + 6
		for _, word := range []string{"有", "無"} {
			end := p.text(x, y, word, w)
			if p.truth.Documents[label] == word {
				p.circle(image.Rect(x-3, y-16, end+3, y+5), penInk)
			}
			x = end + 8
		}
	}
}

func (p *page) legend(in image.Rectangle) {
	lines := make([]string, 0, len(p.truth.Legend))
	for _, entry := range p.truth.Legend {
		lines = append(lines, entry.Code+"…"+entry.Meaning)
	}
	p.paragraph(in, lines, writing{"label", 18, ink})
}

// cover lays an advert over the lower part.
func (p *page) cover() {
	over := image.Rect(0, p.sheet.Covered, p.Bounds().Dx(), p.Bounds().Dy())
	p.fill(over, alarm)
	p.text(60, over.Min.Y+90, "SIMULATED ADVERT", writing{"label", 60, paper})
	p.text(60, over.Min.Y+150, "covers what is below", writing{"label", 30, paper})
}
