package jsonobject

import (
	"bytes"
	"encoding/json"
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
	fields := json.NewDecoder(bytes.NewReader(object))
	if open, err := fields.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	known := append(fieldNames(reflect.TypeOf(of)), also...)
	for fields.More() && len(names) < MaxNames {
		token, err := fields.Token()
		if err == nil {
			err = fields.Decode(&Skipped{})
		}
		if err != nil {
			return nil
		}
		name, _ := token.(string)
		clipped := prefix + Clip(name)
		isKnown := slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) })
		if !isKnown && !slices.Contains(names, clipped) {
			names = append(names, clipped)
		}
	}
	slices.Sort(names)
	return names
}

// Clip returns the beginning of a long name.
func Clip(name string) string {
	if utf8.RuneCountInString(name) > maxName {
		return string([]rune(name)[:maxName]) + "…"
	}
	return name
}

// fieldNames returns the JSON names of a struct's fields, those of embedded structs
// included.
func fieldNames(of reflect.Type) (names []string) {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "" && field.Anonymous:
			names = append(names, fieldNames(field.Type)...)
		case name != "" && name != "-":
			names = append(names, name)
		}
	}
	return names
}
