package aitest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// schema is a JSON schema as far as strict servers know it.
type schema struct {
	Type       string
	Enum       []string
	Properties []property // in the order of the text
	Items      *schema
}

// schemaError is a sentence in the words of the API.
type schemaError string

func (e schemaError) Error() string { return string(e) }

type property struct {
	*schema
	name string
}

// permitted are the keywords of the strictest servers. OpenAI takes a few more
// (anyOf, $ref, pattern, ranges); others do not.
var permitted = []string{"type", "enum", "description", "properties", "required", "additionalProperties", "items"}

const deepest = 5

func parseSchema(raw json.RawMessage, strict bool) (*schema, error) {
	root, err := parseAt(raw, strict, nil)
	if err == nil && root.Type != "object" {
		return nil, schemaError(fmt.Sprintf(`schema must be a JSON Schema of 'type: "object"', got 'type: "%s"'.`, root.Type))
	}
	return root, err
}

func parseAt(raw json.RawMessage, strict bool, path []string) (*schema, error) {
	where := func(format string, args ...any) error {
		quoted := make([]string, len(path))
		for i, p := range path {
			quoted[i] = "'" + p + "'"
		}
		return schemaError(fmt.Sprintf("In context=("+strings.Join(quoted, ", ")+"), "+format, args...))
	}
	keywords, err := ordered(raw)
	if err != nil {
		return nil, where("schema is no object.")
	}
	if len(path) > 2*deepest {
		return nil, where("%d levels of nesting exceed the limit of %d.", len(path)/2, deepest)
	}
	s := &schema{}
	var required []string
	var additional json.RawMessage
	for _, k := range keywords {
		if !slices.Contains(permitted, k.name) {
			return nil, where("'%s' is not permitted.", k.name)
		}
		var err error
		switch k.name {
		case "type":
			err = json.Unmarshal(k.value, &s.Type)
		case "enum":
			err = json.Unmarshal(k.value, &s.Enum)
		case "required":
			err = json.Unmarshal(k.value, &required)
		case "additionalProperties":
			additional = k.value
		case "items":
			s.Items, err = parseAt(k.value, strict, append(slices.Clone(path), "items"))
		case "properties":
			s.Properties, err = parseProperties(k.value, strict, path)
		}
		if _, kind := errors.AsType[*json.UnmarshalTypeError](err); kind {
			return nil, where("'%s' has the wrong type.", k.name)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, s.checkStrict(strict, required, additional, where)
}

func parseProperties(raw json.RawMessage, strict bool, path []string) (properties []property, err error) {
	entries, err := ordered(raw)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		sub, err := parseAt(entry.value, strict, append(slices.Clone(path), "properties", entry.name))
		if err != nil {
			return nil, err
		}
		properties = append(properties, property{sub, entry.name})
	}
	return properties, nil
}

// checkStrict holds the rules of strict mode.
func (s *schema) checkStrict(strict bool, required []string, additional json.RawMessage, where func(string, ...any) error) error {
	types := []string{"object", "array", "string", "number", "integer", "boolean"}
	if !slices.Contains(types, s.Type) {
		return where("schema must have a 'type' key.")
	}
	if s.Type == "array" && s.Items == nil {
		return where("array schema missing items.")
	}
	if !strict || s.Type != "object" {
		return nil
	}
	if string(additional) != "false" {
		return where("'additionalProperties' is required to be supplied and to be false.")
	}
	for _, p := range s.Properties {
		if !slices.Contains(required, p.name) {
			return where("'required' is required to be supplied and to be an array including every key in properties."+
				" Missing '%s'.", p.name)
		}
	}
	if len(required) > len(s.Properties) {
		return where("'required' names keys that are not in properties.")
	}
	return nil
}

type entry struct {
	name  string
	value json.RawMessage
}

// ordered reads an object in the order of its text.
func ordered(raw json.RawMessage) (entries []entry, err error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, errors.New("no object")
	}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		e := entry{name: name}
		if err := decoder.Decode(&e.value); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}
