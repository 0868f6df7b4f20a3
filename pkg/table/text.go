package table

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/transform"
)

// separators are tried on the header in this order.
const separators = ",;\t|"

// lines is the source of a table as text. A row is one line: a cell cannot have a line
// break, because a quotation mark that someone forgot to close would swallow the rows
// that follow.
type lines struct {
	text      *bufio.Reader
	charset   string
	end       byte // of a line
	separator rune // 0 when the whole line is one cell
	number    int
	begin     []line // read while the separator was looked for
	failed    error  // after them
}

type line struct {
	number int
	text   string
}

func openText(data []byte, charset string) (*File, error) {
	if bytes.IndexByte(data[:min(len(data), 512)], 0) >= 0 && !isUTF16(data, 0) && !isUTF16(data, 1) {
		return nil, ErrNotTable
	}
	text, charset, err := decode(data, charset)
	if err != nil {
		return nil, err
	}
	table := &lines{text: bufio.NewReaderSize(text, maxLine), charset: charset, end: '\n'}
	if !bytes.ContainsRune(data, '\n') {
		table.end = '\r' // of old Macintosh programs
	}
	return &File{sources: []source{table}}, nil
}

func (s *lines) open(r *Reader) error {
	r.Form = Form{Format: "csv", Charset: s.charset}
	if err := s.findSeparator(r.options); err != nil {
		return err
	}
	if s.separator != 0 {
		r.Separator = string(s.separator)
	}
	return nil
}

// findSeparator reads the beginning of a text and chooses the separator by which it has
// most names of columns. Excel's own first line, sep=;, decides alone.
func (s *lines) findSeparator(o Options) error {
	var named rune
	for len(s.begin) < maxPreamble {
		one, err := s.readLine()
		if err != nil {
			s.failed = err
			break
		}
		if value, ok := strings.CutPrefix(strings.ToLower(one.text), "sep="); ok && one.number == 1 {
			named, _ = utf8.DecodeRuneInString(strings.Trim(value, `"`))
			if named == utf8.RuneError || named == '"' {
				return ErrHeader
			}
			continue
		}
		s.begin = append(s.begin, one)
	}
	if named != 0 {
		s.separator = named
		return nil
	}
	best, header := 0, ""
	for _, separator := range separators + "\x00" {
		for _, one := range s.begin {
			if cells, err := split(one, separator); err == nil {
				if known := o.names(cells); known > best {
					best, header, s.separator = known, one.text, separator
				}
			}
		}
	}
	if best == 0 {
		return s.headerProblem()
	}
	if !strings.ContainsRune(header, s.separator) {
		s.separator = 0
	}
	return nil
}

// headerProblem returns why there is no header: a line that cannot be read, if there is
// one.
func (s *lines) headerProblem() error {
	for _, one := range s.begin {
		if _, err := split(one, ','); err != nil {
			return err
		}
	}
	if s.failed != nil && !errors.Is(s.failed, io.EOF) {
		return s.failed
	}
	return ErrHeader
}

func (s *lines) next() (Row, error) {
	one, err := s.nextLine()
	if err != nil {
		return Row{}, err
	}
	cells, err := split(one, s.separator)
	return Row{Number: one.number, Cells: cells}, err
}

func (s *lines) nextLine() (line, error) {
	if len(s.begin) > 0 {
		one := s.begin[0]
		s.begin = s.begin[1:]
		return one, nil
	}
	if s.failed != nil {
		return line{}, s.failed
	}
	return s.readLine()
}

func (s *lines) readLine() (line, error) {
	text, err := s.text.ReadSlice(s.end)
	s.number++
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return line{}, &LineError{Line: s.number, Long: true}
	case errors.Is(err, encoding.ErrInvalidUTF8):
		return line{}, fmt.Errorf("%w: line %d is not UTF-8", ErrCharset, s.number)
	case err != nil && !errors.Is(err, io.EOF):
		return line{}, err
	case len(text) == 0:
		return line{}, io.EOF
	}
	return line{s.number, strings.TrimRight(string(text), "\r\n")}, nil
}

// split splits a line into cells. A separator of 0 leaves the line whole.
func split(one line, separator rune) (cells []string, err error) {
	if separator == 0 {
		return []string{wholeLine(one.text)}, nil
	}
	for rest := one.text; ; {
		var cell string
		if cell, rest, err = cutCell(rest, separator); err != nil {
			return nil, &LineError{Line: one.number}
		}
		cells = append(cells, strings.TrimSpace(cell))
		if rest == "" {
			return cells, nil
		}
		rest = rest[utf8.RuneLen(separator):]
	}
}

var errQuote = errors.New("table: stray quotation mark")

// cutCell returns the first cell of a line; rest begins with the separator after it.
func cutCell(text string, separator rune) (cell, rest string, err error) {
	begin := text
	if separator != '\t' {
		begin = strings.TrimLeft(text, " \t")
	}
	if strings.HasPrefix(begin, `="`) { // as some programs write a text of digits
		begin = begin[1:]
	}
	if !strings.HasPrefix(begin, `"`) {
		end := strings.IndexRune(text, separator)
		if end < 0 {
			end = len(text)
		}
		if strings.Contains(text[:end], `"`) {
			return "", "", errQuote
		}
		return text[:end], text[end:], nil
	}
	var b strings.Builder
	for rest = begin[1:]; ; {
		part, after, closed := strings.Cut(rest, `"`)
		if !closed {
			return "", "", errQuote
		}
		b.WriteString(part)
		if !strings.HasPrefix(after, `"`) {
			rest = strings.TrimLeft(after, " ")
			break
		}
		b.WriteByte('"')
		rest = after[1:]
	}
	if rest != "" && !strings.HasPrefix(rest, string(separator)) {
		return "", "", errQuote
	}
	return b.String(), rest, nil
}

// wholeLine returns the one cell of a line. It may be quoted.
func wholeLine(text string) string {
	text = strings.TrimSpace(text)
	if cell, rest, err := cutCell(text, 0); err == nil && rest == "" {
		return strings.TrimSpace(cell)
	}
	return text
}

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
