package ai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// maxAnswer bounds an answer in bytes.
const maxAnswer = 64 << 10

// decode parses an answer by the schema into T: one object with every property
// exactly once, of the right type, with cleaned texts. Its errors contain no text
// of the answer.
func decode[T any](s Schema, content string) (answer T, clean json.RawMessage, err error) {
	if clean, err = s.read(content); err != nil {
		return answer, nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(clean))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&answer); err != nil {
		return answer, nil, errors.New("the answer does not fit its type")
	}
	return answer, clean, nil
}

// read returns the answer as JSON with only the properties of the schema.
func (s Schema) read(content string) (json.RawMessage, error) {
	if len(content) > maxAnswer {
		return nil, fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	}
	values, err := s.readObject(content)
	if err != nil {
		return nil, err
	}
	return json.Marshal(values)
}

// readObject returns the values of one object.
func (s Schema) readObject(content string) (map[string]any, error) {
	raw, err := object(content)
	if err != nil {
		return nil, err
	}
	values := make(map[string]any, len(s))
	for _, p := range s {
		value, there := raw[p.Name]
		if !there {
			return nil, fmt.Errorf("the answer lacks %s", p.Name)
		}
		if values[p.Name], err = p.read(value); err != nil {
			return nil, fmt.Errorf("%s of the answer %w", p.Name, err)
		}
	}
	if len(raw) > len(s) {
		return nil, errors.New("the answer has properties that the schema does not have")
	}
	return values, nil
}

// object reads exactly one JSON object whose names are all different.
func object(content string) (map[string]json.RawMessage, error) {
	decoder := json.NewDecoder(strings.NewReader(content))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, errors.New("the answer is no JSON object")
	}
	raw := map[string]json.RawMessage{}
	for decoder.More() {
		token, err := decoder.Token()
		name, isText := token.(string)
		if _, twice := raw[name]; err != nil || !isText || twice {
			return nil, errors.New("the answer is broken JSON or names a property twice")
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, errors.New("the answer is broken JSON")
		}
		raw[name] = value
	}
	if _, err := decoder.Token(); err != nil {
		return nil, errors.New("the answer is cut off")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the answer")
	}
	return raw, nil
}

var (
	errType = errors.New("is of another type")
	errEnum = errors.New("is none of those allowed")
)

// read checks one value. null is not valid for any type.
func (p Property) read(value json.RawMessage) (any, error) {
	text := strings.TrimSpace(string(value))
	switch p.Type {
	case Text:
		return p.readText(text)
	case Object:
		return p.Fields.readObject(text)
	case List:
		return p.readList(text)
	case Integer:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, errType
		}
		return n, nil
	case Number:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, errType
		}
		return n, nil
	case Boolean:
		if text != "true" && text != "false" {
			return nil, errType
		}
		return text == "true", nil
	}
	return nil, errType
}

// readText parses one text. A text outside the enum becomes Fallback, or is an
// error without one.
func (p Property) readText(value string) (string, error) {
	var s string
	if !strings.HasPrefix(value, `"`) || json.Unmarshal([]byte(value), &s) != nil {
		return "", errType
	}
	switch {
	case len(p.Enum) == 0:
		return Clean(s, cmp.Or(p.Max, defaultMax)), nil
	case slices.Contains(p.Enum, s):
		return s, nil
	case p.Fallback != "":
		return p.Fallback, nil
	}
	return "", errEnum
}

// readList parses all items of a list.
func (p Property) readList(value string) ([]any, error) {
	var raw []json.RawMessage
	if !strings.HasPrefix(value, "[") || json.Unmarshal([]byte(value), &raw) != nil {
		return nil, errType
	}
	if most := cmp.Or(p.MaxItems, defaultMaxItems); len(raw) > most {
		return nil, fmt.Errorf("has more than %d items", most)
	}
	items := make([]any, len(raw))
	for i, r := range raw {
		var err error
		if text := strings.TrimSpace(string(r)); len(p.Fields) > 0 {
			items[i], err = p.Fields.readObject(text)
		} else {
			items[i], err = p.readText(text)
		}
		if err != nil {
			return nil, err
		}
	}
	return items, nil
}
