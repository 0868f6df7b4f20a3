package sheettest

import (
	"bytes"
	"errors"
	"image"
	"math"
	"slices"
	"strconv"
	"testing"

	"ushuru/pkg/testenv"
)

// drawn draws a sheet, or skips the test where there are no fonts.
func drawn(t *testing.T, s *Sheet) []byte {
	t.Helper()
	picture, err := s.Picture()
	if errors.Is(err, ErrNoFonts) {
		testenv.Missing(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

func decode(t *testing.T, picture []byte) image.Image {
	t.Helper()
	decoded, _, err := image.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

// every returns all sheets of the tests.
func every() (list []Sheet) {
	for seed := range Number {
		list = append(list, Make(seed+1))
	}
	for _, id := range slices.Concat(Specials(), Demos()) {
		s, _ := ByID(id)
		list = append(list, s)
	}
	return list
}

func TestTheMarkIsReadOffEveryPicture(t *testing.T) {
	testenv.Long(t)
	for i, s := range every() {
		if i < Number && i%len(variants) != i/len(variants)%len(variants) {
			continue // the pipeline of package sheet reads them all
		}
		picture := decode(t, drawn(t, &s))
		id, turned, err := ReadMark(picture)
		if s.Kind == Photo {
			if !errors.Is(err, ErrNoMark) {
				t.Errorf("a photograph is read as %q, %v", id, err)
			}
			continue
		}
		if err != nil || id != s.ID || math.Abs(turned-s.Variant.Turn) > 2 {
			t.Errorf("%s on %s, %+v: read %q, turned %.1f, %v", s.ID, s.Form, s.Variant, id, turned, err)
		}
	}
}

func TestTheMarkIsReadSmallAndTurned(t *testing.T) {
	s := Make(22)
	drawn(t, &s)
	page, _ := s.Draw()
	for _, width := range []int{1200, 1000, 800, 640} {
		for i, turn := range []float64{0, 4, -7} {
			v := Variant{Turn: turn, Blur: i, Width: width, Quality: 50}
			if id, _, err := ReadMark(v.apply(page)); err != nil || id != s.ID {
				t.Errorf("%+v: %q, %v", v, id, err)
			}
		}
	}
}

func TestAnImageOnItsSideIsRecognised(t *testing.T) {
	s := Make(1)
	upright := decode(t, drawn(t, &s))
	b := upright.Bounds()
	side := image.NewRGBA(image.Rect(0, 0, b.Dy(), b.Dx()))
	for y := range b.Dy() {
		for x := range b.Dx() {
			side.Set(b.Dy()-1-y, x, upright.At(x, y))
		}
	}
	if id, turned, err := ReadMark(side); err != nil || id != s.ID || math.Abs(turned-90) > 5 {
		t.Errorf("%q, turned %.1f, %v", id, turned, err)
	}
}

func TestTooSmallToBeRead(t *testing.T) {
	s := Make(1)
	s.Variant = Variant{Width: 150, Quality: 50}
	if id, _, err := ReadMark(decode(t, drawn(t, &s))); !errors.Is(err, ErrNoMark) {
		t.Errorf("%q, %v", id, err)
	}
}

func TestIdsAreThoseOfSheetsOnly(t *testing.T) {
	for _, id := range []string{"", "0", "-1", "01", "1.0", "10000", "nothing", "USS"} {
		if _, ok := ByID(id); ok {
			t.Errorf("%q is a sheet", id)
		}
	}
	for _, s := range every() {
		if got, ok := ByID(s.ID); s.Kind != Photo && (!ok || got.ID != s.ID) {
			t.Errorf("%s is not found", s.ID)
		}
	}
	if s, _ := ByID(strconv.Itoa(Number + 1)); s.Trap != "" {
		t.Errorf("a trap beyond the last seed: %s", s.Trap)
	}
}
