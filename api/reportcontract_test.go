package api_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/interpret"
	"ushuru/pkg/sheet/transcribe"
)

// TestEveryFieldOfASheetIsDescribed holds openapi.yaml to the Report itself:
// no test has a sheet on which everything is printed.
func TestEveryFieldOfASheetIsDescribed(t *testing.T) {
	t.Parallel()
	document, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	describes(t, "SheetReport", document.Components.Schemas["SheetReport"], reflect.TypeFor[sheet.Report]())
}

// describes compares a schema with the type whose JSON it is to describe.
func describes(t *testing.T, name string, described *openapi3.SchemaRef, of reflect.Type) {
	t.Helper()
	nullable := of.Kind() == reflect.Pointer
	if nullable {
		of = of.Elem()
	}
	if described == nil {
		t.Errorf("%s is not described", name)
		return
	}
	schema := described.Value
	if allowsNull := schema.VisitJSON(nil, openapi3.EnableJSONSchema2020()) == nil; allowsNull != nullable {
		t.Errorf("%s may be null: %v, described: %v", name, nullable, allowsNull)
	}
	if either := slices.Concat(schema.AnyOf, schema.OneOf); len(either) > 0 { // or null
		schema = either[0].Value
	}
	switch of.Kind() {
	case reflect.Struct:
		fields := map[string]bool{"draft": of == reflect.TypeFor[sheet.Text]()} // of other texts
		for field := range of.Fields() {
			tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			fields[tag] = true
			describes(t, name+"."+tag, schema.Properties[tag], field.Type)
		}
		for property := range schema.Properties {
			if !fields[property] {
				t.Errorf("%s.%s is described, and is not there", name, property)
			}
		}
	case reflect.Slice:
		describes(t, name+"[]", schema.Items, of.Elem())
	default:
		values := map[reflect.Kind][2]any{reflect.String: {"a", 1.0}, reflect.Int: {1.0, 1.5}, reflect.Bool: {true, "a"}}[of.Kind()]
		closed := schema.Enum != nil || schema.Pattern != "" || schema.Format != ""
		if !closed && schema.VisitJSON(values[0], openapi3.EnableJSONSchema2020()) != nil {
			t.Errorf("%s is %s, and is described otherwise", name, of)
		}
		if schema.VisitJSON(values[1], openapi3.EnableJSONSchema2020()) == nil {
			t.Errorf("%s is %s, and may be something else", name, of)
		}
	}
}

func TestEmptySheetIsDescribed(t *testing.T) {
	t.Parallel()
	document, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(interpret.Transcript(transcribe.Transcript{}, interpret.Known{}))
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	if err := document.Components.Schemas["SheetReport"].Value.VisitJSON(value, openapi3.EnableJSONSchema2020()); err != nil {
		t.Error(err)
	}
}
