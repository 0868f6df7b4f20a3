package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/cache"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/interpret"
	"ushuru/pkg/sheet/scan"
	"ushuru/pkg/sheet/transcribe"
	"ushuru/tasks"
)

const auction = "https://auctions.aleado.com"

// endReading reads a sheet; of what was sent only JPEG is one.
func endReading(ctx context.Context, a *app, job *jobs.Job) error {
	var input tasks.ReportInput
	if err := json.Unmarshal(job.Input, &input); err != nil {
		return err
	}
	if input.Upload != "" {
		file, err := a.jobs.Attachment(ctx, job.ID)
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(file, []byte("\xff\xd8\xff")) {
			why := &jobs.Error{Notice: message.Notice{Code: scan.TypeUnsupported, Message: "No picture."}}
			return a.end(ctx, job.ID, jobs.End{State: jobs.Failed, Error: why})
		}
	}
	return a.end(ctx, job.ID, succeeded(readingJSON()))
}

// reportJSON is what a sheet says of which a model says that of testdata.
func reportJSON() json.RawMessage {
	said, err := os.ReadFile("testdata/sheet.json")
	if err != nil {
		panic(err)
	}
	var raw transcribe.Transcript
	if err := json.Unmarshal(said, &raw); err != nil {
		panic(err)
	}
	data, err := json.Marshal(interpret.Transcript(raw, interpret.Known{Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}))
	if err != nil {
		panic(err)
	}
	return data
}

func readingJSON() json.RawMessage {
	data, err := json.Marshal(sheet.Reading{Report: reportJSON()})
	if err != nil {
		panic(err)
	}
	return data
}

// form is the body of a form: names and contents; "file" is sent as a file.
func form(fields ...string) string {
	var body strings.Builder
	parts := multipart.NewWriter(&body)
	if err := parts.SetBoundary("b"); err != nil {
		panic(err)
	}
	for i := 0; i < len(fields); i += 2 {
		create := parts.CreateFormField
		if fields[i] == "file" {
			create = func(name string) (io.Writer, error) { return parts.CreateFormFile(name, "sheet.jpg") }
		}
		part, err := create(fields[i])
		if err != nil {
			panic(err)
		}
		if _, err := part.Write([]byte(fields[i+1])); err != nil {
			panic(err)
		}
	}
	if err := parts.Close(); err != nil {
		panic(err)
	}
	return body.String()
}

// asForm is the Content-Type of a form.
const asForm = "multipart/form-data; boundary=b"

func sendForm(name string, status int, has, body string) scenario {
	return scenario{
		name: name, method: http.MethodPost, url: "/v1/condition-report", body: body, status: status, has: []string{has},
		headers: map[string]string{"Content-Type": asForm},
	}
}

const jpeg = "\xff\xd8\xff picture"

var reportScenarios = []scenario{
	{
		name: "by its URL", url: "/v1/condition-report", body: `{"url":"` + auction + `/1.jpg","unknown":1}`, status: 200,
		has: []string{`"lang":"en"`, `"cached":false`, `"id":"` + tasks.ReportInput{URL: auction + "/1.jpg"}.ID() + `"`},
	},
	{
		name: "kept", url: "/v1/condition-report", body: `{"url":"` + auction + `/kept.jpg"}`,
		before: func(t *testing.T, a *app) string {
			return keepReadingOf(t, a, auction+"/kept.jpg")
		},
		status: 200, has: []string{`"cached":true`, `"lang":"en"`, `"summary":"## 1. At a glance`},
	},
	{
		name: "asynchronous", url: "/v1/condition-report", body: `{"url":"` + auction + `/2.jpg"}`, headers: prefer("respond-async"),
		status: 202, has: []string{`"kind":"report"`},
	},
	sendForm("a file", 200, `"lang":"en"`, form("file", jpeg)),
	sendForm("a file above 12 MB", 413, `"code":"sheet_too_large"`, form("file", jpeg+strings.Repeat("x", maxFile))),
	{
		name: "the map of a sheet", url: "/v1/condition-report/{id}/map.svg?lang=sw",
		before: keepReading, status: 200, has: []string{"<svg"}, hasNot: []string{"<script"},
		want: map[string]string{"Content-Type": "image/svg+xml; charset=utf-8", "X-Content-Type-Options": "nosniff"},
	},
}

// keepReading keeps what was read of a sheet and returns its id.
func keepReading(t *testing.T, a *app) string {
	t.Helper()
	return keepReadingOf(t, a, auction+"/map.jpg")
}

func keepReadingOf(t *testing.T, a *app, url string) string {
	t.Helper()
	id := tasks.ReportInput{URL: url}.ID()
	if err := a.cache.PutRaw(t.Context(), cache.ReadingKey(id), readingJSON(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	return id
}

// Two callers request one sheet in two languages: they share one job, and each
// reads its result in the own language.
func TestAReportInTwoLanguagesIsOneJob(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	locations := map[string]string{}
	for _, lang := range []string{"en", "sw"} {
		r := a.request(t, http.MethodPost, "/v1/condition-report", `{"url":"`+auction+`/two.jpg","lang":"`+lang+`"}`)
		r.Header.Set("Prefer", "respond-async")
		got := a.send(t, r)
		if locations[lang] = got.header.Get("Location"); got.status != http.StatusAccepted {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	id := strings.TrimPrefix(locations["en"], "/v1/jobs/")
	if locations["sw"] != locations["en"]+"?lang=sw" {
		t.Errorf("%v", locations)
	}
	if err := a.end(t.Context(), id, succeeded(readingJSON())); err != nil {
		t.Fatal(err)
	}
	for lang, heading := range map[string]string{"en": "At a glance", "sw": `"lang":"sw"`} {
		scenario{url: locations[lang], status: http.StatusOK, has: []string{
			`"kind":"report","state":"succeeded"`, `"result":{"summary":"## 1.`, heading, `"cached":false`,
			`"id":"` + tasks.ReportInput{URL: auction + "/two.jpg"}.ID() + `"`,
		}}.run(t, a)
	}
	scenario{url: locations["en"] + "?lang=fr", status: http.StatusBadRequest, has: []string{"lang_invalid"}}.run(t, a)
	scenario{url: locations["en"] + "/events?lang=sw", status: http.StatusOK, has: []string{"event: end", `"lang":"sw"`}}.run(t, a)
}
