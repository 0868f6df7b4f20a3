package graph

import (
	"encoding/hex"
	"errors"
	"html"
	"strconv"
	"strings"
	"unicode/utf16"

	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/dom"
	"ushuru/pkg/listing/page"
)

// maxBlocks bounds the JSON-LD blocks that are read.
const maxBlocks = 200

// readJSONLD reads the page's JSON-LD scripts; a bad one is skipped.
func readJSONLD(doc *page.Document, g *Graph) {
	read := 0
	for _, script := range doc.Tags[atom.Script] {
		kind, _, _ := strings.Cut(dom.Attr(script, "type"), ";")
		if !strings.EqualFold(strings.TrimSpace(kind), "application/ld+json") || script.FirstChild == nil ||
			dom.AnyAncestor(script, dom.IsTemplate) {
			continue
		}
		if read++; read > maxBlocks {
			return
		}
		readBlock(script.FirstChild.Data, g)
	}
}

// readBlock reads one block. A block that was escaped as if it were HTML is
// unescaped, but only then: an entity inside a string is unescaped after.
func readBlock(block string, g *Graph) {
	if !tryBlock(block, g) && strings.Contains(block, "&quot;") {
		tryBlock(html.UnescapeString(block), g)
	}
}

// tryBlock reads a block; when it is broken beyond repair nothing of it stays.
func tryBlock(block string, g *Graph) bool {
	before, left := len(g.nodes), g.left
	roots, ok := (&jsonReader{s: block, g: g}).block()
	if !ok {
		clear(g.nodes[before:])
		g.nodes, g.left = g.nodes[:before], left
		return false
	}
	for _, v := range roots {
		if v.Node != nil {
			g.Roots = append(g.Roots, v.Node)
		}
	}
	return true
}

// jsonReader reads JSON as pages have it: comments of JavaScript, raw line
// breaks in strings, commas too many, wrappers. Null and booleans are no values.
type jsonReader struct {
	s     string
	at    int
	depth int
	g     *Graph
}

// block reads the values of a block: one, as a rule. What follows the first and
// is no value, such as a brace too many, is ignored.
func (r *jsonReader) block() ([]Value, bool) {
	values, ok := r.value()
	for ok {
		r.skip()
		for r.at < len(r.s) && strings.IndexByte("}],;", r.s[r.at]) >= 0 {
			r.at++
			r.skip()
		}
		if r.at == len(r.s) || r.s[r.at] != '{' && r.s[r.at] != '[' {
			break
		}
		more, whole := r.value()
		if !whole {
			break
		}
		values = append(values, more...)
	}
	return values, ok
}

// value reads a value; an array is its items, which is what it means in JSON-LD.
func (r *jsonReader) value() (values []Value, ok bool) {
	r.skip()
	if r.at == len(r.s) || r.depth >= MaxDepth || !r.g.spend(1) {
		return nil, false
	}
	r.depth++
	defer func() { r.depth-- }()
	switch r.s[r.at] {
	case '{':
		r.at++
		return r.object()
	case '[':
		r.at++
		return r.array()
	case '"':
		text, closed := r.text()
		return []Value{{Text: text}}, closed
	case ',', '}', ']': // a template left the value out
		return nil, true
	}
	return r.literal()
}

func (r *jsonReader) array() (values []Value, ok bool) {
	for {
		switch r.separator() {
		case 0:
			return nil, false
		case ']':
			r.at++
			return values, true
		case '}':
			return nil, false
		}
		items, ok := r.value()
		if !ok {
			return nil, false
		}
		values = append(values, items...)
	}
}

func (r *jsonReader) object() ([]Value, bool) {
	o := object{node: r.g.newNode(SourceJSONLD)}
	for {
		switch r.separator() {
		case '}':
			r.at++
			return o.values(), true
		case '"':
		default:
			return nil, false
		}
		key, ok := r.text()
		r.skip()
		if !ok || r.at == len(r.s) || r.s[r.at] != ':' {
			return nil, false
		}
		r.at++
		values, ok := r.value()
		if !ok {
			return nil, false
		}
		o.set(key, values)
	}
}

// object is a JSON object on its way to become a node or a plain value.
type object struct {
	node  *Node
	plain []Value // of @value, @list and @set
	typed bool    // by @type, which goes before its alias
}

func (o *object) set(key string, values []Value) {
	switch key {
	case "@context":
	case "@type":
		o.node.Types, o.node.Typed, o.typed = nil, false, true
		o.addTypes(values)
	case "type": // an alias in schema.org's own context
		if !o.typed {
			o.addTypes(values)
		}
	case "@id":
		if len(values) > 0 {
			o.node.ID = values[0].Text
		}
	case "@value", "@list", "@set":
		o.plain = append(o.plain, values...)
	case "@graph":
		o.node.Props[key] = values
	default:
		if name := Name(key); name != "" && len(values) > 0 {
			o.node.Props[name] = values
		}
	}
}

func (o *object) addTypes(values []Value) {
	for _, v := range values {
		o.node.addTypes(v.Text)
	}
}

func (o *object) values() []Value {
	if len(o.plain) > 0 {
		return o.plain
	}
	return []Value{{Node: o.node}}
}

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
