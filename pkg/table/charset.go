package table

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/transform"
)

// byteOrderMarks begin a text of a Unicode encoding.
var byteOrderMarks = []struct{ mark, charset string }{
	{"\xef\xbb\xbf", "utf-8"},
	{"\xff\xfe", "utf-16le"},
	{"\xfe\xff", "utf-16be"},
}

// decode returns a text as UTF-8, and the name of its encoding. A byte order mark
// outranks what the sender says, because programs name an encoding without knowing it.
func decode(data []byte, named string) (text io.Reader, charset string, err error) {
	for _, order := range byteOrderMarks {
		if bytes.HasPrefix(data, []byte(order.mark)) {
			data, named = data[len(order.mark):], order.charset
			break
		}
	}
	if named == "" {
		named = recognise(data)
	}
	from, err := htmlindex.Get(named)
	if err != nil {
		return nil, "", ErrCharset
	}
	if charset, err = htmlindex.Name(from); err != nil {
		return nil, "", ErrCharset
	}
	switch charset {
	case "utf-8":
		return transform.NewReader(bytes.NewReader(data), encoding.UTF8Validator), charset, nil
	case "replacement":
		return nil, "", ErrCharset
	}
	return transform.NewReader(bytes.NewReader(data), from.NewDecoder()), charset, nil
}

// recognise returns the encoding of a text without a mark. Lists from Japan are in
// Shift JIS, which Western text hardly ever is by chance: its accented letters stand
// alone between plain ones.
func recognise(data []byte) string {
	switch {
	case isUTF16(data, 1):
		return "utf-16le"
	case isUTF16(data, 0):
		return "utf-16be"
	case utf8.Valid(data):
		return "utf-8"
	case isJapanese(data, japanese.ShiftJIS):
		return "shift_jis"
	case isJapanese(data, japanese.EUCJP):
		return "euc-jp"
	}
	return "windows-1252"
}

// isUTF16 reports whether most of the bytes at even or odd places are zero, as they
// are of Latin letters.
func isUTF16(data []byte, zeroAt int) bool {
	begin := data[:min(len(data), 512)&^1]
	zeros := 0
	for i := zeroAt; i < len(begin); i += 2 {
		if begin[i] == 0 {
			zeros++
		}
	}
	return zeros > 0 && zeros >= len(begin)/4
}

// isJapanese reports whether a text has no fault in an encoding, and most of its
// characters beyond ASCII are Japanese ones that follow each other: a Western letter with
// an accent can look like a single one.
func isJapanese(data []byte, as encoding.Encoding) bool {
	text := bufio.NewReader(transform.NewReader(bytes.NewReader(data), as.NewDecoder()))
	joined, other := 0, 0
	for before := false; ; {
		r, _, err := text.ReadRune()
		if err != nil {
			return errors.Is(err, io.EOF) && joined > other
		}
		japanese := isJapaneseRune(r)
		switch {
		case r == utf8.RuneError:
			return false
		case japanese && before:
			joined++
		case r >= utf8.RuneSelf && !japanese:
			other++
		}
		before = japanese
	}
}

// isJapaneseRune reports a character of Japanese, but not the half-width ones, which
// single bytes of any text would be.
func isJapaneseRune(r rune) bool {
	return r < '\uff61' && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) ||
		'\u3000' <= r && r <= '\u303f' || '\uff00' <= r && r <= '\uff60' || r == 'ー'
}
