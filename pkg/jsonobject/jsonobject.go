// Package jsonobject reads the fields of one that a struct does not have.
package jsonobject

import (
	"bytes"
	"encoding/json"
	"iter"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// IsAbsent reports whether an optional field is omitted or null.
func IsAbsent(value json.RawMessage) bool { return len(value) == 0 || string(value) == "null" }

// Members returns the members of a JSON object that encoding/json has written, in their order
// and as they are written: the name between its quotation marks, and the value. It copies
// nothing.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for at := skipTo(object, 1); at < len(object) && object[at] == '"'; {
			colon := endOf(object, at)
			value := skipTo(object, colon)
			end := endOf(object, value)
			if end > len(object) || !yield(object[at+1:colon-1], object[value:end]) {
				return
			}
			at = skipTo(object, end)
		}
	}
}

// Elements returns the elements of a JSON array as Members returns the members of an object.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for at := skipTo(array, 1); at < len(array) && array[at] != ']'; {
			end := endOf(array, at)
			if end > len(array) || !yield(array[at:end]) {
				return
			}
			at = skipTo(array, end)
		}
	}
}

// Text returns the text at a path of names in a JSON object that encoding/json has written, ""
// where there is none.
func Text(object []byte, path ...string) (text string) {
	for _, name := range path {
		var found []byte
		for own, value := range Members(object) {
			if string(own) == name {
				found = value
				break
			}
		}
		object = found
	}
	_ = json.Unmarshal(object, &text) // what is no text is none
	return text
}

// skipTo returns where the next name or value begins: behind white space, a comma or a colon.
func skipTo(data []byte, at int) int {
	for at < len(data) && strings.IndexByte(" \t\r\n,:", data[at]) >= 0 {
		at++
	}
	return at
}

// endOf returns where the value that begins at a place ends; more than the length of the data
// when it is cut off.
func endOf(data []byte, at int) int {
	cut := len(data) + 1
	for depth := 0; at < len(data); {
		switch data[at] {
		case '"':
			at = endOfString(data, at)
		case '{', '[':
			depth++
			at++
			continue
		case '}', ']':
			depth--
			at++
		default:
			if depth > 0 {
				at++
				continue
			}
			if end := bytes.IndexAny(data[at:], ",}] \t\r\n"); end >= 0 {
				return at + end
			}
			return len(data)
		}
		if depth == 0 {
			return at
		}
	}
	return cut
}

// endOfString returns where the string that begins at a place ends: at the first quotation mark
// behind an even number of backslashes.
func endOfString(data []byte, at int) int {
	for end := at + 1; end < len(data); end++ {
		next := bytes.IndexByte(data[end:], '"')
		if next < 0 {
			break
		}
		end += next
		if before := bytes.TrimRight(data[at+1:end], `\`); (end-at-1-len(before))%2 == 0 {
			return end + 1
		}
	}
	return len(data) + 1
}

const (
	// MaxNames is how many names Unknown returns, and maxName how much of each, in
	// characters: an object may have a million fields.
	MaxNames = 21
	maxName  = 60
)

// Skipped is a value of JSON that is read and forgotten.
type Skipped struct{}

// UnmarshalJSON implements json.Unmarshaler.
func (*Skipped) UnmarshalJSON([]byte) error { return nil }

// Unknown returns the names of the first fields of a JSON object that a struct does not
// have, and that are not among also, in alphabetical order and after a prefix.
func Unknown(prefix string, object json.RawMessage, of any, also ...string) (names []string) {
	for name := range rest[Skipped](object, of, also) {
		clipped := prefix + Clip(name)
		if !slices.Contains(names, clipped) {
			names = append(names, clipped)
		}
		if len(names) == MaxNames {
			break
		}
	}
	slices.Sort(names)
	return names
}

// maxRest is how many fields Rest returns.
const maxRest = 200

// Part is a field of a JSON object with its value as it is written.
type Part struct {
	Name  string
	Value json.RawMessage
}

// Rest returns the first fields of a JSON object that a struct does not have.
func Rest(object json.RawMessage, of any) (parts []Part) {
	for name, value := range rest[json.RawMessage](object, of, nil) {
		if parts = append(parts, Part{name, value}); len(parts) == maxRest {
			break
		}
	}
	return parts
}

// rest returns the fields of a JSON object that a struct does not have, and that are not
// among also, with their values as V has them.
func rest[V any](object json.RawMessage, of any, also []string) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		fields := json.NewDecoder(bytes.NewReader(object))
		if open, err := fields.Token(); err != nil || open != json.Delim('{') {
			return
		}
		known := slices.Clone(also)
		for _, field := range Fields(reflect.TypeOf(of)) {
			known = append(known, field.Name)
		}
		for fields.More() {
			token, err := fields.Token()
			if err != nil {
				return
			}
			name, _ := token.(string)
			var value V
			if err := fields.Decode(&value); err != nil {
				return
			}
			isKnown := slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) })
			if !isKnown && !yield(name, value) {
				return
			}
		}
	}
}

// Clip returns the beginning of a long name.
func Clip(name string) string {
	if utf8.RuneCountInString(name) > maxName {
		return string([]rune(name)[:maxName]) + "…"
	}
	return name
}

// Field is a field of a struct by its name in JSON.
type Field struct {
	Name string
	Type reflect.Type
}

// Fields returns the fields of a struct that JSON has, those of embedded structs included.
func Fields(of reflect.Type) (fields []Field) {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return nil
	}
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "" && field.Anonymous:
			fields = append(fields, Fields(field.Type)...)
		case name != "" && name != "-":
			fields = append(fields, Field{name, field.Type})
		}
	}
	return fields
}
