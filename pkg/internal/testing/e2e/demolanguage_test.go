package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"ushuru/pkg/demo"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

// caller sends requests to the demo.
type demoCaller struct {
	*testing.T

	demo *demo.Demo
}

// send returns the body of an answer.
func (c *demoCaller) send(method, path string, body any, headers ...string) []byte {
	c.Helper()
	var content io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		must(c.T, err)
		content = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(c.Context(), method, c.demo.URL+path, content)
	must(c.T, err)
	request.Header.Set("X-Api-Key", c.demo.Key)
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	must(c.T, err)
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	must(c.T, err)
	return answer
}

type fields map[string]any

// started is a job or a batch.
type started struct {
	ID    string `json:"id"`
	State string `json:"state"`
}

// Every answer of the demo in Swahili: no English sentence is in it.
func TestSwahiliAnswersHaveNoEnglish(t *testing.T) {
	t.Parallel()
	conn := redistest.Embedded(t)
	service, err := demo.Start(t.Context(), demo.Options{Redis: conn, Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	t.Cleanup(service.Stop)
	c := &demoCaller{t, service}
	var pages []string
	for _, car := range listingtest.Cars() {
		pages = append(pages, service.Site+car.Path())
	}
	doubts := len(pages)
	for _, car := range listingtest.Doubts() {
		pages = append(pages, service.Site+car.Path())
	}
	check := func(name string, answer []byte) { swahiliOnly(t, name, answer) }

	for i, page := range pages {
		check(fmt.Sprint("estimate ", i), c.send(http.MethodPost, "/v1/estimate", fields{
			"url": page, "lang": "sw", "explain": true, "priceCandidates": true, "target": fields{"onTheRoadTZS": 30_000_000},
			"costs": fields{"freightUSD": 900, "daysInPort": 20, "comprehensive": true, "inspection": false}, "colour": "red",
		}))
		check(fmt.Sprint("estimate as it is ", i), c.send(http.MethodPost, "/v1/estimate?lang=sw", fields{"url": page}))
	}
	for i, quote := range []fields{
		{"make": "toyota", "model": "corolla axio", "modelCode": "NKE165", "year": 2016, "fobPriceUSD": 9000},
		{"make": "toyota", "model": "corolla axio", "modelCode": "NKE165", "year": 2012, "cfPriceUSD": 2000, "landing": "2027-01-20"},
		{"make": "nissan", "model": "note e-power", "modelCode": "E12", "year": 2017, "engine_cc": 1198, "fuel": "hybrid"},
		{"make": "trabant", "model": "p601", "year": 1988},
		{"make": "toyota"},
	} {
		quote["lang"] = "sw"
		check(fmt.Sprint("quote ", i), c.send(http.MethodPost, "/v1/quote", quote))
	}
	for i := range doubts - 1 {
		pair := fields{"url1": pages[i], "url2": pages[i+1], "lang": "sw"}
		check(fmt.Sprint("compare ", i), c.send(http.MethodPost, "/v1/compare", pair))
	}
	for i, car := range listingtest.Cars()[:2] {
		sheet := fields{"url": service.Site + car.Sheet(), "lang": "sw"}
		check(fmt.Sprint("report ", i), c.send(http.MethodPost, "/v1/condition-report", sheet))
	}
	c.checkJobs(check, pages)
	c.checkBatch(check, pages)
	for _, bad := range []struct {
		path string
		body fields
	}{
		{"/v1/estimate", fields{"url": service.Site + "/gone"}},
		{"/v1/estimate", fields{"url": service.Site + "/sold"}},
		{"/v1/estimate", fields{"url": service.Site + "/blocked"}},
		{"/v1/estimate", fields{"url": service.Site + "/"}},
		{"/v1/estimate", fields{"url": service.Site + "/redirect-private"}},
		{"/v1/estimate", fields{"url": "https://example.com/car"}},
		{"/v1/estimate", fields{"url": "no address"}},
		{"/v1/estimate", fields{}},
		{"/v1/estimate", fields{"url": pages[0], "known": fields{"year": 1200}}},
		{"/v1/estimate", fields{"url": pages[0], "landing": "yesterday"}},
		{"/v1/estimate", fields{"url": pages[0], "costs": fields{"freightUSD": -1}}},
		{"/v1/estimate", fields{"url": pages[0], "destination": "Zanzibar"}},
		{"/v1/compare", fields{"url1": pages[0], "url2": pages[0]}},
		{"/v1/compare", fields{"url1": pages[0], "url2": service.Site + "/gone"}},
		{"/v1/condition-report", fields{"url": service.Site + "/gone"}},
		{"/v1/batches", fields{"urls": []string{}}},
		{"/v1/batches", fields{"urls": []string{"no address", pages[0]}}},
	} {
		bad.body["lang"] = "sw"
		check(fmt.Sprint(bad), c.send(http.MethodPost, bad.path, bad.body))
	}
	for _, path := range []string{
		"/v1/tra-status", "/v1/sites", "/v1/vehicles?make=TOYOTA", "/v1/vehicles/TRABANT/years", "/v1/jobs/none",
		"/v1/batches/none", "/v1/nothing", "/v1/webhooks", "/v1/vehicles/COROLLA%20AXIO%20-%20NKE165%20-%20HYBRID%20-%20SEDAN/years",
	} {
		joined := "?"
		if strings.Contains(path, "?") {
			joined = "&"
		}
		check(path, c.send(http.MethodGet, path+joined+"lang=sw", nil))
	}
}

// checkJobs reads a job while it runs and when it has ended.
func (c *demoCaller) checkJobs(check func(string, []byte), pages []string) {
	c.Helper()
	for _, request := range []struct {
		path string
		body fields
	}{
		{"/v1/estimate", fields{"url": pages[1] + "?job=1"}},
		{"/v1/compare", fields{"url1": pages[2] + "?job=1", "url2": pages[3] + "?job=1"}},
		{"/v1/estimate", fields{"url": c.demo.Site + "/gone?job=1"}},
	} {
		var job started
		answer := c.send(http.MethodPost, request.path+"?lang=sw", request.body, "Prefer", "respond-async")
		must(c.T, json.Unmarshal(answer, &job))
		check("job of "+request.path, answer)
		testenv.Await(c.T, "the end of the job", func() (any, bool) {
			answer = c.send(http.MethodGet, "/v1/jobs/"+job.ID+"?lang=sw", nil)
			check("job of "+request.path, answer)
			must(c.T, json.Unmarshal(answer, &job))
			return job.State, job.State != "queued" && job.State != "running" && job.State != "waiting"
		})
	}
}

// checkBatch reads a batch, its rows and its results.
func (c *demoCaller) checkBatch(check func(string, []byte), pages []string) {
	c.Helper()
	var batch started
	asked := fields{"lang": "sw", "urls": append(pages, c.demo.Site+"/gone")}
	must(c.T, json.Unmarshal(c.send(http.MethodPost, "/v1/batches", asked), &batch))
	testenv.Await(c.T, "the end of the batch", func() (any, bool) {
		must(c.T, json.Unmarshal(c.send(http.MethodGet, "/v1/batches/"+batch.ID+"?lang=sw", nil), &batch))
		return batch.State, batch.State == "completed"
	})
	c.Log("batch ", batch.State)
	check("batch", c.send(http.MethodGet, "/v1/batches/"+batch.ID+"?lang=sw", nil))
	check("items", c.send(http.MethodGet, "/v1/batches/"+batch.ID+"/items?lang=sw", nil))
	for line := range bytes.SplitSeq(c.send(http.MethodGet, "/v1/batches/"+batch.ID+"/results?format=ndjson&lang=sw", nil), []byte("\n")) {
		if len(line) > 0 {
			check("results", line)
		}
	}
}

var (
	// stopWords are words of English that Swahili does not have.
	stopWords = regexp.MustCompile(`(?i)\b(the|of|and|is|are|was|were|this|that|these|from|with|for|not|which|its|has|have|or|by|be|an)\b`)
	// cited stands in parentheses or quotation marks: the word in use.
	cited = regexp.MustCompile(`\([^)]*\)|"[^"]*"|“[^”]*”|「[^」]*」`)
	// verbatim are fields whose words are not ours: what a page says, names and citations.
	verbatim = map[string]bool{
		"en": true, "car": true, "input": true, "url": true, "values": true, "source": true, "from": true, "to": true, "value": true,
		"modelBody": true, "tax": true, "report": true,
	}
)

// swahiliOnly checks an answer in Swahili.
func swahiliOnly(t *testing.T, name string, answer []byte) {
	t.Helper()
	var value any
	if err := json.Unmarshal(answer, &value); err != nil {
		t.Errorf("%s: %v: %.200s", name, err, answer)
		return
	}
	inSwahili(t, name, "", value)
}

func inSwahili(t *testing.T, path, field string, value any) {
	t.Helper()
	switch v := value.(type) {
	case []any:
		raised := 0
		for i, element := range v {
			inSwahili(t, fmt.Sprintf("%s[%d]", path, i), field, element)
			if w, ok := element.(map[string]any); ok && field == "warnings" && w["level"] != "info" {
				raised++
			}
		}
		if raised > 4 {
			t.Errorf("%s: %d warnings above info", path, raised)
		}
	case map[string]any:
		sentenceInSwahili(t, path, v)
		for name, element := range v {
			_, isName := element.(string)
			if isName = isName && name == "name"; !isName && !verbatim[name] {
				inSwahili(t, path+"."+name, name, element)
			}
		}
	case string:
		if found := stopWords.FindString(cited.ReplaceAllString(v, "")); found != "" {
			t.Errorf("%s: %q in %s", path, found, v)
		}
	}
}

// sentenceInSwahili checks that the sentence beside a text is the Swahili one, and
// that a warning is short.
func sentenceInSwahili(t *testing.T, path string, object map[string]any) {
	t.Helper()
	for sentence, text := range map[string]string{
		"message": "text", "error": "text", "reason": "text", "matchReason": "text", "why": "text", "basis": "basisText",
	} {
		said, isString := object[sentence].(string)
		both, has := object[text].(map[string]any)
		if isString && has && said != both["sw"] && object["verdict"] == nil && !regexp.MustCompile(`^[a-z_]+$`).MatchString(said) {
			t.Errorf("%s.%s: %q is not %q", path, sentence, said, both["sw"])
		}
	}
	level, isWarning := object["level"].(string)
	said, _ := object["message"].(string)
	if isWarning && level != "info" && (utf8.RuneCountInString(said) > 160 || strings.Contains(strings.TrimSuffix(said, "."), ". ")) {
		t.Errorf("%s: %d characters, or several sentences: %s", path, utf8.RuneCountInString(said), said)
	}
}
