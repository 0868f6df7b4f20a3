package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"
	"testing"

	"ushuru/pkg/batch"
	"ushuru/pkg/redisx/redistest"
)

var csvBody = map[string]string{"Content-Type": "text/csv; charset=UTF-8"}

var batchRequestScenarios = []scenario{
	{
		name: "addresses", url: "/v1/batches", body: `{"urls":["https://cars.example/1","https://cars.example/2","https://cars.example/1?utm_source=x"]}`,
		status: 201, has: []string{`"rows":3,"repeated":1,"counts":{"cancelled":0,"failed":0,"rejected":0,"running":0,"succeeded":0,"waiting":3},"options":{}`},
	},
	{
		name: "items", url: "/v1/batches", status: 201, has: []string{`"rows":1,`, `"options":{"rate":2700}`},
		body: `{"items":[{"reference":"LOT 17","url":"https://cars.example/1","modelBody":"X"}],"options":{"rate":2700},"new":1}`,
	},
	{name: "a table", url: "/v1/batches?rate=2600.5", headers: csvBody, body: "url\nhttps://cars.example/1\n", status: 201, has: []string{`"rate":2600.5`}},
	{
		name: "a webhook of its own", url: "/v1/batches", status: 201, has: []string{`"webhook":{"id":"wh`, `"secret":"whsec_`},
		body: `{"urls":["https://cars.example/1"],"webhook":"https://receiver.example/"}`,
	},
	{
		name: "a webhook of a table", url: "/v1/batches?webhook=https://tables.example/", headers: csvBody, body: "url\nhttps://cars.example/1\n",
		status: 201, has: []string{`"webhook":{"id":"wh`, `"secret":"whsec_`},
	},
	{
		name: "a webhook in the open", url: "/v1/batches", status: 400, has: []string{`"url_insecure"`},
		body: `{"urls":["https://cars.example/1"],"webhook":"http://receiver.example/"}`,
	},
	{
		name: "a webhook of the house", url: "/v1/batches", status: 400, has: []string{`"url_forbidden"`},
		body: `{"urls":["https://cars.example/1"],"webhook":"https://10.0.0.1/"}`,
	},
	{
		name: "a webhook that is none", url: "/v1/batches", status: 400, has: []string{`"invalid_batch"`},
		body: `{"urls":["https://cars.example/1"],"webhook":{"url":"https://receiver.example/"}}`,
	},
	{name: "nothing", url: "/v1/batches", body: `{}`, status: 400, has: []string{`"rows_missing"`}},
	{name: "a header alone", url: "/v1/batches", headers: csvBody, body: "url\n", status: 400, has: []string{`"rows_missing"`}},
	{name: "no header", url: "/v1/batches", headers: csvBody, body: "https://cars.example/1\n", status: 400, has: []string{`"csv_header_missing"`}},
	{name: "an empty table", url: "/v1/batches", headers: csvBody, method: http.MethodPost, status: 400, has: []string{`"csv_header_missing"`}},
	{name: "both kinds", url: "/v1/batches", body: `{"urls":["x"],"items":[{}]}`, status: 400, has: []string{`"invalid_batch"`}},
	{name: "a list", url: "/v1/batches", body: `[]`, status: 400, has: []string{`"invalid_batch"`}},
	{name: "not UTF-8", url: "/v1/batches", headers: csvBody, body: "url\nhttps://cars.example/\xff\n", status: 400, has: []string{`"invalid_batch"`}},
	{name: "an odd option", url: "/v1/batches", body: `{"urls":["https://cars.example/1"],"options":{"onInvalid":"cry"}}`, status: 400, has: []string{`"option_invalid"`}},
	{name: "a rate that is text", url: "/v1/batches", body: `{"urls":["https://cars.example/1"],"options":{"rate":"much"}}`, status: 400, has: []string{`"option_invalid"`}},
	{name: "a rate of another currency", url: "/v1/batches", body: `{"urls":["https://cars.example/1"],"options":{"rate":150}}`, status: 400, has: []string{`"option_invalid"`, "from 500 to 10000"}},
	{name: "a rate of nothing", url: "/v1/batches?rate=0", headers: csvBody, body: "url\nhttps://cars.example/1\n", status: 400, has: []string{`"option_invalid"`}},
	{name: "another type", url: "/v1/batches", headers: map[string]string{"Content-Type": "text/plain"}, body: "x", status: 415, has: []string{`"unsupported_media_type"`, "text/csv"}},
	{name: "an unknown alphabet", url: "/v1/batches", headers: map[string]string{"Content-Type": "text/csv; charset=klingon"}, body: "url", status: 400, has: []string{`"invalid_batch"`}},
	{name: "too large", url: "/v1/batches", body: `{"urls":["` + strings.Repeat("x", 8<<20) + `"]}`, status: 413, has: []string{`"body_too_large"`, "8 MB"}},
	{name: "too many", url: "/v1/batches", headers: csvBody, body: "url\n" + strings.Repeat("https://cars.example/1\n", batch.MaxRows+1), status: 400, has: []string{`"too_many_rows"`}},
	{
		name: "bad rows", url: "/v1/batches", status: 400,
		body: `{"items":[{"url":"https://cars.example/1"},7,{"reference":"a"},{"url":"ftp://x/"},{"url":"https://cars.example/2","reference":"` + strings.Repeat("x", 201) +
			`"},{"url":"http://127.0.0.1/"},{"url":"https://cars.example/3","modelBody":"` + strings.Repeat("x", 201) + `"}]}`,
		has: []string{
			`{"error":"6 of 7 rows are invalid.`, `"rows":[{"row":2,"code":"row_invalid"`,
			`{"row":3,"reference":"a","code":"url_missing"`, `{"row":4,"url":"ftp://x/","code":"url_forbidden"`, `{"row":5,`,
			`"code":"reference_invalid"`, `{"row":6,"url":"http://127.0.0.1/","code":"url_forbidden"`, `{"row":7,"url":"https://cars.example/3","code":"field_invalid"`,
		},
		hasNot: []string{`"row":1,`, `"more"`},
	},
	{
		name: "more bad rows than are listed", url: "/v1/batches", status: 400, body: `{"urls":[` + strings.Repeat(`"x",`, 149) + `"x"]}`,
		has: []string{`150 of 150 rows`, `"row":100,`, `"more":50}`}, hasNot: []string{`"row":101,`},
	},
	{
		name: "bad rows are skipped", url: "/v1/batches", status: 201,
		body: `{"urls":["x","https://cars.example/1",null],"options":{"onInvalid":"skip"}}`,
		has:  []string{`"rows":3,`, `"rejected":2,`, `"waiting":1}`, `"options":{}`},
	},
	{
		name: "nothing but bad rows", url: "/v1/batches?onInvalid=skip", headers: csvBody, body: "url\nx\n", status: 400,
		has: []string{`"rows_invalid"`, `{"row":2,"url":"x","code":"url_invalid"`},
	},
}

// The forms of tables that people's programs write.
func TestTables(t *testing.T) {
	a := newApp(t, redistest.Open(t, redistest.Start(t).URL), nil)
	for name, c := range map[string]struct {
		table string
		want  string // row, reference, url, label and problem of each row
	}{
		"plain":              {"url,reference\nhttps://cars.example/1,A\nhttps://cars.example/2,B", "2 A /1; 3 B /2"},
		"Windows and a mark": {"\ufeffReference,URL\r\nA,https://cars.example/1\r\n\r\nB,https://cars.example/2\r\n", "2 A /1; 4 B /2"},
		"semicolons":         {"Reference;Price;URL\nA;1,5;https://cars.example/1\n", "2 A /1"},
		"tabs":               {"url\treference\nhttps://cars.example/1\tA, B\n", "2 A, B /1"},
		"quotes":             {"url,reference,modelBody\n\"https://cars.example/1\",\"A \"\"x\"\", y\",L\nhttps://cars.example/2,B,\n", `2 A "x", y /1 L; 3 B /2`},
		"short rows":         {"reference,url\nA\nB,https://cars.example/1\n", "2 A url_missing; 3 B /1"},
		"more cells":         {"url,reference\nhttps://cars.example/1,A,B\nhttps://cars.example/2,B,\n", "2 A /1 row_invalid; 3 B /2"},
		"one column":         {"url\nhttps://cars.example/?a=1,2;3\n", "2 /?a=1,2;3"},
		"a label":            {"url,modelBody\nhttps://cars.example/1,COROLLA - X - Y\n", "2 /1 COROLLA - X - Y"},
	} {
		t.Run(name, func(t *testing.T) {
			r := a.request(t, http.MethodPost, "/v1/batches?onInvalid=skip", c.table)
			r.Header.Set("Content-Type", "text/csv")
			got := a.send(t, r)
			var rows []string
			if got.status == http.StatusCreated {
				id := path.Base(got.header.Get("Location"))
				var page struct {
					Items []struct {
						Row       int    `json:"row"`
						Reference string `json:"reference"`
						URL       string `json:"url"`
						ModelBody string `json:"modelBody"`
						Error     struct {
							Code string `json:"code"`
						} `json:"error"`
					} `json:"items"`
				}
				items := a.send(t, a.request(t, http.MethodGet, "/v1/batches/"+id+"/items", ""))
				if err := json.Unmarshal([]byte(items.body), &page); err != nil {
					t.Fatal(err)
				}
				for _, i := range page.Items {
					if i.Error.Code == "reference_invalid" {
						i.Reference, i.URL = "", ""
					}
					text := fmt.Sprint(i.Row, " ", i.Reference, " ", strings.TrimPrefix(i.URL, site), " ", i.ModelBody, " ", i.Error.Code)
					rows = append(rows, strings.Join(strings.Fields(text), " "))
				}
			} else {
				var refused struct {
					Rows []struct {
						Row  int    `json:"row"`
						Code string `json:"code"`
					} `json:"rows"`
				}
				if err := json.Unmarshal([]byte(got.body), &refused); err != nil {
					t.Fatal(err)
				}
				for _, i := range refused.Rows {
					rows = append(rows, fmt.Sprint(i.Row, " ", i.Code))
				}
			}
			if all := strings.Join(rows, "; "); all != c.want {
				t.Errorf("%s\nwant %s", all, c.want)
			}
		})
	}
}

// A batch's own webhook is created once, found by the next batch, and notified
// of no other events; the caller's own webhook of the address is preferred.
func TestWebhookOfABatch(t *testing.T) {
	a := newApp(t, embedded(t), nil)
	type hook struct {
		ID     string `json:"id"`
		Secret string `json:"secret"`
	}
	hand := func(key, address string) hook {
		t.Helper()
		r := a.request(t, http.MethodPost, "/v1/batches", `{"urls":["https://cars.example/1"],"webhook":"`+address+`"}`)
		r.Header.Set("Idempotency-Key", key)
		got := a.send(t, r)
		var made struct {
			ID      string `json:"id"`
			Webhook *hook  `json:"webhook"`
		}
		if err := json.Unmarshal([]byte(got.body), &made); err != nil || got.status != http.StatusCreated || made.Webhook == nil {
			t.Fatal(err, got)
		}
		later := a.send(t, a.request(t, http.MethodGet, "/v1/batches/"+made.ID, ""))
		if !strings.Contains(later.body, `"webhook":{"id":"`+made.Webhook.ID+`"}`) {
			t.Errorf("later: %s", later.body)
		}
		return *made.Webhook
	}
	first := hand("first", "https://receiver.example/")
	if again := hand("first", "https://receiver.example/"); again != first || first.Secret == "" {
		t.Errorf("the same request: %v, then %v", first, again)
	}
	if next := hand("next", "https://receiver.example/"); next.ID != first.ID || next.Secret != "" {
		t.Errorf("the next batch: %v, then %v", first, next)
	}
	if other := hand("other", "https://other.example/"); other.ID == first.ID || other.Secret == first.Secret {
		t.Errorf("another address: %v, then %v", first, other)
	}
	all := a.send(t, a.request(t, http.MethodGet, "/v1/webhooks", ""))
	if strings.Count(all.body, `"events":[]`) != 2 || strings.Count(all.body, `"id"`) != 2 {
		t.Errorf("webhooks: %s", all.body)
	}

	own := a.send(t, a.request(t, http.MethodPost, "/v1/webhooks", `{"url":"https://own.example/","events":["job.completed"]}`))
	if hook := hand("own", "https://own.example/"); hook.Secret != "" || !strings.Contains(own.body, hook.ID) {
		t.Errorf("%v is not %s", hook, own.body)
	}
}
