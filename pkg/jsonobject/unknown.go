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
