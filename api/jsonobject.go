package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"ushuru/pkg/plainjson"
)

// mergeObjects makes one JSON object of two that are not empty.
func mergeObjects(a, b []byte) []byte {
	both := make([]byte, 0, len(a)+len(b))
	both = append(both, a[:len(a)-1]...)
	both = append(both, ',')
	return append(both, b[1:]...)
}

// field is one field of a JSON object. A nil value omits the field.
type field struct {
	name  string
	value any
}

// replaceFields returns a JSON object with other values of some fields. Fields that
// the object lacks come last. The others keep their bytes, and all keep their order.
func replaceFields(object []byte, fields ...field) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("api: not an object: %.40q", object)
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
			return nil, fmt.Errorf("api: object: %w", err)
		}
		replaced := any(value)
		if at := slices.IndexFunc(fields, func(f field) bool { return f.name == name }); at >= 0 {
			replaced, done[at] = fields[at].value, true
			if replaced == nil {
				continue
			}
		}
		if err := add(name, replaced); err != nil {
			return nil, err
		}
	}
	for i, f := range fields {
		if f.value == nil || done[i] {
			continue
		}
		if err := add(f.name, f.value); err != nil {
			return nil, err
		}
	}
	changed[len(changed)-1] = '}'
	return changed, nil
}
