package ai

import (
	"bytes"
	"encoding/json"
	"fmt"
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
)

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
