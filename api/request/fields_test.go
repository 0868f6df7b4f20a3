package request_test

import (
	"errors"
	"strings"
	"testing"

	"ushuru/api/problem"
	"ushuru/api/request"
)

type result struct {
	Name  string   `json:"name"`
	Parts []part   `json:"parts"`
	Other *part    `json:"other,omitempty"`
	Tags  []string `json:"tags"`
	Any   any      `json:"any"`
}

type part struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

var sets = request.FieldSets{Of: result{}, Contract: "name,parts.code", Usual: "tags,parts.text", Without: true}

const whole = `{"name":"n","parts":[{"code":"1","text":"a"},{"code":"2","text":"b"}],"other":null,"tags":["t"],"any":{"x":{"y":1}}}`

func TestAResultHasTheMembersThatAreAskedFor(t *testing.T) {
	t.Parallel()
	for fields, want := range map[string]string{
		"":                           `{"name":"n","parts":[{"code":"1"},{"code":"2"}],"other":null,"any":{"x":{"y":1}}}`,
		"?fields=all":                whole,
		"?fields=contract":           `{"name":"n","parts":[{"code":"1"},{"code":"2"}]}`,
		"?fields=contract,tags":      `{"name":"n","parts":[{"code":"1"},{"code":"2"}],"tags":["t"]}`,
		"?fields=tags,name":          `{"name":"n","tags":["t"]}`,
		"?fields=parts.text,parts":   `{"parts":[{"code":"1","text":"a"},{"code":"2","text":"b"}]}`,
		"?fields=parts,parts.text":   `{"parts":[{"code":"1","text":"a"},{"code":"2","text":"b"}]}`,
		"?fields=any.x.y,other.code": `{"other":null,"any":{"x":{"y":1}}}`,
	} {
		got, err := newRequest(t, "/"+fields, "").ReadFields(sets)
		if err != nil || string(got.Of([]byte(whole))) != want {
			t.Errorf("%s: got %s, %v, want %s", fields, got.Of([]byte(whole)), err, want)
		}
	}
}

func TestAMemberThatDoesNotExistIsNamedWithThoseThatDo(t *testing.T) {
	t.Parallel()
	for fields, want := range map[string]string{
		"nam":            `"nam" to choose with "fields". There are: name, parts, other, tags, any.`,
		"name,parts.cod": `"parts.cod" to choose with "fields". There are: parts.code, parts.text.`,
		"name.x":         `"name.x" to choose with "fields". There are: name.`,
		"name,":          `"" to choose`,
		"all,name":       `"all" to choose`,
	} {
		_, err := newRequest(t, "/?fields="+fields, "").ReadFields(sets)
		p, refused := errors.AsType[*problem.Problem](err)
		if !refused || p.Code != "field_unknown" || p.Param != "fields" || !strings.Contains(p.Message, want) {
			t.Errorf("%s: got %v, want %s", fields, err, want)
		}
	}
}
