package estimates

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"os"
	"strings"
	"testing"
	"time"

	"ushuru/api/apitest"
	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/interpret"
	"ushuru/pkg/sheet/transcribe"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

const sheetURL = "https://p3.aucneostation.com/sheet.jpg"

// reading is what the AI reads on the sheet of testdata.
func reading(t *testing.T) []byte {
	t.Helper()
	said, err := os.ReadFile("../testdata/sheet.json")
	var raw transcribe.Transcript
	if err == nil {
		err = json.Unmarshal(said, &raw)
	}
	if err != nil {
		t.Fatal(err)
	}
	report, err := json.Marshal(interpret.Transcript(raw, interpret.Known{Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(sheet.Reading{Report: report})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func keep(t *testing.T, p *apitest.Parts, key cache.Key, data []byte) {
	t.Helper()
	if err := p.Cache.PutRaw(t.Context(), key, data, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
}

// TestAReadingIsToldInTheLanguageOfTheRequest, without reading the sheet again.
func TestAReadingIsToldInTheLanguageOfTheRequest(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	input := tasks.ReportInput{URL: sheetURL}
	keep(t, p, cache.ReadingKey(input.ID()), reading(t))
	summaries := map[string]string{}
	for _, lang := range []string{"en", "sw"} {
		got := apitest.Send(t, s.PostReport, apitest.Ask{URL: "/v1/condition-report", Body: `{"url":"` + sheetURL + `","lang":"` + lang + `","colour":"red"}`})
		var report vehicle.ConditionReport
		got.Decode(t, &report)
		if !got.Has(200, `"cached":true`, `"field_ignored"`) || report.ID != input.ID() || report.Lang != lang || report.Summary == "" || report.Listing != "" {
			t.Errorf("%s: got %d %.500s", lang, got.Status, got.Body)
		}
		summaries[lang] = report.Summary
	}
	if summaries["en"] == summaries["sw"] {
		t.Error("the languages have one text")
	}
	if found, _, err := p.Jobs.List(t.Context(), "key", "", 10, ""); err != nil || len(found) != 0 {
		t.Errorf("%d jobs were submitted, %v", len(found), err)
	}
}

// TestASheetIsComparedWithItsListing, when the caller has named that.
func TestASheetIsComparedWithItsListing(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	input := tasks.ReportInput{URL: sheetURL}
	keep(t, p, cache.ReadingKey(input.ID()), reading(t))
	estimate, err := os.ReadFile("../testdata/estimate.json")
	if err != nil {
		t.Fatal(err)
	}
	listing := tasks.EstimateInput{URL: "https://cars.example/1"}
	keep(t, p, listing.Key(), estimate)
	if err := p.Cache.PutOften(t.Context(), cache.ListingKey(input.ID(), "key"), []byte(listing.Key()), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	ask := apitest.Ask{URL: "/v1/condition-report", Body: `{"url":"` + sheetURL + `"}`}
	if got := apitest.Send(t, s.PostReport, ask); !got.Has(200, `"listing":"`, `"mismatches":[{"field":"`) {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	ask.Key = "other"
	if got := apitest.Send(t, s.PostReport, ask); got.Status != 200 || strings.Contains(got.Body, "mismatches") {
		t.Errorf("another key: got %d %s", got.Status, got.Body)
	}
}

// form is a form with fields; file is that of a picture.
func form(t *testing.T, fields ...[2]string) (contentType, body string) {
	t.Helper()
	var data bytes.Buffer
	w := multipart.NewWriter(&data)
	for _, field := range fields {
		if err := w.WriteField(field[0], field[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), data.String()
}

func TestASheetIsSentInAForm(t *testing.T) { //nolint:tparallel // its cases follow one another
	t.Parallel()
	s, p := newResource(t)
	file := "\xff\xd8\xff" + strings.Repeat("x", 1000)
	for name, c := range map[string]struct {
		fields [][2]string
		status int
		want   string
	}{
		"a picture":                 {[][2]string{{"file", file}}, 202, `"kind":"report"`},
		"with a language before it": {[][2]string{{"lang", "sw"}, {"file", file + "2"}}, 202, `"location":"/v1/jobs/`},
		"with another part":         {[][2]string{{"note", "x"}, {"file", file + "3"}}, 202, `"kind":"report"`},
		"no file":                   {[][2]string{{"lang", "sw"}}, 400, `"code":"form_invalid"`},
		"an empty file":             {[][2]string{{"file", ""}}, 400, `"code":"file_empty"`},
		"two files":                 {[][2]string{{"file", file}, {"file", file}}, 400, `"code":"form_invalid"`},
		"another language":          {[][2]string{{"file", file}, {"lang", "fr"}}, 400, `"code":"lang_invalid"`},
		"a file too large":          {[][2]string{{"file", strings.Repeat("x", maxFile+1)}}, 413, `"code":"sheet_too_large"`},
		"a form too large":          {[][2]string{{"note", strings.Repeat("x", maxFile+formAllowance)}, {"file", file}}, 413, `"code":"sheet_too_large"`},
	} {
		t.Run(name, func(t *testing.T) {
			contentType, body := form(t, c.fields...)
			ask := apitest.Ask{URL: "/v1/condition-report", Body: body, Headers: map[string]string{"Content-Type": contentType, "Prefer": "respond-async"}}
			if got := apitest.Send(t, s.PostReport, ask); !got.Has(c.status, c.want) {
				t.Errorf("got %d %.300s, want %d %s", got.Status, got.Body, c.status, c.want)
			}
		})
	}
	broken := apitest.Ask{URL: "/v1/condition-report", Body: "x", Headers: map[string]string{"Content-Type": "multipart/form-data"}}
	if got := apitest.Send(t, s.PostReport, broken); !got.Has(400, `"code":"form_invalid"`) {
		t.Errorf("a form without a boundary: got %d %s", got.Status, got.Body)
	}
	found, _, err := p.Jobs.List(t.Context(), "key", "", 10, "")
	if err != nil || len(found) != 3 {
		t.Fatalf("%d jobs were submitted, %v", len(found), err)
	}
	kept, err := p.Jobs.Attachment(t.Context(), found[2].ID)
	if err != nil || !bytes.HasPrefix(kept, []byte("\xff\xd8\xff")) {
		t.Errorf("the worker gets %d bytes, %v", len(kept), err)
	}
}

func TestSheetsThatAreRefused(t *testing.T) {
	t.Parallel()
	s, _ := newResource(t)
	for body, code := range map[string]string{
		`{}`: "url_missing", `{"url":" "}`: "url_missing", `{"url":5}`: "url_missing", `[]`: "url_missing", `{`: "invalid_json",
		`{"url":"https://cars.example/sheet.jpg"}`: "sheet_host_unsupported", `{"url":"ftp://p3.aucneostation.com/"}`: "url_forbidden",
		`{"url":"` + sheetURL + `","lang":"fr"}`: "lang_invalid",
	} {
		if got := apitest.Send(t, s.PostReport, apitest.Ask{URL: "/v1/condition-report", Body: body}); !got.Has(400, `"code":"`+code+`"`) {
			t.Errorf("%s: got %d %s, want %s", body, got.Status, got.Body, code)
		}
	}
}

// TestASheetThatIsNoneStaysRefused: another try is not worth a job.
func TestASheetThatIsNoneStaysRefused(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	ask := apitest.Ask{URL: "/v1/condition-report", Body: `{"url":"` + sheetURL + `"}`, Headers: map[string]string{"Prefer": "respond-async"}}
	accepted := apitest.Send(t, s.PostReport, ask)
	var job struct{ ID string }
	accepted.Decode(t, &job)
	p.Fail(t, job.ID, &jobs.Error{Notice: message.New("error/sheet_blank", nil), Permanent: true})
	read := apitest.Ask{URL: "/v1/jobs/" + job.ID, Vars: map[string]string{"id": job.ID}}
	if got := apitest.Send(t, s.GetJob, read); !got.Has(200, `"state":"failed"`, `"code":"sheet_blank"`) {
		t.Errorf("the job: got %d %s", got.Status, got.Body)
	}
	if got := apitest.Send(t, s.PostReport, ask); !got.Has(400, `"code":"sheet_blank"`) && got.Status != 202 {
		t.Errorf("again: got %d %s", got.Status, got.Body)
	}
}

func TestTheDamageMapOfASheet(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	id := tasks.ReportInput{URL: sheetURL}.ID()
	ask := apitest.Ask{URL: "/v1/condition-report/" + id + "/map.svg", Vars: map[string]string{"id": id}}
	if got := apitest.Send(t, s.GetDamageMap, ask); !got.Has(404, `"code":"report_not_found"`) {
		t.Errorf("before it is read: got %d %s", got.Status, got.Body)
	}
	keep(t, p, cache.ReadingKey(id), reading(t))
	got := apitest.Send(t, s.GetDamageMap, ask)
	if !got.Has(200, "<svg") || got.Header.Get("Content-Type") != "image/svg+xml; charset=utf-8" || !strings.Contains(got.Header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("got %d %v %.200s", got.Status, got.Header, got.Body)
	}
	ask.URL += "?lang=sw"
	if other := apitest.Send(t, s.GetDamageMap, ask); other.Body == got.Body {
		t.Error("the languages have one drawing")
	}
}
