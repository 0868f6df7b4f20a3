package ai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// Type of a property.
type Type string

// The types of answers.
const (
	Text    Type = "string"
	Boolean Type = "boolean"
	Object  Type = "object" // of Fields
	List    Type = "array"  // of objects with Fields or, without Fields, of texts
)

// Property is one field of an answer. All are asked for.
type Property struct {
	Name        string
	Type        Type
	Description string   // for the model
	Enum        []string // of a text: nothing else is an answer
	Fallback    string   // one of Enum, taken for what is none of it; without it the whole answer is bad
	Absent      string   // one of Enum, taken where the value is missing, null or empty
	Max         int      // of a text without Enum: cut to so many characters; default 300
	Fields      Schema   // of an Object, or of each object in a List
	MaxItems    int      // items of a List; more are cut; default 50
}

// Schema is an object. Models fill the properties in this order, so a reason comes
// before the decision. It uses only what the strictest servers accept: no lengths,
// ranges or patterns, which this package checks.
type Schema []Property

const (
	defaultMax      = 300
	defaultMaxItems = 50
	maxEnum         = 100
	maxDepth        = 4 // of objects in objects; servers take five
)

var wordPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`)

// MarshalJSON writes the JSON schema, with the properties in their order.
func (s Schema) MarshalJSON() ([]byte, error) {
	var properties, required bytes.Buffer
	for i, p := range s {
		value, err := json.Marshal(p.wire())
		if err != nil {
			return nil, err
		}
		if i > 0 {
			properties.WriteByte(',')
			required.WriteByte(',')
		}
		fmt.Fprintf(&properties, "%q:%s", p.Name, value)
		fmt.Fprintf(&required, "%q", p.Name)
	}
	return fmt.Appendf(nil, `{"type":"object","properties":{%s},"required":[%s],"additionalProperties":false}`,
		properties.Bytes(), required.Bytes()), nil
}

// wireProperty is a property of any type but Object in JSON schema.
type wireProperty struct {
	Type        Type     `json:"type"`
	Description string   `json:"description,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	Items       any      `json:"items,omitempty"`
}

// wire returns the property in JSON schema.
func (p Property) wire() any {
	switch {
	case p.Type == Object:
		return p.Fields // which has no place for a description
	case p.Type == List && len(p.Fields) > 0:
		return wireProperty{Type: List, Description: p.Description, Items: p.Fields}
	case p.Type == List:
		return wireProperty{Type: List, Description: p.Description, Items: wireProperty{Type: Text, Enum: p.Enum}}
	}
	return wireProperty{Type: p.Type, Description: p.Description, Enum: p.Enum}
}

// check returns programming errors in a schema.
func (s Schema) check() error { return s.checkAt(1) }

func (s Schema) checkAt(depth int) error {
	if len(s) == 0 {
		return errors.New("ai: a schema without properties")
	}
	if depth > maxDepth {
		return fmt.Errorf("ai: a schema deeper than %d", maxDepth)
	}
	seen := map[string]bool{}
	for _, p := range s {
		if !wordPattern.MatchString(p.Name) || seen[p.Name] {
			return fmt.Errorf("ai: property %q is no name or is there twice", p.Name)
		}
		seen[p.Name] = true
		if err := p.check(depth); err != nil {
			return fmt.Errorf("ai: property %q: %w", p.Name, err)
		}
	}
	return nil
}

func (p Property) check(depth int) error {
	texts := p.Type == Text || p.Type == List && len(p.Fields) == 0
	switch {
	case !slices.Contains([]Type{Text, Boolean, Object, List}, p.Type):
		return fmt.Errorf("there is no type %q", p.Type)
	case len(p.Enum) > 0 && !texts || len(p.Enum) > maxEnum:
		return fmt.Errorf("an enum is of texts, and %d at most", maxEnum)
	case p.Fallback != "" && !slices.Contains(p.Enum, p.Fallback):
		return errors.New("what stands for other values is none of the enum")
	case p.Absent != "" && !slices.Contains(p.Enum, p.Absent):
		return errors.New("what stands for a missing value is none of the enum")
	case p.Type == Object, len(p.Fields) > 0 && p.Type == List:
		return p.Fields.checkAt(depth + 1)
	case len(p.Fields) > 0:
		return errors.New("fields are of objects and lists")
	}
	return nil
}
