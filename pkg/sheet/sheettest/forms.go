package sheettest

import (
	_ "embed"
	"fmt"
	"image"
	"strconv"
	"strings"
)

// form is the paper of a house: its size in pixels and its fields in bands.
type form struct {
	house string
	size  image.Point
	bands []band
}

type band struct {
	height  int
	columns []column
}

type column struct {
	share int
	cells []cell
}

type cell struct {
	key, label string
	share      int // of the column's height
}

//go:embed houses.txt
var formData string

var forms = func() []form {
	list, err := parseForms(formData)
	if err != nil {
		panic("sheettest: houses.txt: " + err.Error())
	}
	return list
}()

// parseForms reads the notation that the head of houses.txt explains.
func parseForms(text string) (list []form, err error) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.HasPrefix(line, "#"):
		case words[0] == "=":
			f := form{house: words[1]}
			if _, err := fmt.Sscanf(words[2], "%dx%d", &f.size.X, &f.size.Y); err != nil {
				return nil, err
			}
			list = append(list, f)
		default:
			b := band{}
			if b.height, err = strconv.Atoi(words[0]); err != nil {
				return nil, err
			}
			for _, word := range words[1:] {
				c, err := parseColumn(word)
				if err != nil {
					return nil, err
				}
				b.columns = append(b.columns, c)
			}
			last := &list[len(list)-1]
			last.bands = append(last.bands, b)
		}
	}
	return list, nil
}

func parseColumn(word string) (column, error) {
	share, rest, _ := strings.Cut(word, ">")
	c := column{}
	var err error
	if c.share, err = strconv.Atoi(share); err != nil {
		return c, err
	}
	for part := range strings.SplitSeq(rest, "|") {
		key, label, found := strings.Cut(part, ":")
		if !found {
			return c, fmt.Errorf("%q has no label", part)
		}
		one := cell{key: key, share: 1}
		label, times, found := strings.Cut(label, "*")
		if found {
			if one.share, err = strconv.Atoi(times); err != nil {
				return c, err
			}
		}
		one.label = strings.ReplaceAll(label, "_", " ")
		c.cells = append(c.cells, one)
	}
	return c, nil
}

// The parts of a page around its fields, in pixels.
const (
	pageMargin = 24
	headHeight = 150 // title, mark, house
)

// placed is a cell where it stands on the page.
type placed struct {
	cell
	at image.Rectangle
}

// place lays the cells out over the page.
func (f *form) place() (list []placed) {
	y := headHeight
	for _, b := range f.bands {
		total, x := 0, pageMargin
		for _, c := range b.columns {
			total += c.share
		}
		width := f.size.X - 2*pageMargin
		for i, c := range b.columns {
			right := x + width*c.share/total
			if i == len(b.columns)-1 {
				right = f.size.X - pageMargin
			}
			list = append(list, c.place(image.Rect(x, y, right, y+b.height))...)
			x = right
		}
		y += b.height
	}
	return list
}

func (c *column) place(in image.Rectangle) (list []placed) {
	total, y := 0, in.Min.Y
	for _, one := range c.cells {
		total += one.share
	}
	for i, one := range c.cells {
		bottom := y + in.Dy()*one.share/total
		if i == len(c.cells)-1 {
			bottom = in.Max.Y
		}
		list = append(list, placed{one, image.Rect(in.Min.X, y, in.Max.X, bottom)})
		y = bottom
	}
	return list
}

// formOf returns the form of a house.
func formOf(house string) *form {
	for i := range forms {
		if forms[i].house == house {
			return &forms[i]
		}
	}
	return nil
}

// prints says whether the form has a place for the field.
func (f *form) prints(key string) bool {
	for _, p := range f.place() {
		if p.key == key {
			return true
		}
	}
	return false
}
