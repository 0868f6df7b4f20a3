package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

func (a answer) report(t *testing.T) vehicle.ConditionReport {
	t.Helper()
	var r vehicle.ConditionReport
	if a.status != http.StatusOK || json.Unmarshal(a.body, &r) != nil || r.Summary == "" || r.ID == "" {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	return r
}

func (s *stack) read(url, lang string) answer {
	return s.do(http.MethodPost, "/v1/condition-report", map[string]string{"url": url, "lang": lang})
}

// sendFile sends a file in a form.
func (s *stack) sendFile(file []byte, lang string) answer {
	s.t.Helper()
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	must(s.t, parts.WriteField("lang", lang))
	part, err := parts.CreateFormFile("file", "sheet.jpg")
	must(s.t, err)
	_, err = part.Write(file)
	must(s.t, err)
	must(s.t, parts.Close())
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.base+"/v1/condition-report", &form)
	must(s.t, err)
	request.Header.Set("X-Api-Key", s.key)
	request.Header.Set("Content-Type", parts.FormDataContentType())
	response, err := http.DefaultClient.Do(request)
	must(s.t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	must(s.t, err)
	return answer{response.StatusCode, response.Header, body}
}

func TestASheetIsReadOnceForBothLanguages(t *testing.T) {
	t.Parallel()
	s := newStack(t, embeddedRedis(t))
	model := s.workWithAI()
	sheet := s.site + listingtest.Cars()[axio].Sheet()
	english := s.read(sheet, "en").report(t)
	questions := model.Counts().Requests
	if english.Cached || english.Lang != "en" || questions == 0 {
		t.Fatalf("%d questions: %+v", questions, english)
	}
	swahili := s.read(sheet, "sw").report(t)
	if !swahili.Cached || swahili.Lang != "sw" || swahili.ID != english.ID || swahili.Summary == english.Summary ||
		len(swahili.Report) == 0 {
		t.Errorf("in Kiswahili: %+v", swahili)
	}
	if again := s.read(sheet, "en").report(t); !again.Cached || again.Summary != english.Summary {
		t.Errorf("again: %+v", again)
	}
	if n := model.Counts().Requests; n != questions {
		t.Errorf("another language asked the AI %d times", n-questions)
	}

	// An estimate of the car makes known to which listing the sheet belongs.
	s.expireJoinGrace()
	listing := s.post(s.car(axio)).estimate(t).Input.URL
	if held := s.read(sheet, "en").report(t); !held.Cached || held.Listing != listing {
		t.Errorf("the listing is not held against its sheet: cached %v, listing %q", held.Cached, held.Listing)
	}
	s.compare(pair{URL1: s.car(axio), URL2: s.car(leaf)})
	if n := model.Counts().Requests - questions; n != 0 {
		t.Errorf("a comparison with the sheet asked the AI %d times: it is read, and a model writes no words", n)
	}

	for _, lang := range []string{"en", "sw"} {
		got := s.do(http.MethodGet, "/v1/condition-report/"+english.ID+"/map.svg?lang="+lang, nil)
		if got.status != http.StatusOK || !strings.HasPrefix(got.header.Get("Content-Type"), "image/svg+xml") ||
			!strings.Contains(string(got.body), "<svg") || !strings.Contains(got.header.Get("Content-Security-Policy"), "sandbox") ||
			strings.Contains(string(got.body), "<script") {
			t.Errorf("%s: %d %v %.200s", lang, got.status, got.header, got.body)
		}
	}
}

func TestASheetThatWasSentIsReadAndDropped(t *testing.T) {
	t.Parallel()
	s := newStack(t, embeddedRedis(t))
	model := s.workWithAI()
	sheet := s.site + listingtest.Cars()[passo].Sheet()
	file := []byte(s.page(sheet))
	first := s.sendFile(file, "en").report(t)
	if first.Cached || first.Listing != "" {
		t.Errorf("%+v", first)
	}
	questions := model.Counts().Requests
	if again := s.sendFile(file, "en").report(t); !again.Cached || again.ID != first.ID {
		t.Errorf("again: %+v", again)
	}
	if swahili := s.sendFile(file, "sw").report(t); swahili.Lang != "sw" || swahili.ID != first.ID {
		t.Errorf("in Kiswahili: %+v", swahili)
	}
	if n := model.Counts().Requests; n != questions {
		t.Errorf("the same file asked the AI %d times more", n-questions)
	}
	if byURL := s.read(sheet, "en").report(t); byURL.ID == first.ID {
		t.Error("a file has the id of a URL")
	}
	kept, err := s.conn.Client().Keys(t.Context(), "upload:*").Result()
	if err != nil || len(kept) != 0 {
		t.Errorf("files are kept: %v, %v", kept, err)
	}
}

func TestWhatIsNoSheetIsSaidSo(t *testing.T) {
	t.Parallel()
	s := newStack(t, embeddedRedis(t))
	s.workWithAI()
	car := listingtest.Cars()[axio]
	for name, c := range map[string]struct {
		got    answer
		status int
		code   string
	}{
		"an archive":   {s.sendFile([]byte("PK\x03\x04"+strings.Repeat("\x00", 200)), "en"), 400, "sheet_type_unsupported"},
		"a page":       {s.read(s.car(axio), "en"), 400, "sheet_type_unsupported"},
		"no such file": {s.read(s.site+car.Sheet()+"x", "en"), 422, "sheet_not_found"},
		"half a file":  {s.sendFile([]byte(s.page(s.site + car.Sheet()))[:4000], "en"), 400, "sheet_damaged"},
	} {
		var failure vehicle.Error
		if err := json.Unmarshal(c.got.body, &failure); err != nil || c.got.status != c.status || failure.Code != c.code {
			t.Errorf("%s: %d %s, want %d %s", name, c.got.status, c.got.body, c.status, c.code)
		}
	}
}

func TestWithoutAnAIAReportIsUnavailable(t *testing.T) {
	t.Parallel()
	s := newStack(t, embeddedRedis(t))
	s.work(tasks.Roles...)
	got := s.read(s.site+listingtest.Cars()[axio].Sheet(), "en")
	if got.status != http.StatusServiceUnavailable || !bytes.Contains(got.body, []byte(`"code":"no_ai"`)) || got.header.Get("Retry-After") == "" {
		t.Errorf("%d %v %s", got.status, got.header, got.body)
	}
}
