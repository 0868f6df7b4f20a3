package api_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// Generators make a type of every schema, parameter and operation: no two may have one
// name.
func TestNamesOfTheContractDoNotCollide(t *testing.T) {
	t.Parallel()
	document, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	plain := func(name string) string {
		return strings.ToLower(regexp.MustCompile(`[-_.]`).ReplaceAllString(name, ""))
	}
	taken := map[string]string{}
	take := func(name, of string) {
		if other := taken[plain(name)]; other != "" {
			t.Errorf("%s has the name of %s", of, other)
		}
		taken[plain(name)] = of
	}
	for name := range document.Components.Schemas {
		take(name, "schema "+name)
	}
	for name := range document.Components.Parameters {
		take(name, "parameter "+name)
	}
	for name := range document.Components.Responses {
		take(name, "response "+name)
	}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			name := method + " " + path
			for _, suffix := range []string{"", "Response", "Params", "RequestBody"} {
				take(operation.OperationID+suffix, name)
			}
		}
	}
}

// Every operation is explained, with an example of what is sent or answered.
func TestOperationsHaveDescriptionAndExample(t *testing.T) {
	t.Parallel()
	document, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			shown := operation.RequestBody != nil && hasExample(operation.RequestBody.Value.Content)
			for status, response := range operation.Responses.Map() {
				shown = shown || strings.HasPrefix(status, "2") && hasExample(response.Value.Content)
			}
			empty := operation.Responses.Value("204") != nil && operation.Responses.Value("200") == nil
			if operation.Description == "" || operation.Summary == "" || !shown && !empty {
				t.Errorf("%s %s: description %q, example %t", method, path, operation.Description, shown)
			}
		}
	}
}

func hasExample(content openapi3.Content) bool {
	for media := range maps.Values(content) {
		if media.Example != nil || len(media.Examples) > 0 {
			return true
		}
	}
	return false
}

// Every enum is a schema with a name, of which generators make a type.
func TestEnumsHaveNames(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`^      enum: \[|^    [A-Z]\w+: \{type: \w+, enum: \[`)
	inSchemas := false
	enums := 0
	for number, line := range strings.Split(string(text), "\n") {
		inSchemas = inSchemas || line == "  schemas:"
		if !strings.Contains(line, "enum: [") {
			continue
		}
		if enums++; !inSchemas || !named.MatchString(line) {
			t.Errorf("line %d: an enum without a name: %s", number+1, strings.TrimSpace(line))
		}
	}
	if enums < 40 {
		t.Errorf("%d enums", enums)
	}
}

// A default of a field of a request would make generators require the field.
func TestFieldsOfRequestsHaveNoDefault(t *testing.T) {
	t.Parallel()
	document, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[*openapi3.Schema]bool{}
	var check func(name string, ref *openapi3.SchemaRef)
	check = func(name string, ref *openapi3.SchemaRef) {
		if ref == nil || ref.Value == nil || seen[ref.Value] {
			return
		}
		seen[ref.Value] = true
		if ref.Value.Default != nil {
			t.Errorf("%s has a default", name)
		}
		for _, property := range slices.Sorted(maps.Keys(ref.Value.Properties)) {
			check(name+"."+property, ref.Value.Properties[property])
		}
		check(name+"[]", ref.Value.Items)
		for _, either := range slices.Concat(ref.Value.OneOf, ref.Value.AnyOf, ref.Value.AllOf) {
			check(name, either)
		}
	}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.RequestBody == nil {
				continue
			}
			for kind, media := range operation.RequestBody.Value.Content {
				check(method+" "+path+" "+kind, media.Schema)
			}
		}
	}
}
