package request_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/pace"
)

// newRequest makes a request with a body.
func newRequest(t *testing.T, target, body string) *request.Request {
	t.Helper()
	return request.From(httptest.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(body)))
}

func TestWhatIsKnownOfARequestGoesWithItsContext(t *testing.T) {
	t.Parallel()
	known := &request.Request{ID: "one"}
	plain := httptest.NewRequestWithContext(request.With(t.Context(), known), http.MethodGet, "/", http.NoBody)
	if got := request.From(plain); got != known || got.Request != plain {
		t.Errorf("got %+v, want %+v", got, known)
	}
	later := plain.WithContext(context.WithoutCancel(plain.Context()))
	if got := request.From(later); got != known || got.Request != later {
		t.Errorf("with another context: got %+v", got)
	}
	if got := request.From(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)); got.ID != "" {
		t.Errorf("of a request that is not known: got %+v", got)
	}
}

// TestSwitches: one rule for parameters that are true or false.
func TestSwitches(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"true": "true", "false": "false",
		"": "", "1": "", "0": "", "yes": "", "ndiyo": "", "TRUE": "", "t": "", "on": "", "2": "", "banana": "",
	} {
		got, err := request.Flag(url.Values{"strict": {value}}, "strict")
		p, refused := errors.AsType[*problem.Problem](err)
		switch {
		case want == "" && (!refused || p.Param != "strict" || p.Code != "field_invalid"):
			t.Errorf("%q: got %v, %v, want field_invalid of strict", value, got, err)
		case want != "" && (err != nil || got != (want == "true")):
			t.Errorf("%q: got %v, %v, want %s", value, got, err, want)
		}
	}
}

func TestParametersOfEveryEndpoint(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{"": "en", "?lang=sw": "sw", "?lang=fr": "lang_invalid", "?strict=yes": "field_invalid"} {
		r := newRequest(t, "/"+query, "")
		err := r.ReadParameters(time.Minute)
		if p, refused := errors.AsType[*problem.Problem](err); refused && p.Code != want || !refused && r.Lang != want {
			t.Errorf("%s: got %q, %v, want %s", query, r.Lang, err, want)
		}
	}
}

type body struct {
	URL string `json:"url"`
}

func (*body) TypeProblem(field string) *problem.Problem {
	return problem.BadRequest("url_missing").Of(field)
}

func TestBodiesOfJSON(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		contentType, encoding, body string
		code, url, lang             string
		ignored                     []string
	}{
		"without a type":         {body: `{"url":"x"}`, url: "x"},
		"JSON":                   {contentType: "application/json", body: `{"url":"x"}`, url: "x"},
		"JSON in UTF-8":          {contentType: `application/json; charset="UTF-8"`, encoding: "identity", body: `{"url":"x"}`, url: "x"},
		"a language":             {body: `{"url":"x","lang":"sw"}`, url: "x", lang: "sw"},
		"no language":            {body: `{"url":"x","lang":""}`, url: "x"},
		"null is no language":    {body: `{"url":"x","lang":null}`, url: "x"},
		"another language":       {body: `{"lang":"fr"}`, code: "lang_invalid"},
		"a language of a number": {body: `{"lang":1}`, code: "lang_invalid"},
		"other fields":           {body: `{"url":"x","colour":"red","a":1}`, url: "x", ignored: []string{"a", "colour"}},
		"a wrong type":           {body: `{"url":1}`, code: "url_missing"},
		"no JSON":                {body: `url=x`, code: "invalid_json"},
		"nothing":                {body: ``, code: "invalid_json"},
		"two values":             {body: `{} {}`, code: "invalid_json"},
		"not UTF-8":              {body: "{\"url\":\"\xff\"}", code: "invalid_json"},
		"a form":                 {contentType: "application/x-www-form-urlencoded", body: `{}`, code: "unsupported_media_type"},
		"another alphabet":       {contentType: "application/json; charset=utf-16", body: `{}`, code: "unsupported_media_type"},
		"a type that is none":    {contentType: ";", body: `{}`, code: "unsupported_media_type"},
		"another coding":         {encoding: "br", body: `{}`, code: "unsupported_media_type"},
		"too large":              {body: `{"url":"` + strings.Repeat("x", 100) + `"}`, code: "body_too_large"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRequest(t, "/", c.body)
			r.Header.Set("Content-Type", c.contentType)
			r.Header.Set("Content-Encoding", c.encoding)
			var read body
			err := r.JSON(httptest.NewRecorder(), 64, &read)
			if p, refused := errors.AsType[*problem.Problem](err); refused != (c.code != "") || refused && p.Code != c.code {
				t.Fatalf("got %v, want %s", err, c.code)
			}
			if c.code == "" && (read.URL != c.url || r.Lang != c.lang || !slices.Equal(r.Ignored, c.ignored)) {
				t.Errorf("got %q in %q, ignored %q; want %q in %q, %q", read.URL, r.Lang, r.Ignored, c.url, c.lang, c.ignored)
			}
		})
	}
}

func TestAStrictRequestIsRefusedForFieldsThatDoNotExist(t *testing.T) {
	t.Parallel()
	r := newRequest(t, "/?strict=true", `{"url":"x","colour":"red"}`)
	if err := r.ReadParameters(time.Minute); err != nil {
		t.Fatal(err)
	}
	err := r.JSON(httptest.NewRecorder(), 64, &body{})
	if p, refused := errors.AsType[*problem.Problem](err); !refused || p.Code != "field_unknown" || p.Param != "colour" {
		t.Errorf("got %v, want field_unknown of colour", err)
	}
}

func TestTheWarningNamesSomeIgnoredFields(t *testing.T) {
	t.Parallel()
	r := newRequest(t, "/", "")
	if warned := r.Warnings(); warned != nil {
		t.Errorf("without any: got %+v", warned)
	}
	for i := range 25 {
		if err := r.Ignore(string(rune('a' + i))); err != nil {
			t.Fatal(err)
		}
	}
	warned := r.Warnings()
	if len(warned) != 1 || warned[0].Code != "field_ignored" || !strings.Contains(warned[0].Message, "a, b, c") || !strings.Contains(warned[0].Message, "s, t, …") {
		t.Errorf("got %+v", warned)
	}
}

// slow is a body that does not come in time.
type slow struct{}

func (slow) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

func TestWhyABodyCannotBeRead(t *testing.T) {
	t.Parallel()
	large, other := problem.BodyTooLarge(2<<20), request.ErrUnreadable
	for want, err := range map[string]error{
		"body_too_large": &http.MaxBytesError{Limit: 1}, "body_too_slow": os.ErrDeadlineExceeded,
		"body_unreadable": io.ErrUnexpectedEOF, "invalid_json": request.ErrInvalidJSON,
	} {
		if got := request.BodyProblem(err, large, other); got.Code != want {
			t.Errorf("%v: got %s, want %s", err, got.Code, want)
		}
	}
	for _, size := range []int64{-1, 4, 100} {
		if data, err := request.UpTo(strings.NewReader("abcdef"), 4, size); err != nil || string(data) != "abcde" {
			t.Errorf("size %d: got %q, %v, want one byte more than the limit", size, data, err)
		}
	}
	if _, err := request.UpTo(slow{}, 4, 4); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestPartsOfAForm(t *testing.T) {
	t.Parallel()
	var data bytes.Buffer
	w := multipart.NewWriter(&data)
	for range 20 {
		if err := w.WriteField("a", "x"); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	form := func(data []byte) *http.Request {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewReader(data))
		r.Header.Set("Content-Type", w.FormDataContentType())
		return r
	}
	count := 0
	if err := request.EachPart(form(data.Bytes()), func(*multipart.Part) error { count++; return nil }); err == nil || count != 16 {
		t.Errorf("got %d parts, %v, want 16 and an error", count, err)
	}
	stop := errors.New("stop")
	if err := request.EachPart(form(data.Bytes()), func(*multipart.Part) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v, want the error of the part", err)
	}
}

func TestPagesOfLists(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]int{"": 100, "limit=1": 1, "limit=1000": 1000, "limit=0": -1, "limit=1001": -1, "limit=x": -1} {
		values, _ := url.ParseQuery(query)
		if got, err := request.PageSize(values); want < 0 && !errors.Is(err, request.ErrPageInvalid) || want > 0 && got != want {
			t.Errorf("%s: got %d, %v, want %d", query, got, err, want)
		}
	}
	for query, want := range map[string]int{"": 0, "cursor=7": 7, "cursor=-1": -1, "cursor=x": -1} {
		values, _ := url.ParseQuery(query)
		if got, err := request.Cursor(values); want < 0 && !errors.Is(err, request.ErrPageInvalid) || want >= 0 && got != want {
			t.Errorf("%s: got %d, %v, want %d", query, got, err, want)
		}
	}
}

func TestURLsOfListings(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"HTTPS://CARS.example:443/canonical": "https://cars.example/canonical", "": "url_missing", "ftp://cars.example/": "url_forbidden",
		"https://10.0.0.1/": "url_forbidden", "cars": "url_invalid",
	} {
		got, err := request.ListingURL(raw, false)
		if p, refused := errors.AsType[*problem.Problem](err); refused && (p.Code != want || p.Param != "url") || !refused && got != want {
			t.Errorf("%s: got %s, %v, want %s", raw, got, err, want)
		}
	}
}

func TestABodyMayBeCompressed(t *testing.T) {
	t.Parallel()
	var data bytes.Buffer
	w := gzip.NewWriter(&data)
	if _, err := io.WriteString(w, `{"url":"`+strings.Repeat("x", 1000)+`"}`); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for coding, want := range map[string]string{"gzip": "", "X-GZIP": "", "br": "unsupported_media_type"} {
		r := newRequest(t, "/", data.String())
		r.Header.Set("Content-Encoding", coding)
		request.Decode(r.Request)
		var read body
		err := r.JSON(httptest.NewRecorder(), 2000, &read)
		if p, refused := errors.AsType[*problem.Problem](err); refused && p.Code != want || !refused && len(read.URL) != 1000 {
			t.Errorf("%s: got %d bytes, %v, want %s", coding, len(read.URL), err, want)
		}
	}
	for name, sent := range map[string]string{"an empty body": "", "no gzip": "{}", "half of one": data.String()[:data.Len()/2]} {
		r := newRequest(t, "/", sent)
		r.Header.Set("Content-Encoding", "gzip")
		request.Decode(r.Request)
		if err := r.JSON(httptest.NewRecorder(), 2000, &body{}); !errors.Is(err, request.ErrUnreadable) {
			t.Errorf("%s: got %v, want body_unreadable", name, err)
		}
	}
	r := newRequest(t, "/", data.String())
	r.Header.Set("Content-Encoding", "gzip")
	request.Decode(r.Request)
	if err := r.JSON(httptest.NewRecorder(), 64, &body{}); !errors.Is(err, problem.BodyTooLarge(64)) {
		t.Errorf("a small body that becomes a large one: got %v", err)
	}
}

func TestNetworks(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.77": "192.0.2.0", "::ffff:192.0.2.77": "192.0.2.0", "2001:db8:1:2::3": "2001-db8-1--", "": "none",
	} {
		parsed, _ := netip.ParseAddr(address)
		if got := request.NetworkOf(parsed); got != want {
			t.Errorf("%q: got %s, want %s", address, got, want)
		}
	}
}

// TestAVisitorIsCountedByTheNetwork, and a key by itself.
func TestAVisitorIsCountedByTheNetwork(t *testing.T) {
	t.Parallel()
	for key, want := range map[string][2]string{"key": {"key", ""}, pace.Anonymous: {pace.Anonymous + "@192.0.2.0", "192.0.2.0"}} {
		r := request.Request{Network: "192.0.2.0"}
		r.Key.ID = key
		if caller, network := r.Caller(), r.Origin().Network; caller != want[0] || network != want[1] {
			t.Errorf("%s: got %q and the network %q, want %q", key, caller, network, want)
		}
	}
}

// JSON writes one number in several forms; each of them is read.
func TestPlainNumbers(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`{"year":2016.0}`:                      `{"year":2016}`,
		`{"year":2.016e3,"x":[-1E+2,0.50,-0]}`: `{"year":2016,"x":[-100,0.5,0]}`,
		`{"m3":13.200000000000001}`:            `{"m3":13.200000000000001}`,
		`{"a":"2016.0","b\"1.0":"\\","c":1.0}`: `{"a":"2016.0","b\"1.0":"\\","c":1}`,
		`{"a":1e999,"b":1.2.3,"c":01.0}`:       `{"a":1e999,"b":1.2.3,"c":01.0}`,
		`"open`:                                `"open`,
		`"open\`:                               `"open\`,
	} {
		if got := string(request.PlainNumbers([]byte(given))); got != want {
			t.Errorf("%s: got %s, want %s", given, got, want)
		}
	}
}
