package tra

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ushuru/pkg/tra/catalogue"
)

var (
	errNotJSON   = errors.New("not JSON")
	errNoVehicle = errors.New("nothing listed for this vehicle")
)

// object is one item of an answer. Fields that we do not know are ignored.
type object map[string]json.RawMessage

// objects reads an answer in any of the forms that clients of the authority
// have had to handle: a list, one object in place of a list, or null. A null
// or an empty object holds nothing and is left out.
func objects(body []byte) ([]object, error) {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	if !utf8.Valid(body) {
		return nil, errors.New("not UTF-8") // labels must go back byte for byte
	}
	if !json.Valid(body) {
		return nil, errNotJSON
	}
	var items []object
	switch body[0] {
	case '[':
		if err := json.Unmarshal(body, &items); err != nil {
			return nil, fmt.Errorf("a list of something else than objects: %w", err)
		}
	case '{':
		items = make([]object, 1)
		if err := json.Unmarshal(body, &items[0]); err != nil {
			return nil, err
		}
	case 'n': // null
	case '"':
		var text string
		if err := json.Unmarshal(body, &text); err != nil || strings.TrimSpace(text) != "" {
			return nil, errNotJSON // a message in quotes
		}
	default:
		return nil, errors.New("neither a list nor an object")
	}
	return slices.DeleteFunc(items, func(o object) bool { return len(o) == 0 }), nil
}

func decodeMakes(body []byte) ([]catalogue.Make, error) {
	return decodeList(body, func(o object) (catalogue.Make, bool, error) {
		name, err := o.text("makeName")
		if err != nil || blank(name) {
			return catalogue.Make{}, false, err
		}
		id, found, err := o.integer("makeId")
		return catalogue.Make{ID: id, Name: name}, found, err
	})
}

// decodeTexts reads a list of one field; years as whole numbers.
func decodeTexts(body []byte, field string) ([]string, error) {
	return decodeList(body, func(o object) (string, bool, error) {
		if field == catalogue.FieldYear {
			year, found, err := o.integer(field)
			return strconv.Itoa(year), found && year > 0, err
		}
		text, err := o.text(field)
		return text, !blank(text), err
	})
}

// decodeList reads every item, leaving out blank ones and repetitions. A list
// in which no item has the field at all is not an empty list.
func decodeList[T comparable](body []byte, read func(object) (T, bool, error)) ([]T, error) {
	items, err := objects(body)
	if err != nil {
		return nil, err
	}
	list := make([]T, 0, len(items))
	seen := make(map[T]bool, len(items))
	for _, item := range items {
		value, found, err := read(item)
		if err != nil {
			return nil, err
		}
		if found && !seen[value] {
			seen[value] = true
			list = append(list, value)
		}
	}
	if len(list) == 0 && len(items) > 0 {
		return nil, errors.New("no item has the expected field")
	}
	return list, nil
}

// text reads a string, or a number as the text it was sent as. A field that is
// missing or null is "".
func (o object) text(name string) (string, error) {
	raw := o[name]
	switch {
	case len(raw) == 0, string(raw) == "null":
		return "", nil
	case raw[0] == '"':
		var text string
		err := json.Unmarshal(raw, &text)
		return text, err
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		return string(raw), nil
	default:
		return "", fmt.Errorf("%s is neither text nor a number: %.40q", name, raw)
	}
}

// integer reads 2019, "2019" or 2019.0, and says whether there was one.
func (o object) integer(name string) (int, bool, error) {
	text, err := o.text(name)
	if err != nil || blank(text) {
		return 0, false, err
	}
	value, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(text), ".0"))
	if err != nil {
		return 0, false, fmt.Errorf("%s is not a whole number: %.40q", name, text)
	}
	return value, true, nil
}

// blank knows the ways in which the authority says nothing.
func blank(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || text == "-"
}
