package sheettest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
)

// ErrNoFonts says that Debian's packages of Japanese fonts are not installed:
// fonts-ipafont, fonts-ipaexfont, fonts-kiloji, fonts-aoyagi-kouzan-t.
var ErrNoFonts = errors.New("the Japanese fonts of Debian are not installed: " +
	"fonts-ipafont fonts-ipaexfont fonts-kiloji fonts-aoyagi-kouzan-t")

const fontDirectory = "/usr/share/fonts"

// fontFiles are the faces by their use. A face lacks some characters; then
// those of print are used.
var fontFiles = map[string]string{
	"label":  "opentype/ipaexfont-gothic/ipaexg.ttf",
	"print":  "opentype/ipafont-gothic/ipag.ttf",
	"mincho": "opentype/ipaexfont-mincho/ipaexm.ttf",
	"pen":    "truetype/kiloji/kiloji.ttf",
	"brush":  "truetype/aoyagi-kouzan-t/AoyagiKouzanT.ttf",
}

// fonts are read once; they are large.
var fonts = sync.OnceValues(func() (map[string]*opentype.Font, error) {
	read := map[string]*opentype.Font{}
	for use, file := range fontFiles {
		data, err := os.ReadFile(filepath.Join(fontDirectory, file)) //nolint:gosec // one of the table above
		if errors.Is(err, os.ErrNotExist) {
			return nil, ErrNoFonts
		}
		if err != nil {
			return nil, err
		}
		if read[use], err = opentype.Parse(data); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return read, nil
})

// faces are fonts in sizes, of one drawing; they are not safe to share.
type faces struct {
	fonts map[string]*opentype.Font
	sized map[string]font.Face
}

// in returns a face. A size is in pixels.
func (f *faces) in(use string, size int) font.Face {
	key := fmt.Sprint(use, size)
	if face, there := f.sized[key]; there {
		return face
	}
	face, err := opentype.NewFace(f.fonts[use], &opentype.FaceOptions{Size: float64(size), DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		panic("sheettest: " + err.Error()) // a size of nothing
	}
	f.sized[key] = face
	return face
}
