package api

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// warnFieldIgnored is the code of the warning that names the fields of a request that
// do not exist.
const warnFieldIgnored = "field_ignored"

// Bounds of what such a warning repeats of a request.
const (
	maxIgnored     = 20
	maxIgnoredName = 60 // characters
)

// unknownFields returns the names of a JSON object's fields that a struct does not
// have, in alphabetical order.
func unknownFields(prefix string, object json.RawMessage, of any) (names []string) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		return nil
	}
	known := append(fieldNames(reflect.TypeOf(of)), "lang") // which every endpoint takes
	for name := range fields {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			names = append(names, prefix+clippedName(name))
		}
	}
	slices.Sort(names)
	return names
}

// clippedName returns the beginning of a long name.
func clippedName(name string) string {
	if utf8.RuneCountInString(name) > maxIgnoredName {
		return string([]rune(name)[:maxIgnoredName]) + "…"
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

// ignoredWarning returns the warning about fields that were ignored; nil when there
// are none.
func ignoredWarning(names []string) []vehicle.Warning {
	if len(names) == 0 {
		return nil
	}
	if len(names) > maxIgnored {
		names = append(slices.Clone(names[:maxIgnored]), "…")
	}
	return []vehicle.Warning{message.New("warning/"+warnFieldIgnored, message.Values{"fields": strings.Join(names, ", ")})}
}
