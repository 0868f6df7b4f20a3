package listingtest

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Truth reads what a person reads from pages: page → field → value. A line "[name]" begins
// a page; the field url is where the page would stand.
func Truth(text string) map[string]map[string]string {
	table := map[string]map[string]string{}
	page := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			page = map[string]string{}
			table[strings.TrimSuffix(name, "]")] = page
		} else if field, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			page[field] = value
		}
	}
	return table
}

// Flatten writes the JSON fields of a value as texts, those of an object in it after its
// name and a point, of a list its length. Empty ones are left out.
func Flatten(value any) (map[string]string, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return nil, err
	}
	flat := map[string]string{}
	flatten("", fields, flat)
	return flat, nil
}

func flatten(prefix string, fields map[string]any, into map[string]string) {
	for name, value := range fields {
		switch value := value.(type) {
		case string:
			into[prefix+name] = value
		case float64:
			into[prefix+name] = strconv.FormatFloat(value, 'f', -1, 64)
		case []any:
			into[prefix+name] = strconv.Itoa(len(value))
		case map[string]any:
			flatten(prefix+name+".", value, into)
		}
		if into[prefix+name] == "" || into[prefix+name] == "0" {
			delete(into, prefix+name)
		}
	}
}
