package batches

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"ushuru/api/apitest"
	"ushuru/api/await"
	"ushuru/pkg/batch"
	"ushuru/pkg/cost"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/pace"
	"ushuru/pkg/vehicle"
)

// newResource returns the Resource of an API process.
func newResource(t *testing.T) (*Resource, *apitest.Parts) {
	t.Helper()
	p := apitest.New(t, pace.Limits{})
	return &Resource{
		Batches: p.Batches, Webhooks: p.Webhooks, Tasks: p.Tasks, Hub: p.Hub, Costs: cost.Embedded(), Outages: p.Outages,
		Limits: p.Limits, Work: p.Work, Streams: p.Streams, Log: slog.New(slog.DiscardHandler),
	}, p
}

// create creates a batch of listings, and returns its id.
func create(t *testing.T, s *Resource, body string) string {
	t.Helper()
	got := apitest.Send(t, s.Post, apitest.Ask{URL: "/v1/batches", Body: body})
	var made struct {
		ID string `json:"id"`
	}
	if got.Decode(t, &made); got.Status != http.StatusCreated || got.Header.Get("Location") != "/v1/batches/"+made.ID {
		t.Fatalf("got %d %v %s", got.Status, got.Header, got.Body)
	}
	return made.ID
}

// of names a batch in the path.
func of(id string) map[string]string { return map[string]string{"id": id} }

const three = `{"items":[{"reference":"a","url":"https://cars.example/1","lot":"7"},{"url":"https://cars.example/2"},{"url":"https://cars.example/1"}],
	"options":{"rate":2700,"target":{"onTheRoadTZS":40000000}}}`

// finish ends the first row with an estimate and the second with an error.
func finish(t *testing.T, p *apitest.Parts, id string) {
	t.Helper()
	estimate, err := os.ReadFile("../testdata/estimate.json")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := p.Batches.ClaimRows(t.Context(), id, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if strings.HasSuffix(row.URL, "/2") {
			_, err = p.Batches.Fail(t.Context(), id, row.Index, &jobs.Error{Notice: message.New("error/not_a_listing", nil)})
		} else {
			_, err = p.Batches.Succeed(t.Context(), id, row.Index, estimate)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestABatchIsCreatedReadCancelledAndRetried(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	id := create(t, s, three)
	one := apitest.Ask{URL: "/v1/batches/" + id, Vars: of(id)}
	if got := apitest.Send(t, s.Get, one); !got.Has(200, `"state":"running"`, `"waiting":3`, `"repeated":1`, `"options":{"rate":2700,"target":{"onTheRoadTZS":40000000}}`) {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	other := one
	other.Key = "other"
	for _, handler := range []func(http.ResponseWriter, *http.Request) error{s.Get, s.Cancel, s.ListItems, s.GetResults, s.Events, s.Retry} {
		if got := apitest.Send(t, handler, other); !got.Has(404, `"code":"batch_not_found"`) {
			t.Errorf("of another key: got %d %s", got.Status, got.Body)
		}
	}
	if got := apitest.Send(t, s.Retry, apitest.Ask{Method: "POST", URL: one.URL + "/retry", Vars: of(id)}); !got.Has(409, `"code":"none_failed"`) {
		t.Errorf("nothing failed: got %d %s", got.Status, got.Body)
	}
	finish(t, p, id)
	if got := apitest.Send(t, s.Get, one); !got.Has(200, `"state":"completed"`, `"succeeded":2`, `"failed":1`, `"expires":`) {
		t.Errorf("at the end: got %d %s", got.Status, got.Body)
	}
	if got := apitest.Send(t, s.Retry, apitest.Ask{Method: "POST", URL: one.URL + "/retry", Vars: of(id)}); !got.Has(200, `"state":"running"`, `"waiting":1`) {
		t.Errorf("retried: got %d %s", got.Status, got.Body)
	}
	if got := apitest.Send(t, s.Cancel, apitest.Ask{Method: "DELETE", URL: one.URL, Vars: of(id)}); !got.Has(200, `"state":"cancelled"`, `"cancelled":1`) {
		t.Errorf("cancelled: got %d %s", got.Status, got.Body)
	}
	events := apitest.Send(t, s.Events, apitest.Ask{URL: one.URL + "/events", Vars: of(id)})
	if !events.Has(200, "event: end\n", `"state":"cancelled"`) || events.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("events: got %d %v %s", events.Status, events.Header, events.Body)
	}
}

// TestUnderOneIdempotencyKeyABatchIsCreatedOnce.
func TestUnderOneIdempotencyKeyABatchIsCreatedOnce(t *testing.T) {
	t.Parallel()
	s, _ := newResource(t)
	headers := map[string]string{"Idempotency-Key": "one"}
	ask := apitest.Ask{URL: "/v1/batches", Body: `{"urls":["https://cars.example/1"],"webhook":"https://receiver.example/"}`, Headers: headers}
	post := await.WithIdempotencyKey(s.Post)
	first, again := apitest.Send(t, post, ask), apitest.Send(t, post, ask)
	if first.Status != 201 || again.Body != first.Body || again.Header.Get("Idempotency-Replayed") != "true" || !strings.Contains(first.Body, `"secret":"whsec_`) {
		t.Errorf("got %d %s, then %d %s", first.Status, first.Body, again.Status, again.Body)
	}
	ask.Body = `{"urls":["https://cars.example/2"]}`
	if got := apitest.Send(t, post, ask); !got.Has(422, `"code":"idempotency_key_reused"`) {
		t.Errorf("another batch: got %d %s", got.Status, got.Body)
	}
}

func TestBatchesOfAKeyAreListed(t *testing.T) {
	t.Parallel()
	s, _ := newResource(t)
	var made []string
	for range 4 { // the last page is full, and no empty one follows
		made = append(made, create(t, s, `{"urls":["https://cars.example/1"]}`))
	}
	var page struct {
		Batches []struct {
			ID string `json:"id"`
		} `json:"batches"`
		Next string `json:"next"`
	}
	var listed []string
	for cursor := ""; ; cursor = page.Next {
		page.Next, page.Batches = "", nil
		apitest.Send(t, s.List, apitest.Ask{URL: "/v1/batches?limit=2&cursor=" + cursor}).Decode(t, &page)
		if len(page.Batches) != 2 {
			t.Errorf("got a page of %d batches, want 2", len(page.Batches))
		}
		for _, b := range page.Batches {
			listed = append(listed, b.ID)
		}
		if page.Next == "" {
			break
		}
	}
	slices.Reverse(made)
	if !slices.Equal(listed, made) {
		t.Errorf("got %q, want %q", listed, made)
	}
	for query, code := range map[string]string{"?cursor=!": "page_invalid", "?limit=x": "page_invalid"} {
		if got := apitest.Send(t, s.List, apitest.Ask{URL: "/v1/batches" + query}); !got.Has(400, code) {
			t.Errorf("%s: got %d %s, want %s", query, got.Status, got.Body, code)
		}
	}
}

func TestRowsAreReadInPages(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	id := create(t, s, three)
	finish(t, p, id)
	for query, want := range map[string][]string{
		"":                      {`{"row":1,"reference":"a","url":"https://cars.example/1","state":"succeeded","columns":{"lot":"7"}}`, `"row":2`, `"row":3`, `"sameAs":1`},
		"?limit=1":              {`"row":1`, `"next":"1"`},
		"?limit=1&cursor=2":     {`"row":3`},
		"?state=failed":         {`"row":2`, `"code":"not_a_listing"`},
		"?state=failed&lang=sw": {`"error":{"error":"Ukurasa huu`, `"code":"not_a_listing"`},
		"?state=waiting":        {`{"items":[]}`},
	} {
		if got := apitest.Send(t, s.ListItems, apitest.Ask{URL: "/v1/batches/" + id + "/items" + query, Vars: of(id)}); !got.Has(200, want...) {
			t.Errorf("%s: got %d %s, want %q", query, got.Status, got.Body, want)
		}
	}
	for query, code := range map[string]string{"?limit=0": "page_invalid", "?cursor=x": "page_invalid", "?state=x": "state_unknown"} {
		if got := apitest.Send(t, s.ListItems, apitest.Ask{URL: "/v1/batches/" + id + "/items" + query, Vars: of(id)}); !got.Has(400, code) {
			t.Errorf("%s: got %d %s, want %s", query, got.Status, got.Body, code)
		}
	}
}

// TestResultsInEveryFormat: the same rows as JSON, lines, CSV and a workbook.
func TestResultsInEveryFormat(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	id := create(t, s, three)
	finish(t, p, id)
	send := func(query, accept string) apitest.Answer {
		return apitest.Send(t, s.GetResults, apitest.Ask{URL: "/v1/batches/" + id + "/results" + query, Vars: of(id), Headers: map[string]string{"Accept": accept}})
	}
	var whole struct {
		Batch   struct{ ID string } `json:"batch"`
		Results []struct {
			Row      int               `json:"row"`
			Estimate *vehicle.Estimate `json:"estimate"`
		} `json:"results"`
		Next string `json:"next"`
	}
	got := send("", "")
	got.Decode(t, &whole)
	if whole.Batch.ID != id || len(whole.Results) != 3 || whole.Results[0].Estimate == nil || whole.Results[1].Estimate != nil || whole.Next != "" {
		t.Fatalf("got %.500s", got.Body)
	}
	if priced := whole.Results[0].Estimate; priced.MaxPrice == nil || priced.DriveAway == nil {
		t.Errorf("the rows are not on the terms of the batch: %.300s", got.Body)
	}
	lines := send("?format=ndjson", "")
	if n := strings.Count(strings.TrimSpace(lines.Body), "\n"); n != 2 || lines.Header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("got %d line breaks as %s", n, lines.Header.Get("Content-Type"))
	}
	table := send("?bom=true", "text/csv, */*;q=0.1")
	if !strings.HasPrefix(table.Body, "\ufeff") || strings.Count(table.Body, "cars.example") != 3 || table.Header.Get("Content-Type") != "text/csv; charset=utf-8" ||
		table.Header.Get("Content-Disposition") != `attachment; filename="batch-`+id+`.csv"` {
		t.Errorf("got %v %.200s", table.Header, table.Body)
	}
	if plain := send("?format=csv", ""); strings.HasPrefix(plain.Body, "\ufeff") {
		t.Error("CSV begins with a mark that nobody asked for")
	}
	if workbook := send("?format=xlsx", ""); !strings.HasPrefix(workbook.Body, "PK") {
		t.Errorf("a workbook is %.20q", workbook.Body)
	}
	if part := send("?limit=1", ""); !part.Has(200, `"row":1`, `"next":"1"`) || part.Header.Get("Link") != `</v1/batches/`+id+`/results?cursor=1&limit=1>; rel="next"` {
		t.Errorf("a part: got %v %.300s", part.Header, part.Body)
	}
	if head := apitest.Send(t, s.GetResults, apitest.Ask{Method: "HEAD", URL: "/v1/batches/" + id + "/results", Vars: of(id)}); head.Status != 200 || head.Body != "" {
		t.Errorf("HEAD: got %d %.50s", head.Status, head.Body)
	}
	for query, code := range map[string]string{
		"?format=pdf": "format_unknown", "?sort=colour": "sort_unknown", "?sort=margin&state=failed": "sort_unknown", "?limit=0": "page_invalid",
		"?cursor=x": "page_invalid", "?state=x": "state_unknown", "?since=yesterday": "since_invalid", "?bom=yes": "field_invalid",
	} {
		if got := send(query, ""); !got.Has(400, `"code":"`+code+`"`) {
			t.Errorf("%s: got %d %s, want %s", query, got.Status, got.Body, code)
		}
	}
}

// TestResultsThatTheCallerHasAreNotSentAgain, but in another language or format.
func TestResultsThatTheCallerHasAreNotSentAgain(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	id := create(t, s, three)
	send := func(query, known string) apitest.Answer {
		return apitest.Send(t, s.GetResults, apitest.Ask{URL: "/v1/batches/" + id + "/results" + query, Vars: of(id), Headers: map[string]string{"If-None-Match": known}})
	}
	if got := send("", ""); got.Header.Get("ETag") != "" {
		t.Errorf("a batch that runs has the tag %s", got.Header.Get("ETag"))
	}
	finish(t, p, id)
	tag := send("", "").Header.Get("ETag")
	for _, c := range []struct {
		query, known string
		want         int
	}{
		{"", tag, 304},
		{"", `"other", ` + strings.TrimPrefix(tag, "W/"), 304},
		{"", "*", 304},
		{"", `"other"`, 200},
		{"?lang=sw", tag, 200},
		{"?format=csv", tag, 200},
		{"?sort=colour", "*", 400},
		{"?fields=colour", "*", 400},
		{"?bom=1", "*", 400},
		{"?limit=0", "*", 400},
		{"?since=x", "*", 400},
	} {
		if got := send(c.query, c.known); got.Status != c.want || c.want == 400 && got.Header.Get("ETag") != "" {
			t.Errorf("%s with %s: got %d, want %d", c.query, c.known, got.Status, c.want)
		}
	}
}

// TestResultsAreSorted by what a buyer compares; rows without the figure come last.
func TestResultsAreSorted(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	id := create(t, s, `{"urls":["https://cars.example/2","https://cars.example/dear","https://cars.example/cheap"],"options":{"target":{"onTheRoadTZS":60000000}}}`)
	estimate, err := os.ReadFile("../testdata/estimate.json")
	if err != nil {
		t.Fatal(err)
	}
	var car vehicle.Estimate
	if err := json.Unmarshal(estimate, &car); err != nil {
		t.Fatal(err)
	}
	price := money.NewNumber(decimal.NewFromInt(9000))
	car.Car.FOBPriceUSD = &price
	dear, err := json.Marshal(car)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := p.Batches.ClaimRows(t.Context(), id, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		priced := estimate
		switch {
		case strings.HasSuffix(row.URL, "/2"):
			_, err = p.Batches.Fail(t.Context(), id, row.Index, &jobs.Error{Notice: message.New("error/not_a_listing", nil)})
		case strings.HasSuffix(row.URL, "/dear"):
			priced = dear
			fallthrough
		default:
			_, err = p.Batches.Succeed(t.Context(), id, row.Index, priced)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	order := func(query string) string {
		var page struct {
			Results []struct {
				URL string `json:"url"`
			} `json:"results"`
		}
		apitest.Send(t, s.GetResults, apitest.Ask{URL: "/v1/batches/" + id + "/results" + query, Vars: of(id)}).Decode(t, &page)
		var names []string
		for _, row := range page.Results {
			names = append(names, strings.TrimPrefix(row.URL, "https://cars.example/"))
		}
		return strings.Join(names, " ")
	}
	for query, want := range map[string]string{"": "2 dear cheap", "?sort=onTheRoad": "cheap dear 2", "?sort=margin": "cheap dear 2", "?sort=onTheRoad&limit=1": "cheap", "?sort=onTheRoad&limit=1&cursor=1": "dear"} {
		if got := order(query); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
}

func TestADryRunStoresNothing(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	for body, want := range map[string][]string{
		three: {`{"dryRun":true,"rows":3,"valid":3,"repeated":1,"rejected":0,`, `"first":[{"row":1,"reference":"a","url":"https://cars.example/1","columns":{"lot":"7"}}`},
		`{"items":[{"make":"TOYOTA","model":"IST","year":2005,"startPriceJPY":100000}]}`: {`"missing":["jpyPerUSD"]`, `"car":{"make":"TOYOTA","model":"IST","year":2005}`},
		`{"urls":["x","https://cars.example/1"]}`:                                        {`"valid":1`, `"rejected":1`, `"problems":[{"row":1,"url":"x","code":"url_invalid"`},
	} {
		if got := apitest.Send(t, s.Post, apitest.Ask{URL: "/v1/batches?dryRun=true", Body: body}); !got.Has(200, want...) {
			t.Errorf("%s: got %d %s, want %q", body, got.Status, got.Body, want)
		}
	}
	if found, err := p.Batches.List(t.Context(), "key", "", 10); err != nil || len(found) != 0 {
		t.Errorf("%d batches are stored, %v", len(found), err)
	}
	if got := apitest.Send(t, s.Post, apitest.Ask{URL: "/v1/batches?dryRun=banana", Body: three}); !got.Has(400, `"param":"dryRun"`) {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
}

func TestBatchesThatAreRefused(t *testing.T) {
	t.Parallel()
	s, _ := newResource(t)
	for _, c := range []struct{ query, body, code string }{
		{"", `{}`, "rows_missing"},
		{"", `{"lang":"fr","urls":["https://cars.example/1"]}`, "lang_invalid"},
		{"?strict=true", `{"urls":["https://cars.example/1"],"colour":"red"}`, "field_unknown"},
		{"", `{"urls":["https://cars.example/1"],"webhook":"http://receiver.example/"}`, "url_insecure"},
		{"", `{"urls":["http://127.0.0.1/"]}`, "rows_invalid"},
	} {
		if got := apitest.Send(t, s.Post, apitest.Ask{URL: "/v1/batches" + c.query, Body: c.body}); !got.Has(400, `"code":"`+c.code+`"`) {
			t.Errorf("%s: got %d %s, want %s", c.body, got.Status, got.Body, c.code)
		}
	}
}

func TestOwnColumnsHaveTheirNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names, cells []string
		want         string
	}{
		{nil, nil, "null"},
		{[]string{"a"}, []string{""}, "null"},
		{[]string{"a", "b"}, []string{"1"}, `{"a":"1"}`},
		{[]string{"a"}, []string{"1", "2"}, `{"a":"1"}`},
		{[]string{"a", "b"}, []string{"", "2"}, `{"b":"2"}`},
	} {
		got, err := json.Marshal(ownColumns(c.names, c.cells))
		if err != nil || string(got) != c.want {
			t.Errorf("%q: got %s, %v, want %s", c.cells, got, err, c.want)
		}
	}
}

// TestPagesOfResultsAreReadInPieces, and the part after them begins where they end.
func TestPagesOfResultsAreReadInPieces(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	rows := make([]batch.Row, 450)
	for i := range rows {
		rows[i] = batch.Row{Number: i + 1, URL: fmt.Sprintf("https://cars.example/%d", i)}
	}
	b, err := p.Batches.Create(t.Context(), batch.New{Owner: "key", Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		part  resultPart
		by    string
		pages []int
		more  int
	}{
		{resultPart{}, "", []int{200, 200, 50}, -1},
		{resultPart{limit: 50}, "", []int{50}, 50},
		{resultPart{from: 10, limit: 250}, "", []int{200, 50}, 260},
		{resultPart{from: 440, limit: 250, state: batch.Waiting}, "", []int{10}, -1},
		{resultPart{state: batch.Failed}, "", []int{0}, -1},
		{resultPart{from: 1000}, "", []int{0}, -1},
		{resultPart{from: 10, limit: 250}, "onTheRoad", []int{200, 50}, 260},
		{resultPart{from: 440, limit: 250}, "onTheRoad", []int{10}, 0},
	} {
		read, err := s.openResults(t.Context(), b, c.by, c.part)
		if err != nil {
			t.Fatal(err)
		}
		var pages []int
		for first := c.part.from + 1; ; first += pages[len(pages)-1] {
			pages = append(pages, len(read.items))
			if len(read.items) > 0 && read.items[0].Number != first {
				t.Errorf("%+v: page %d begins with row %d, want %d", c.part, len(pages), read.items[0].Number, first)
			}
			if read.last() {
				break
			}
			if err := read.read(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(pages, c.pages) || read.more != c.more {
			t.Errorf("%+v sorted by %q: got pages %d and more from %d, want %d from %d", c.part, c.by, pages, read.more, c.pages, c.more)
		}
	}
}

// The report of a batch names the cars of rows that failed: as they were read, or described.
func TestReportNamesCarsOfRowsThatFailed(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	store := p.Batches
	b, err := store.Create(t.Context(), batch.New{Owner: "key", Rows: []batch.Row{
		{Number: 1, URL: "https://cars.example/1"}, {Number: 2, Car: json.RawMessage(`{"make":"MAZDA","model":"DEMIO","year":2012}`)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.ClaimRows(t.Context(), b.ID, 2); err != nil {
		t.Fatal(err)
	}
	read := &jobs.Error{Notice: message.New("error/no_match", nil), Permanent: true}
	read.Details = json.RawMessage(`{"car":{"make":"TOYOTA","model":"VITZ","year":2014},"candidates":[]}`)
	for row, why := range []*jobs.Error{read, {Notice: message.New("error/not_a_listing", nil)}} {
		if _, err := store.Fail(t.Context(), b.ID, row, why); err != nil {
			t.Fatal(err)
		}
	}
	got := apitest.Send(t, s.GetResults, apitest.Ask{URL: "/v1/batches/" + b.ID + "/results?format=csv", Vars: of(b.ID)})
	for _, want := range []string{",TOYOTA,VITZ,", ",MAZDA,DEMIO,"} {
		if !strings.Contains(got.Body, want) {
			t.Errorf("no %s\n%s", want, got.Body)
		}
	}
}

// TestTheOnlyEstimateIsFirst of rows that are sorted by a cost, wherever it stands.
func TestTheOnlyEstimateIsFirst(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	rows := []batch.Row{{Number: 1, URL: "https://cars.example/a/2"}, {Number: 2, URL: "https://cars.example/b/2"}, {Number: 3, URL: "https://cars.example/1"}}
	b, err := p.Batches.Create(t.Context(), batch.New{Owner: "key", Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	finish(t, p, b.ID)
	read, err := s.openResults(t.Context(), b, "onTheRoad", resultPart{})
	if err != nil {
		t.Fatal(err)
	}
	var numbers []int
	for _, item := range read.items {
		numbers = append(numbers, item.Number)
	}
	if want := []int{3, 1, 2}; !slices.Equal(numbers, want) {
		t.Errorf("got the rows %v, want %v", numbers, want)
	}
}
