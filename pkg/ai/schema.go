package ai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

// Type of a property.
type Type string

// The types that all servers know.
const (
	Text    Type = "string"
	Integer Type = "integer"
	Number  Type = "number"
	Boolean Type = "boolean"
)

// Property is one field of an answer. All are required.
type Property struct {
	Name        string
	Type        Type
	Description string   // for the model
	Enum        []string // of a Text: nothing else is an answer
	Max         int      // of a Text without Enum: cut to so many characters; default 300
}

// Schema is a flat object. Models fill the properties in this order, so what
// they shall think of first stands first. It uses only what the strictest
// servers accept: no lengths, ranges or patterns, which are checked here.
type Schema []Property

const (
	defaultMax = 300
	maxEnum    = 100
)

var wordPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`)

// MarshalJSON writes the JSON schema, with the properties in their order.
func (s Schema) MarshalJSON() ([]byte, error) {
	var properties, required bytes.Buffer
	for i, p := range s {
		value, err := json.Marshal(struct {
			Type        Type     `json:"type"`
			Description string   `json:"description,omitempty"`
			Enum        []string `json:"enum,omitempty"`
		}{p.Type, p.Description, p.Enum})
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

// check finds mistakes of the programmer.
func (s Schema) check() error {
	if len(s) == 0 {
		return errors.New("ai: a schema without properties")
	}
	seen := map[string]bool{}
	for _, p := range s {
		known := p.Type == Text || p.Type == Integer || p.Type == Number || p.Type == Boolean
		if !wordPattern.MatchString(p.Name) || seen[p.Name] || !known {
			return fmt.Errorf("ai: property %q of type %q is no name, is there twice or has no such type", p.Name, p.Type)
		}
		if len(p.Enum) > 0 && p.Type != Text || len(p.Enum) > maxEnum {
			return fmt.Errorf("ai: property %q: an enum is of texts, and %d at most", p.Name, maxEnum)
		}
		seen[p.Name] = true
	}
	return nil
}
