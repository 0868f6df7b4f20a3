package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
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
		rate := money.NewNumber(decimal.RequireFromString("2700.5"))
		options := batch.Options{Terms: batch.Terms{Rate: &rate}}
		b, err := store.Create(t.Context(), batch.New{Owner: a.keyID, Rows: rows, Options: options})
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
				_, err = store.SetRowJobs(t.Context(), b.ID, map[int]string{row.Index: "01JOB"})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return b.ID
	}
}

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
	{name: "without a key", url: "/v1/batches", keyless: true, status: 401},
	{
		name: "cancelled", method: http.MethodDelete, url: "/v1/batches/{id}", before: batchOf("sfrww"), status: 200,
		has: []string{`"state":"cancelled"`, `"cancelled":3,`, `"running":0,`, `"succeeded":1,`, `"cancelled":"20`},
	},
	{
		name: "trying again", method: http.MethodPost, url: "/v1/batches/{id}/retry", before: batchOf("sffr"), status: 200,
		has: []string{`"state":"running"`, `"failed":0,`, `"waiting":2}`},
	},
	{
		name: "trying one row again", method: http.MethodPost, url: "/v1/batches/{id}/retry?row=3", before: batchOf("sffr"), status: 200,
		has: []string{`"state":"running"`, `"failed":1,`, `"waiting":1}`},
	},
	{
		name: "trying a row again that has not failed", method: http.MethodPost, url: "/v1/batches/{id}/retry?row=1", before: batchOf("sffr"), status: 409,
		has: []string{`"code":"none_failed"`},
	},
	{
		name: "trying a row again that is none", method: http.MethodPost, url: "/v1/batches/{id}/retry?row=5", before: batchOf("sffr"), status: 400,
		has: []string{`"code":"field_invalid"`},
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
		name: "results", url: "/v1/batches/{id}/results", before: batchOf("sf=w"), status: 200,
		want: map[string]string{"Content-Type": "application/json", "Content-Disposition": `attachment; filename="batch-{id}.json"`},
		has: []string{
			`{"batch":{"id":"{id}"`, `"results":[`, `"row":1,`, `"state":"succeeded","estimate":{"summary":{"onTheRoad":{`,
			`"exchange":{"taxes":2650,"others":2700.5,`, `"code":"no_match"`, `"sameAs":1,"estimate"`, `"state":"waiting"}`,
		},
	},
}
