package api_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/redisx/redistest"
)

// batchOf creates a batch of the tests' key. Each letter is a row: it succeeded,
// failed, runs, duplicates the first one, or waits.
func batchOf(letters string) func(*testing.T, *app) string {
	return func(t *testing.T, a *app) string {
		t.Helper()
		store := batch.NewStore(a.conn.Client())
		rows := make([]batch.Row, len(letters))
		for i := range rows {
			rows[i] = batch.Row{Number: i + 1, Reference: fmt.Sprint("LOT ", i+1), URL: fmt.Sprint(site, "/batch/", i)}
			switch letters[i] {
			case '=':
				rows[i].URL = rows[0].URL
			case 'x':
				rows[i].RejectReason = &jobs.Error{Notice: message.Notice{Code: "url_invalid", Message: "No address."}}
			}
		}
		b, err := store.Create(t.Context(), batch.New{Owner: a.keyID, Rows: rows, Options: batch.Options{Rate: "2700.5"}})
		if err != nil {
			t.Fatal(err)
		}
		taken, err := store.ClaimRows(t.Context(), b.ID, strings.Count(letters, "s")+strings.Count(letters, "f")+strings.Count(letters, "r"))
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range taken {
			switch letters[row.Index] {
			case 's':
				_, err = store.Succeed(t.Context(), b.ID, row.Index, estimateOf(row.URL))
			case 'f':
				_, err = store.Fail(t.Context(), b.ID, row.Index, failures[noMatch])
			case 'r':
				err = store.SetRowJobs(t.Context(), b.ID, map[int]string{row.Index: "01JOB"})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return b.ID
	}
}

// ofAnother is a batch of another key.
func ofAnother(t *testing.T, a *app) string {
	t.Helper()
	b, err := batch.NewStore(a.conn.Client()).Create(t.Context(), batch.New{
		Owner: "another", Rows: []batch.Row{{Number: 1, URL: site + "/1"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.ID
}

const none = `{"error":"No such batch, or it ended more than 7 days ago.","code":"batch_not_found",` +
	`"text":{"en":"No such batch, or it ended more than 7 days ago.",` +
	`"sw":"Hakuna kundi kama hilo, au liliisha zaidi ya siku 7 zilizopita.","draft":true},"retryable":false}`

var batchScenarios = []scenario{
	{
		name: "as it stands", url: "/v1/batches/{id}", before: batchOf("sfr=xw"), status: 200,
		has: []string{
			`{"id":"{id}","state":"running","rows":6,"repeated":1,`,
			`"counts":{"cancelled":0,"failed":1,"rejected":1,"running":1,"succeeded":2,"waiting":1},"options":{"rate":2700.5}`,
			`"perSecond":`, `"secondsLeft":`,
		},
		hasNot: []string{`"ended"`, `"expires"`},
	},
	{
		name: "that has ended", url: "/v1/batches/{id}", before: batchOf("sf"), status: 200,
		has: []string{`"state":"completed"`, `"ended":"20`, `"expires":"20`}, hasNot: []string{"secondsLeft"},
	},
	{name: "unknown", url: "/v1/batches/nothing", status: 404, exact: none},
	{name: "of another", url: "/v1/batches/{id}", before: ofAnother, status: 404, exact: none},
	{name: "items of another", url: "/v1/batches/{id}/items", before: ofAnother, status: 404, exact: none},
	{name: "results of another", url: "/v1/batches/{id}/results", before: ofAnother, status: 404, exact: none},
	{name: "events of another", url: "/v1/batches/{id}/events", before: ofAnother, status: 404, exact: none},
	{name: "events of none", url: "/v1/batches/nothing/events", status: 404, exact: none},
	{name: "events of what has ended", url: "/v1/batches/{id}/events", before: batchOf("sf"), status: 200, has: []string{"event: end\ndata: {"}},
	{name: "cancelling another's", method: http.MethodDelete, url: "/v1/batches/{id}", before: ofAnother, status: 404, exact: none},
	{name: "trying another's again", method: http.MethodPost, url: "/v1/batches/{id}/retry", before: ofAnother, status: 404, exact: none},
	{name: "without a key", url: "/v1/batches", keyless: true, status: 401},
	{
		name: "cancelling", method: http.MethodDelete, url: "/v1/batches/{id}", before: batchOf("sfrww"), status: 200,
		has: []string{`"state":"cancelling"`, `"cancelled":2,`, `"running":1,`, `"succeeded":1,`, `"cancelled":"20`},
	},
	{
		name: "cancelling what waits", method: http.MethodDelete, url: "/v1/batches/{id}", before: batchOf("ww"), status: 200,
		has: []string{`"state":"cancelled"`, `"cancelled":2,`, `"ended":"20`},
	},
	{
		name: "trying again", method: http.MethodPost, url: "/v1/batches/{id}/retry", before: batchOf("sffr"), status: 200,
		has: []string{`"state":"running"`, `"failed":0,`, `"waiting":2}`},
	},
	{
		name: "nothing to try again", method: http.MethodPost, url: "/v1/batches/{id}/retry", before: batchOf("sr"), status: 409,
		has: []string{`"code":"none_failed"`},
	},
	{
		name: "items", url: "/v1/batches/{id}/items", before: batchOf("sfr=x"), status: 200,
		exact: `{"items":[{"row":1,"reference":"LOT 1","url":"https://cars.example/batch/0","state":"succeeded"},` +
			`{"row":2,"reference":"LOT 2","url":"https://cars.example/batch/1","state":"failed","error":{"error":"No TRA entry fits this car.",` +
			`"code":"no_match","candidates":[{"make":"TOYOTA","modelBody":"COROLLA FIELDER - NKE165 - STATION WAGON"}],"retryable":false}},` +
			`{"row":3,"reference":"LOT 3","url":"https://cars.example/batch/2","state":"running","job":"01JOB"},` +
			`{"row":4,"reference":"LOT 4","url":"https://cars.example/batch/0","state":"succeeded","sameAs":1},` +
			`{"row":5,"reference":"LOT 5","url":"https://cars.example/batch/4","state":"rejected","error":{"error":"No address.","code":"url_invalid","retryable":false}}]}`,
	},
	{
		name: "items of a state", url: "/v1/batches/{id}/items?state=failed", before: batchOf("sfrf"), status: 200,
		has: []string{`"row":2`, `"row":4`}, hasNot: []string{`"row":1`, `"row":3`, `"next"`},
	},
	{
		name: "a page of items", url: "/v1/batches/{id}/items?limit=2&cursor=1", before: batchOf("wwwww"), status: 200,
		has: []string{`"row":2`, `"row":3`, `"next":"3"`}, hasNot: []string{`"row":1`, `"row":4`},
	},
	{name: "an odd limit", url: "/v1/batches/{id}/items?limit=0", before: batchOf("w"), status: 400, has: []string{`"page_invalid"`}},
	{name: "an odd cursor", url: "/v1/batches/{id}/items?cursor=-1", before: batchOf("w"), status: 400, has: []string{`"page_invalid"`}},
	{name: "an odd state", url: "/v1/batches/{id}/items?state=sleeping", before: batchOf("w"), status: 400, has: []string{`"state_unknown"`}},
	{name: "an odd limit of batches", url: "/v1/batches?limit=x", status: 400, has: []string{`"page_invalid"`}},
	{
		name: "results", url: "/v1/batches/{id}/results", before: batchOf("sf=w"), status: 200,
		want: map[string]string{"Content-Type": "application/json", "Content-Disposition": `attachment; filename="batch-{id}.json"`},
		has: []string{
			`{"batch":{"id":"{id}"`, `"results":[`, `"row":1,`, `"state":"succeeded","estimate":{"summary":{"onTheRoad":{`,
			`"exchange":{"taxes":2650,"others":2700.5}`, `"code":"no_match"`, `"sameAs":1,"estimate"`, `"state":"waiting"}`,
		},
	},
	{
		name: "results in lines", url: "/v1/batches/{id}/results", headers: map[string]string{"Accept": "text/html;q=0.8, application/x-ndjson;q=0.9"},
		before: batchOf("sw"), status: 200, want: map[string]string{"Content-Type": "application/x-ndjson"},
		has: []string{"{\"row\":1,", "}\n{\"row\":2,"},
	},
	{
		name: "the query before Accept", url: "/v1/batches/{id}/results?format=csv", headers: map[string]string{"Accept": "application/x-ndjson"},
		before: batchOf("s"), status: 200, want: map[string]string{"Content-Type": "text/csv; charset=utf-8"},
	},
	{name: "an odd form", url: "/v1/batches/{id}/results?format=pdf", before: batchOf("s"), status: 400, has: []string{`"format_unknown"`}},
	{
		name: "the head of results", method: http.MethodHead, url: "/v1/batches/{id}/results?format=xlsx", before: batchOf("s"), status: 200,
		want: map[string]string{"Content-Disposition": `attachment; filename="batch-{id}.xlsx"`},
	},
}

func TestTablesOfABatch(t *testing.T) {
	t.Parallel()
	conn := redistest.Open(t, redistest.Start(t).URL)
	a := newApp(t, conn, nil)
	const many = 450 // more than are read at once
	id := batchOf(strings.Repeat("s", many-2)+"f=")(t, a)
	got := a.send(t, a.request(t, http.MethodGet, "/v1/batches/"+id+"/results?format=csv", ""))
	rows, err := csv.NewReader(strings.NewReader(got.body)).ReadAll()
	if err != nil || len(rows) != many+1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, row := range rows[1:] {
		if row[0] != strconv.Itoa(i+1) {
			t.Fatalf("row %d is %q", i+1, row)
		}
	}
	book, err := excelize.OpenReader(strings.NewReader(
		a.send(t, a.request(t, http.MethodGet, "/v1/batches/"+id+"/results?format=xlsx", "")).body))
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := book.GetRows("Cars", excelize.Options{RawCellValue: true})
	if err != nil || len(sheet) != many+2 || sheet[many+1][0] != "Total" || sheet[many][2] != site+"/batch/0" || sheet[many-1][4] != "no_match" {
		t.Fatalf("%d rows, %v", len(sheet), err)
	}
	var whole struct {
		Results []struct {
			Row int `json:"row"`
		} `json:"results"`
	}
	got = a.send(t, a.request(t, http.MethodGet, "/v1/batches/"+id+"/results", ""))
	if err := json.Unmarshal([]byte(got.body), &whole); err != nil || len(whole.Results) != many {
		t.Fatalf("%d results, %v", len(whole.Results), err)
	}
}

func TestBatchesAreListedToTheirOwner(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	var made []string
	for range 3 {
		made = append(made, batchOf("w")(t, a))
	}
	ofAnother(t, a)
	seen := map[string]bool{}
	for path, pages := "/v1/batches?limit=2", 0; path != ""; pages++ {
		var page struct {
			Batches []struct {
				ID string `json:"id"`
			} `json:"batches"`
			Next string `json:"next"`
		}
		if err := json.Unmarshal([]byte(a.send(t, a.request(t, http.MethodGet, path, "")).body), &page); err != nil || pages > 2 {
			t.Fatal(err, pages)
		}
		for _, b := range page.Batches {
			seen[b.ID] = true
		}
		path = ""
		if page.Next != "" {
			path = "/v1/batches?limit=2&cursor=" + page.Next
		}
	}
	if len(seen) != len(made) {
		t.Errorf("listed %v, made %v", seen, made)
	}
}

// The report of a batch names the cars of rows that failed: as they were read, or described.
func TestReportNamesCarsOfRowsThatFailed(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	store := batch.NewStore(a.conn.Client())
	b, err := store.Create(t.Context(), batch.New{Owner: a.keyID, Rows: []batch.Row{
		{Number: 1, URL: site + "/1"}, {Number: 2, Car: json.RawMessage(`{"make":"MAZDA","model":"DEMIO","year":2012}`)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.ClaimRows(t.Context(), b.ID, 2); err != nil {
		t.Fatal(err)
	}
	read := *failures[noMatch]
	read.Details = json.RawMessage(`{"car":{"make":"TOYOTA","model":"VITZ","year":2014},"candidates":[]}`)
	for row, why := range []*jobs.Error{&read, failures[forbidden]} {
		if _, err := store.Fail(t.Context(), b.ID, row, why); err != nil {
			t.Fatal(err)
		}
	}
	got := a.send(t, a.request(t, http.MethodGet, "/v1/batches/"+b.ID+"/results?format=csv", ""))
	for _, want := range []string{",TOYOTA,VITZ,", ",MAZDA,DEMIO,"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %s\n%s", want, got.body)
		}
	}
}
