package batches

import (
	"net/http"
	"path"
	"strings"
	"testing"

	"ushuru/api/apitest"
	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
)

// TestARowIsRetriedByItsNumberInTheResults: the number is the line of the file, or the row of a sheet
// that is named beside it; room is promised to the rows that wait again.
func TestARowIsRetriedByItsNumberInTheResults(t *testing.T) {
	t.Parallel()
	const one, two = "https://cars.example/1", "https://cars.example/2"
	csv := "Lots of the week,\nurl,note\n" + one + ",\n" + two + ",\n" + one + ",\n"
	workbook := workbookOf(t, [][]any{{"Aichi"}, {"url"}, {one}}, [][]any{{"Kobe 2"}, {"url"}, {two}})
	for name, c := range map[string]struct {
		body    string
		headers map[string]string
		query   string
		waits   []string // URLs of the rows that wait again; none for 400
		room    int64
	}{
		"of JSON":                {body: `{"urls":["` + one + `","` + two + `"]}`, query: "row=2", waits: []string{two}, room: 1},
		"all":                    {body: `{"urls":["` + one + `","` + two + `"]}`, waits: []string{one, two}, room: 2},
		"none of JSON":           {body: `{"urls":["` + one + `","` + two + `"]}`, query: "row=3"},
		"zero":                   {body: `{"urls":["` + one + `","` + two + `"]}`, query: "row=0"},
		"a line of a table":      {body: csv, headers: csvBody, query: "row=4", waits: []string{two}, room: 1},
		"twice":                  {body: csv, headers: csvBody, query: "row=4&row=4", waits: []string{two}, room: 1},
		"a duplicate":            {body: csv, headers: csvBody, query: "row=5", waits: []string{one, one}, room: 1},
		"it and its original":    {body: csv, headers: csvBody, query: "row=3&row=5", waits: []string{one, one}, room: 1},
		"the header":             {body: csv, headers: csvBody, query: "row=2"},
		"one of two is unknown":  {body: csv, headers: csvBody, query: "row=3&row=9"},
		"a sheet without sheets": {body: csv, headers: csvBody, query: "row=3&sheet=Aichi"},
		"of the second sheet":    {body: workbook, headers: workbookBody, query: "row=2&sheet=Kobe+2", waits: []string{two}, room: 1},
		"of no sheet":            {body: workbook, headers: workbookBody, query: "row=2"},
		"of an unknown sheet":    {body: workbook, headers: workbookBody, query: "row=2&sheet=Kobe"},
		"a sheet without a row":  {body: workbook, headers: workbookBody, query: "sheet=Aichi"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, p := newResource(t)
			created := apitest.Send(t, s.Post, apitest.Ask{URL: "/v1/batches", Body: c.body, Headers: c.headers})
			id := path.Base(created.Header.Get("Location"))
			rows, err := p.Batches.ClaimRows(t.Context(), id, 10)
			if err != nil || len(rows) != 2 {
				t.Fatalf("got %d rows, %v of %s", len(rows), err, created.Body)
			}
			for _, row := range rows {
				if _, err := p.Batches.Fail(t.Context(), id, row.Index, &jobs.Error{Notice: message.New("error/not_a_listing", nil)}); err != nil {
					t.Fatal(err)
				}
			}
			retry := apitest.Ask{Method: "POST", URL: "/v1/batches/" + id + "/retry?" + c.query, Vars: of(id)}
			got := apitest.Send(t, s.Retry, retry)
			if c.waits == nil {
				if !got.Has(http.StatusBadRequest, `"field_invalid"`, `"param":"row"`) {
					t.Errorf("got %d %s, want 400", got.Status, got.Body)
				}
				return
			}
			items := apitest.Send(t, s.ListItems, apitest.Ask{URL: "/v1/batches/" + id + "/items?state=waiting", Vars: of(id)})
			var waiting struct{ Items []struct{ URL string } }
			items.Decode(t, &waiting)
			var urls []string
			for _, item := range waiting.Items {
				urls = append(urls, item.URL)
			}
			if strings.Join(urls, " ") != strings.Join(c.waits, " ") {
				t.Errorf("got %d %s: %v wait, want %v", got.Status, got.Body, urls, c.waits)
			}
			account, err := pace.NewAccounts(p.Redis, pace.KindBytes).Read(t.Context(), pace.Holder{Whole: "key"})
			if err != nil || account.Promised != c.room*batch.RowRoom {
				t.Errorf("got %d bytes promised, %v, want %d", account.Promised, err, c.room*batch.RowRoom)
			}
		})
	}
}

// TestARowThatHasNotFailedIsNotRetried: nothing is promised to it, and a batch that has ended does not
// become active again.
func TestARowThatHasNotFailedIsNotRetried(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	id := create(t, s, three)
	finish(t, p, id)
	accounts, holder := pace.NewAccounts(p.Redis, pace.KindBytes), pace.Holder{Whole: "key"}
	if err := accounts.Forget(t.Context(), holder, batch.PromiseName(id)); err != nil { // as the workers do at the end
		t.Fatal(err)
	}
	if err := p.Redis.Del(t.Context(), "batches:open").Err(); err != nil {
		t.Fatal(err)
	}
	got := apitest.Send(t, s.Retry, apitest.Ask{Method: "POST", URL: "/v1/batches/" + id + "/retry?row=1", Vars: of(id)})
	account, err := accounts.Read(t.Context(), holder)
	if !got.Has(http.StatusConflict, `"none_failed"`) || err != nil || account.Promised != 0 {
		t.Errorf("got %d %s, %d bytes promised, %v, want 409 and none", got.Status, got.Body, account.Promised, err)
	}
	if open, err := p.Redis.Exists(t.Context(), "batches:open").Result(); err != nil || open != 0 {
		t.Errorf("got %d lists of active batches, %v, want none", open, err)
	}
}
