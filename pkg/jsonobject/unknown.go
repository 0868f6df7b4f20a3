package jsonobject

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxName is how much of a field's name is repeated, in characters.
const maxName = 60

// Unknown returns the names of a JSON object's fields that a struct does not have, and
// that are not among also, in alphabetical order and after a prefix.
func Unknown(prefix string, object json.RawMessage, of any, also ...string) (names []string) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		return nil
	}
	known := append(fieldNames(reflect.TypeOf(of)), also...)
	for name := range fields {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			names = append(names, prefix+Clip(name))
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
