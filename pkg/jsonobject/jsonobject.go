// Package jsonobject changes and reads fields of JSON objects: the bytes of all other
// fields stay as they are.
package jsonobject

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"ushuru/pkg/plainjson"
)

// Merge makes one JSON object of two that are not empty.
func Merge(a, b []byte) []byte {
	both := make([]byte, 0, len(a)+len(b))
	both = append(both, a[:len(a)-1]...)
	both = append(both, ',')
	return append(both, b[1:]...)
}

// Field is one field of a JSON object. A nil value omits the field.
type Field struct {
	Name  string
	Value any
}

// Replace returns a JSON object with other values of some fields. Fields that
// the object lacks come last. The others keep their bytes, and all keep their order.
func Replace(object []byte, fields ...Field) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("jsonobject: not an object: %.40q", object)
	}
	changed, done := []byte{'{'}, make([]bool, len(fields))
	add := func(name, value any) error {
		for i, part := range []any{name, value} {
			data, err := plainjson.Encode(part)
			if err != nil {
				return err
			}
			changed = append(append(changed, data...), ":,"[i])
		}
		return nil
	}
	for decoder.More() {
		var value json.RawMessage
		name, err := decoder.Token()
		if err == nil {
			err = decoder.Decode(&value)
		}
		if err != nil {
			return nil, fmt.Errorf("jsonobject: object: %w", err)
		}
		replaced := any(value)
		if at := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name }); at >= 0 {
			replaced, done[at] = fields[at].Value, true
			if replaced == nil {
				continue
			}
		}
		if err := add(name, replaced); err != nil {
			return nil, err
		}
	}
	for i, f := range fields {
		if f.Value == nil || done[i] {
			continue
		}
		if err := add(f.Name, f.Value); err != nil {
			return nil, err
		}
	}
	changed[len(changed)-1] = '}'
	return changed, nil
}

// IsAbsent reports whether an optional field is omitted or null.
func IsAbsent(value json.RawMessage) bool { return len(value) == 0 || string(value) == "null" }
