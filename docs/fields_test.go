package docs

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"ushuru/pkg/vehicle"
)

// Every field of an estimate is in estimate.md.
func TestEstimateDocumentListsTheFields(t *testing.T) {
	t.Parallel()
	document := read(t, "estimate.md")
	for _, name := range fieldsOf(reflect.TypeFor[vehicle.Estimate](), map[reflect.Type]bool{}) {
		if !strings.Contains(document, "`"+name+"`") {
			t.Errorf("an estimate has the field %s, which estimate.md does not describe", name)
		}
	}
}

// inAnswers are the packages whose types are parts of answers.
var inAnswers = regexp.MustCompile(`/pkg/(vehicle|message)$`)

// fieldsOf returns the JSON names of the fields of a type and of those in it.
func fieldsOf(of reflect.Type, seen map[reflect.Type]bool) (names []string) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice:
		return fieldsOf(of.Elem(), seen)
	case reflect.Struct:
	default:
		return nil
	}
	if seen[of] || !inAnswers.MatchString(of.PkgPath()) {
		return nil
	}
	seen[of] = true
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			names = append(names, name)
		}
		names = append(names, fieldsOf(field.Type, seen)...)
	}
	return names
}
