package terms

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/message"
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

var sets = FieldSets{Of: result{}, Contract: "name,parts.code", Usual: request.AllBut("tags,parts.text")}

// asking is a request with a query.
func asking(t *testing.T, target string) *request.Request {
	t.Helper()
	return request.From(httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody))
}

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
		got, err := ReadFields(asking(t, "/"+fields), sets)
		if err != nil || string(got.Of([]byte(whole), message.View{})) != want {
			t.Errorf("%s: got %s, %v, want %s", fields, got.Of([]byte(whole), message.View{}), err, want)
		}
	}
}

// A string is in the language of the view, although the caller does not read the text beside it.
func TestAChosenStringIsInTheLanguageOfTheView(t *testing.T) {
	t.Parallel()
	fields, err := ReadFields(asking(t, "/?fields=code"), FieldSets{Of: part{}, Contract: "code"})
	if err != nil {
		t.Fatal(err)
	}
	got := string(fields.Of([]byte(`{"code":"One.","text":{"en":"One.","sw":"Moja.","draft":true}}`), message.View{Lang: message.Swahili}))
	if want := `{"code":"Moja.","draft":true}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := string(message.View{}.Of([]byte(`{"id":"1","result":`+got+`}`))), `{"id":"1","result":{"code":"Moja."},"draft":true}`; got != want {
		t.Errorf("in another answer: got %s, want %s", got, want)
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
		_, err := ReadFields(asking(t, "/?fields="+fields), sets)
		p, refused := errors.AsType[*problem.Problem](err)
		if !refused || p.Code != "field_unknown" || p.Param != "fields" || !strings.Contains(p.Message, want) {
			t.Errorf("%s: got %v, want %s", fields, err, want)
		}
	}
}
