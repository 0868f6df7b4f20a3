package request

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"ushuru/api/problem"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/message"
)

// The sets of members that a caller may name in fields beside members.
const (
	FieldsAll      = "all"
	FieldsContract = "contract"
)

// Fields are the members of a result that a caller reads. The zero value are all of them.
type Fields struct {
	asked   string  // as in the query
	members members // nil for all
	without bool    // all but the members
}

// members are members of objects by their names, and the members that are meant of each; nil
// for the whole.
type members map[string]members

// FieldSets are the sets of members of a kind of result: Contract has those of the
// specification, and Usual those that are read when the caller names none.
type FieldSets struct {
	Of       any // has the JSON of the result
	Contract string
	Usual    Fields
}

// Only returns the members of a list of their dotted names.
func Only(list string) Fields { return Fields{members: membersOf(list)} }

// AllBut returns all members but those of a list of their dotted names.
func AllBut(list string) Fields { return Fields{members: membersOf(list), without: true} }

// ReadFields returns the members that the query of a request names, of a kind of result.
func (r *Request) ReadFields(sets FieldSets) (Fields, error) {
	switch asked := r.URL.Query().Get("fields"); asked {
	case "":
		return sets.Usual, nil
	case FieldsAll:
		return Fields{asked: asked}, nil
	default:
		for name := range strings.SplitSeq(asked, ",") {
			if name == FieldsContract {
				continue
			}
			if err := checkMember(reflect.TypeOf(sets.Of), name); err != nil {
				return Fields{}, err
			}
		}
		names := strings.ReplaceAll(","+asked+",", ","+FieldsContract+",", ","+sets.Contract+",")
		return Fields{asked: asked, members: membersOf(strings.Trim(names, ","))}, nil
	}
}

// Asked returns the members as the query named them; empty when it named none.
func (f Fields) Asked() string { return f.asked }

// membersOf returns the members of a list of their dotted names.
func membersOf(list string) members {
	all := members{}
	for name := range strings.SplitSeq(list, ",") {
		parts, into := strings.Split(name, "."), all
		for i, part := range parts {
			if of, named := into[part]; named && of == nil {
				break // it is whole
			}
			if i == len(parts)-1 {
				into[part] = nil
			} else if into[part] == nil {
				into[part] = members{}
			}
			into = into[part]
		}
	}
	return all
}

// checkMember refuses the dotted name of a member that a type does not have, and says which
// it has.
func checkMember(of reflect.Type, dotted string) error {
	parent := ""
	for part := range strings.SplitSeq(dotted, ".") {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice && of != reflect.TypeFor[json.RawMessage]() {
			of = of.Elem()
		}
		if of == reflect.TypeFor[json.RawMessage]() || of.Kind() == reflect.Map || of.Kind() == reflect.Interface {
			return nil // any member may be there
		}
		has, found := jsonobject.Fields(of), reflect.Type(nil)
		names := make([]string, 0, len(has))
		for _, field := range has {
			if field.Name == part && found == nil {
				found = field.Type
			}
			if name := parent + field.Name; !slices.Contains(names, name) { // the nearest of embedded ones
				names = append(names, name)
			}
		}
		if found == nil {
			values := message.Values{"member": jsonobject.Clip(dotted), "known": strings.Join(names, ", ")}
			if len(names) == 0 {
				values["known"] = strings.TrimSuffix(parent, ".")
			}
			return problem.New(http.StatusBadRequest, "field_unknown.member", values).Of("fields")
		}
		of, parent = found, parent+part+"."
	}
	return nil
}

// Of returns the JSON of a result with the members that the caller reads, and its texts in a
// view: what makes a string Swahili may be a member that the caller does not read.
func (f Fields) Of(result []byte, view message.View) []byte {
	result = view.Of(result)
	if f.members == nil || len(result) == 0 {
		return result
	}
	return f.append(make([]byte, 0, len(result)), result, f.members)
}

// Pick returns the JSON of a result with the members alone.
func (f Fields) Pick(result []byte) []byte {
	return f.append(make([]byte, 0, len(result)), result, f.members)
}

// append writes the chosen members of an object, or of each of the objects of a list.
func (f Fields) append(out, value []byte, chosen members) []byte {
	switch value[0] {
	case '[':
		out = append(out, '[')
		first := len(out)
		for element := range jsonobject.Elements(value) {
			if len(out) > first {
				out = append(out, ',')
			}
			out = f.append(out, element, chosen)
		}
		return append(out, ']')
	case '{':
		out = append(out, '{')
		first := len(out)
		for name, value := range jsonobject.Members(value) {
			of, named := chosen[string(name)]
			if string(name) == "draft" || string(name) == "object" { // of the view, and what the result is
				of, named = nil, !f.without
			}
			if named == f.without && of == nil {
				continue
			}
			if len(out) > first {
				out = append(out, ',')
			}
			out = append(append(append(out, '"'), name...), '"', ':')
			if of != nil {
				out = f.append(out, value, of)
			} else {
				out = append(out, value...)
			}
		}
		return append(out, '}')
	}
	return append(out, value...)
}
