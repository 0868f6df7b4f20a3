package graph

import (
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
)

// fillers are texts around the JSON of a page that have no meaning; each ends with
// the second text, or at once. Longer fillers come first.
var fillers = []struct{ opens, ends string }{
	{"//<![CDATA[", ""},
	{"/*<![CDATA[*/", ""},
	{"<![CDATA[", ""},
	{"]]>", ""},
	{"<!--", ""},
	{"-->", ""},
	{"//", "\n"},
	{"/*", "*/"},
	{"\ufeff", ""},
	{"\u00a0", ""},
	{"\u200b", ""},
}

// skip advances to the next meaningful character.
func (r *jsonReader) skip() {
	for r.at < len(r.s) {
		if strings.IndexByte(" \t\r\n\f\v\x00", r.s[r.at]) >= 0 {
			r.at++
		} else if !r.skipFiller() {
			return
		}
	}
}

func (r *jsonReader) skipFiller() bool {
	rest := r.s[r.at:]
	if strings.IndexByte("/<]-\xef\xc2\xe2", rest[0]) < 0 {
		return false
	}
	for _, filler := range fillers {
		if !strings.HasPrefix(rest, filler.opens) {
			continue
		}
		length := len(filler.opens)
		if filler.ends != "" {
			if end := strings.Index(rest[length:], filler.ends); end >= 0 {
				length += end + len(filler.ends)
			} else {
				length = len(rest)
			}
		}
		r.at += length
		return true
	}
	return false
}

// separator advances past commas, also superfluous ones, and returns the next
// character; 0 at the end.
func (r *jsonReader) separator() byte {
	for {
		r.skip()
		if r.at == len(r.s) {
			return 0
		}
		if r.s[r.at] != ',' {
			return r.s[r.at]
		}
		r.at++
	}
}

// text reads the string that begins here, as far as it is kept; false when it
// does not end.
func (r *jsonReader) text() (string, bool) {
	r.at++
	from, escaped := r.at, false
	for ; r.at < len(r.s); r.at++ {
		switch r.s[r.at] {
		case '\\':
			escaped = true
			r.at++
		case '"':
			raw := r.s[from:min(r.at, from+maxText)]
			r.at++
			if escaped {
				raw = unescapeJSON(raw)
			}
			return raw, true
		}
	}
	r.at = len(r.s)
	return "", false
}

var jsonEscapes = map[byte]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescapeJSON resolves escapes; one that JSON does not know, \', is the sign
// itself.
func unescapeJSON(raw string) string {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 == len(raw) {
			out = append(out, raw[i])
			continue
		}
		i++
		if raw[i] == 'u' {
			if unit, ok := hex4(raw[i+1:]); ok {
				i += 4
				if low, paired := hex4(strings.TrimPrefix(raw[i+1:], `\u`)); paired && utf16.IsSurrogate(unit) &&
					strings.HasPrefix(raw[i+1:], `\u`) {
					unit = utf16.DecodeRune(unit, low)
					i += 6
				}
				out = append(out, string(unit)...)
				continue
			}
		}
		if sign, ok := jsonEscapes[raw[i]]; ok {
			out = append(out, sign)
		} else {
			out = append(out, raw[i])
		}
	}
	return string(out)
}

func hex4(s string) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	unit, err := hex.DecodeString(s[:4])
	if err != nil {
		return 0, false
	}
	return rune(unit[0])<<8 | rune(unit[1]), true
}

func inLiteral(b byte) bool {
	return b|0x20 >= 'a' && b|0x20 <= 'z' || strings.IndexByte("+-.0123456789", b) >= 0
}

// literal reads a number, which is kept as written, or a word that is no value.
func (r *jsonReader) literal() ([]Value, bool) {
	from := r.at
	for r.at < len(r.s) && inLiteral(r.s[r.at]) {
		r.at++
	}
	switch word := r.s[from:min(r.at, from+400)]; word {
	case "":
		return nil, false
	case "null", "true", "false", "undefined", "NaN":
		return nil, true
	default:
		if _, err := strconv.ParseFloat(word, 64); err != nil {
			return nil, errors.Is(err, strconv.ErrRange)
		}
		return []Value{{Text: word, Number: true}}, true
	}
}
