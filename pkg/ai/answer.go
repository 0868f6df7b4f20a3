package ai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxAnswer bounds an answer in bytes.
const maxAnswer = 64 << 10

// decode parses an answer by the schema into T, with cleaned texts. It is tolerant of
// what models do around and beside the answer: fences, prose, properties that nobody
// asked for, null for an empty text, a number for a text, a list that is too long. A value
// that cannot be used loses itself, where the schema says what stands for it, and not
// the answer. What decides something, an enum without Absent, is strict.
// Its errors contain no text of the answer.
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
	raw, err := object(bare(content))
	if err != nil {
		return nil, err
	}
	missing := 0
	for _, p := range s {
		if _, there := raw[p.Name]; !there {
			missing++
		}
	}
	if 2*missing > len(s) {
		return nil, errors.New("the answer is of another schema")
	}
	values, err := s.readValues(raw)
	if err != nil {
		return nil, err
	}
	return json.Marshal(values)
}

// bare returns the object of an answer without the fences and the prose around it.
func bare(content string) string {
	start := strings.IndexByte(content, '{')
	if start < 0 || strings.HasPrefix(strings.TrimSpace(content), "[") {
		return content
	}
	return content[start:]
}

// readObject returns the values of one object.
func (s Schema) readObject(content string) (map[string]any, error) {
	raw, err := object(content)
	if err != nil {
		return nil, err
	}
	return s.readValues(raw)
}

func (s Schema) readValues(raw map[string]json.RawMessage) (values map[string]any, err error) {
	values = make(map[string]any, len(s))
	for _, p := range s {
		value, there := raw[p.Name]
		if there && strings.TrimSpace(string(value)) != "null" {
			values[p.Name], err = p.read(value)
		} else {
			values[p.Name], err = p.absent()
		}
		if err != nil {
			return nil, fmt.Errorf("%s of the answer %w", p.Name, err)
		}
	}
	return values, nil
}

// object reads one JSON object whose names are all different. What follows it must
// be no other object.
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
	if strings.ContainsRune(content[decoder.InputOffset():], '{') {
		return nil, errors.New("two answers")
	}
	return raw, nil
}

var (
	errType   = errors.New("is of another type")
	errEnum   = errors.New("is none of those allowed")
	errAbsent = errors.New("is missing")
)

// absent returns the value of a property that is missing or null.
func (p Property) absent() (any, error) {
	switch {
	case p.Type == Object:
		return p.Fields.readValues(nil)
	case p.Type == List:
		return []any{}, nil
	case p.Type == Text && len(p.Enum) == 0:
		return "", nil
	case p.Type == Text && p.Absent != "":
		return p.Absent, nil
	}
	return nil, errAbsent
}

// read checks one value.
func (p Property) read(value json.RawMessage) (any, error) {
	text := strings.TrimSpace(string(value))
	switch p.Type {
	case Text:
		return p.readText(text)
	case Object:
		if !strings.HasPrefix(text, "{") {
			return p.absent()
		}
		return p.Fields.readObject(text)
	case List:
		return p.readList(text)
	case Boolean:
		if text = strings.ToLower(strings.Trim(text, `"`)); text != "true" && text != "false" {
			return nil, errType
		}
		return text == "true", nil
	}
	return nil, errType
}

// readText parses one text; a number is one too. A text outside the enum becomes
// Fallback, or is an error without one.
func (p Property) readText(value string) (string, error) {
	s := value
	switch {
	case strings.HasPrefix(value, `"`):
		if json.Unmarshal([]byte(value), &s) != nil {
			return "", errType
		}
	case strings.HasPrefix(value, "["), strings.HasPrefix(value, "{"):
		if s = ""; len(p.Enum) > 0 && p.Fallback == "" {
			return "", errType
		}
	}
	switch {
	case len(p.Enum) == 0:
		return Clean(s, cmp.Or(p.Max, defaultMax)), nil
	case slices.Contains(p.Enum, s):
		return s, nil
	case p.Fallback == "":
		return "", errEnum
	}
	for _, allowed := range p.Enum {
		if strings.EqualFold(allowed, strings.TrimSpace(s)) {
			return allowed, nil
		}
	}
	if s == "" && p.Absent != "" {
		return p.Absent, nil
	}
	return p.Fallback, nil
}

// readList parses the items of a list, as many as it may have. An item that cannot be
// used is left out.
func (p Property) readList(value string) ([]any, error) {
	var raw []json.RawMessage
	if !strings.HasPrefix(value, "[") {
		return []any{}, nil
	}
	if json.Unmarshal([]byte(value), &raw) != nil {
		return nil, errType
	}
	items := []any{}
	for _, r := range raw[:min(len(raw), cmp.Or(p.MaxItems, defaultMaxItems))] {
		if item, err := p.readItem(strings.TrimSpace(string(r))); err == nil {
			items = append(items, item)
		}
	}
	return items, nil
}

// readItem parses one item of a list. A text in place of an object is its first open
// text: a note that came without its author.
func (p Property) readItem(text string) (any, error) {
	switch {
	case text == "null":
		return nil, errAbsent
	case len(p.Fields) == 0:
		return p.readText(text)
	case strings.HasPrefix(text, "{"):
		return p.Fields.readObject(text)
	}
	for _, field := range p.Fields {
		if field.Type == Text && len(field.Enum) == 0 && strings.HasPrefix(text, `"`) {
			return p.Fields.readValues(map[string]json.RawMessage{field.Name: json.RawMessage(text)})
		}
	}
	return nil, errType
}
