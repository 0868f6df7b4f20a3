package batchrequest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/batch"
)

const (
	site     = "https://cars.example"
	ndjson   = "application/x-ndjson"
	csv      = "text/csv"
	workbook = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
)

// read reads a request for a batch with a query and a body of a type; "" is a request
// without a type.
func read(t *testing.T, query, contentType, body string) (*Request, error) {
	t.Helper()
	plain := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/batches"+query, strings.NewReader(body))
	if contentType != "" {
		plain.Header.Set("Content-Type", contentType)
	}
	r := request.From(plain)
	if err := r.ReadParameters(time.Minute); err != nil {
		t.Fatal(err)
	}
	return Read(httptest.NewRecorder(), r)
}

// canonical accepts the listings of one site.
func canonical(raw string) (string, error) {
	if !strings.HasPrefix(raw, site) {
		return "", problem.BadRequest("url_unsupported").Of("url")
	}
	return raw, nil
}

// stored shows the rows of a request as they are stored, one after the other.
func stored(t *testing.T, req *Request) string {
	t.Helper()
	rows, err := req.CheckRows(&req.Options, canonical)
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, row := range rows {
		code := ""
		if row.RejectReason != nil {
			code = row.RejectReason.Code
		}
		text := fmt.Sprint(row.Number, " ", row.Reference, " ", strings.TrimPrefix(row.URL, site), " ", row.ModelBody, " ",
			string(row.Car), string(row.Known), " ", row.PriceBasis, " ", code)
		shown = append(shown, strings.Join(strings.Fields(text), " "))
	}
	return strings.Join(shown, "; ")
}

// TestRowsAreReadFromEveryForm of a body.
func TestRowsAreReadFromEveryForm(t *testing.T) {
	t.Parallel()
	const toyota = `{"make":"TOYOTA","model":"IST","year":2005,"fobPriceUSD":2000}`
	for name, c := range map[string]struct{ query, contentType, body, want string }{
		"URLs":                     {"", "", `{"urls":["https://cars.example/1","https://cars.example/2"]}`, "1 /1; 2 /2"},
		"items":                    {"", "application/json; charset=UTF-8", `{"items":[{"reference":"LOT 17","url":"https://cars.example/1","modelBody":"X"}]}`, "1 LOT 17 /1 X"},
		"names in any case":        {"", "", `{"URLS":["https://cars.example/1"]}`, "1 /1"},
		"null lists":               {"", "", `{"urls":null,"items":[{"url":"https://cars.example/1"}],"options":null,"webhook":null}`, "1 /1"},
		"an auction's price":       {"?jpyPerUSD=150", "", `{"items":[{"make":"Toyota","model":"Ist","year":2005,"hammerPriceJPY":300000,"startPriceJPY":1}]}`, "1 " + toyota + " hammer"},
		"the start price":          {"?jpyPerUSD=150", "", `{"items":[{"make":"Toyota","model":"Ist","year":2005,"startPriceJPY":300000}]}`, "1 " + toyota + " start"},
		"dollars before yen":       {"?jpyPerUSD=150", "", `{"items":[{"make":"Toyota","model":"Ist","year":2005,"fobPriceUSD":2000,"fobPriceJPY":1}]}`, "1 " + toyota + " fob"},
		"known values of a URL":    {"?jpyPerUSD=150", "", `{"items":[{"url":"https://cars.example/1","year":2015,"fobPriceJPY":150000,"startPriceJPY":1}]}`, `1 /1 {"year":2015,"yearBasis":"manufacture","fobPriceUSD":1000}`},
		"known outranks columns":   {"", "", `{"items":[{"url":"https://cars.example/1","year":2015,"known":{"year":2014}}]}`, `1 /1 {"year":2014,"yearBasis":"manufacture"}`},
		"a year of registration":   {"", "", `{"items":[{"url":"https://cars.example/1","year":2015,"yearBasis":"registration"}]}`, "1 /1"},
		"lines":                    {"", ndjson, `{"reference":"a","url":"https://cars.example/1"}` + "\n\n" + `"https://cars.example/2"` + "\r\n{\n", "1 a /1; 3 /2; 4 row_invalid"},
		"a table":                  {"", csv, "url,reference\nhttps://cars.example/1,A\nhttps://cars.example/2,B", "2 A /1; 3 B /2"},
		"a mark, and Windows":      {"", csv, "\ufeffReference,URL\r\nA,https://cars.example/1\r\n\r\nB,https://cars.example/2\r\n", "2 A /1; 4 B /2"},
		"semicolons":               {"", csv, "Reference;Price;URL\nA;1,5;https://cars.example/1\n", "2 A /1"},
		"tabs":                     {"", "text/tab-separated-values", "url\treference\nhttps://cars.example/1\tA, B\n", "2 A, B /1"},
		"quotes":                   {"", csv, "url,reference,modelBody\n\"https://cars.example/1\",\"A \"\"x\"\", y\",L\nhttps://cars.example/2,B,\n", `2 A "x", y /1 L; 3 B /2`},
		"short rows":               {"", csv, "reference,url\nA\nB,https://cars.example/1\n", "2 A url_missing; 3 B /1"},
		"more cells than columns":  {"", csv, "url,reference\nhttps://cars.example/1,A,B\nhttps://cars.example/2,B,\n", "2 A /1 row_invalid; 3 B /2"},
		"one column":               {"", csv, "url\nhttps://cars.example/?a=1,2;3\n", "2 /?a=1,2;3"},
		"columns the caller names": {"?column=Wagen%3Dmodel&column=Jahr%3Dyear&column=Preis%3DfobPrice+(USD)", csv, "make,Wagen,Jahr,Preis\nTOYOTA,IST,2005,2000\n", "2 " + toyota + " fob"},
		"a Japanese list": {
			"?jpyPerUSD=150", csv, "出品番号,車名,グレード,型式,年式,排気量,スタート価格(千円)\n7,プリウス,S,DAA-ZVW30,H24,1800,300\n",
			`2 7 {"make":"TOYOTA","model":"PRIUS","modelCode":"ZVW30","rawModelCode":"DAA-ZVW30","version":"S","year":2012,"engine_cc":1800,"fobPriceUSD":2000,"yearBasis":"registration"} start`,
		},
		"Excel's type of CSV": {"", "application/vnd.ms-excel", "sep=;\r\nurl;reference\r\nhttps://cars.example/1;A\r\n", "3 A /1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, err := read(t, c.query, c.contentType, c.body)
			if err != nil {
				t.Fatal(err)
			}
			if got := stored(t, req); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestRowsAreRejectedForAReason(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 201)
	req, err := read(t, "", "", `{"items":[7,{"reference":"a"},{"url":"ftp://x/"},{"url":"`+site+`/2","reference":"`+long+`"},
		{"url":"`+site+`/3","modelBody":"`+long+`"},{"make":"TOYOTA","year":"2005"},{"make":"TOYOTA"},{"year":2005},
		{"make":"A","model":"B","year":2005,"yearBasis":"guess"},{"make":"A","model":"B","year":2005,"fobPriceUSD":-1},
		{"url":"`+site+`/4","known":{"colour":"red"}},{"url":"`+site+`/5","reference":"line\nbreak"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := req.CheckRows(&req.Options, canonical)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range rows {
		if row.RejectReason == nil {
			t.Fatalf("row %d was not rejected", row.Number)
		}
		got = append(got, row.RejectReason.Code)
		if len(row.Reference) > maxReference {
			t.Errorf("row %d keeps a reference of %d bytes", row.Number, len(row.Reference))
		}
	}
	want := []string{
		"row_invalid", "url_missing", "url_unsupported", "reference_invalid", "field_invalid", "field_invalid", "field_invalid",
		"url_missing", "field_invalid", "field_invalid", "field_invalid", "reference_invalid",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestARowThatIsNoObjectIsNamedWithItsNumber, and those around it are read.
func TestARowThatIsNoObjectIsNamedWithItsNumber(t *testing.T) {
	t.Parallel()
	const good = `{"url":"https://cars.example/1"}`
	for name, c := range map[string]struct{ contentType, body, code string }{
		"a number":             {"", `{"items":[` + good + `,7,` + good + `]}`, "row_invalid"},
		"a text":               {"", `{"items":[` + good + `,"https://cars.example/2",` + good + `]}`, "row_invalid"},
		"a list":               {"", `{"items":[` + good + `,[` + good + `],` + good + `]}`, "row_invalid"},
		"true":                 {"", `{"items":[` + good + `,true,` + good + `]}`, "row_invalid"},
		"null":                 {"", `{"items":[` + good + `,null,` + good + `]}`, "url_missing"},
		"an endless URL":       {"", `{"urls":["https://cars.example/1","https://cars.example/` + strings.Repeat("x", maxRow) + `","https://cars.example/1"]}`, "row_invalid"},
		"an object for a URL":  {"", `{"urls":["https://cars.example/1",{},"https://cars.example/1"]}`, "row_invalid"},
		"a line with a list":   {ndjson, good + "\n[" + good + "]\n" + good, "row_invalid"},
		"a line with a number": {ndjson, good + "\n7\n" + good, "row_invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, err := read(t, "", c.contentType, c.body)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := stored(t, req), "1 /1; 2 "+c.code+"; 3 /1"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			_, err = req.Check(canonical)
			p, refused := errors.AsType[*problem.Problem](err)
			if !refused || p.RowCount != 1 || len(p.Rows) != 1 || p.Rows[0].Row != 2 || p.Rows[0].Code != c.code {
				t.Errorf("got %+v, want %s of row 2", p, c.code)
			}
		})
	}
}

// TestBodiesThatAreRefused: nothing of them is a batch.
func TestBodiesThatAreRefused(t *testing.T) {
	t.Parallel()
	const one = `"https://cars.example/1"`
	for name, c := range map[string]struct{ query, contentType, body, code string }{
		"a list":                       {"", "", `[]`, "invalid_batch"},
		"nothing at all":               {"", "", ``, "invalid_batch"},
		"both kinds of rows":           {"", "", `{"urls":["x"],"items":[{}]}`, "invalid_batch"},
		"a list that is an object":     {"", "", `{"urls":{"a":1}}`, "invalid_batch"},
		"two values":                   {"", "", `{"urls":[` + one + `]} {}`, "invalid_batch"},
		"a body that ends":             {"", "", `{"urls":[` + one, "invalid_batch"},
		"objects without an end":       {"", "", `{"x":` + strings.Repeat("[", 100_000), "invalid_batch"},
		"bytes that are not UTF-8":     {"", "", "{\"urls\":[" + one + "],\"x\":\"\xff\"}", "invalid_batch"},
		"a webhook that is none":       {"", "", `{"urls":[` + one + `],"webhook":{"url":"https://receiver.example/"}}`, "invalid_batch"},
		"an odd option":                {"", "", `{"urls":[` + one + `],"options":{"onInvalid":"cry"}}`, "option_invalid"},
		"options that are a list":      {"", "", `{"urls":[` + one + `],"options":[]}`, "option_invalid"},
		"a rate that is text":          {"", "", `{"urls":[` + one + `],"options":{"rate":"much"}}`, "option_invalid"},
		"a rate in the query":          {"?rate=0", csv, "url\n", "option_invalid"},
		"a destination":                {"", "", `{"urls":[` + one + `],"options":{"destination":"Zanzibar"}}`, "destination_unsupported"},
		"an odd rate of yen":           {"?jpyPerUSD=0.007", csv, "url\n", "field_invalid"},
		"a column without a field":     {"?column=Wagen", csv, "url\n", "field_invalid"},
		"a column of no field":         {"?column=Wagen%3Dcolour", csv, "url\n", "field_invalid"},
		"another type":                 {"", "text/plain", "x", "unsupported_media_type"},
		"a type that is none":          {"", ";;", "x", "unsupported_media_type"},
		"JSON in another alphabet":     {"", "application/json; charset=utf-16", "{}", "unsupported_media_type"},
		"a table in no known alphabet": {"", "text/csv; charset=klingon", "url", "invalid_batch"},
		"a table without a header":     {"", csv, "https://cars.example/1\n", "csv_header_missing"},
		"an empty table":               {"", csv, "", "csv_header_missing"},
		"a table that is not UTF-8":    {"", "text/csv; charset=UTF-8", "url\nhttps://cars.example/\xff\n", "invalid_batch"},
		"an endless line":              {"", csv, "url\n\"" + strings.Repeat("x", 1<<17), "table_line_invalid"},
		"a workbook that is none":      {"", workbook, "PK\x03\x04 and no more", "table_unreadable"},
		"a stray quote":                {"", csv, "url,reference\nhttps://cars.example/1,\"A\nhttps://cars.example/2,B\n", "table_line_invalid"},
		"an image":                     {"", csv, "\x89PNG\r\n\x1a\n\x00\x00", "table_unreadable"},
		"an old workbook":              {"", "application/vnd.ms-excel", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "table_unreadable"},
		"a line too long":              {"", ndjson, `"` + strings.Repeat("x", maxRow+1) + `"`, "invalid_batch"},
		"lines that are not UTF-8":     {"", ndjson, "\"\xff\"", "invalid_batch"},
		"a form that is none":          {"", "multipart/form-data; boundary=x", "x", "form_invalid"},
		"a row too many":               {"", "", `{"urls":[` + strings.Repeat("0,", batch.MaxRows) + `0,` + strings.Repeat("[", 100), "too_many_rows"},
		"a line too many":              {"", ndjson, strings.Repeat("0\n", batch.MaxRows+1), "too_many_rows"},
		"a table's row too many":       {"", csv, "url\n" + strings.Repeat("x\n", batch.MaxRows+1), "too_many_rows"},
		"8 MB":                         {"", "", `{"urls":["` + strings.Repeat("x", maxBody) + `"]}`, "body_too_large"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := read(t, c.query, c.contentType, c.body)
			if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Code != c.code {
				t.Errorf("got %v, want %s", err, c.code)
			}
		})
	}
}

// TestABatchNeedsAValidRow, and all of them unless others are to be skipped.
func TestABatchNeedsAValidRow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query, body, code string
		rows              int
	}{
		"no rows":                {"", `{}`, "rows_missing", 0},
		"a bad row":              {"", `{"urls":["x","https://cars.example/1"]}`, "rows_invalid", 0},
		"a bad row that is left": {"?onInvalid=skip", `{"urls":["x","https://cars.example/1"]}`, "", 2},
		"nothing but bad rows":   {"?onInvalid=skip", `{"urls":["x","y"]}`, "rows_invalid", 0},
		"the body outranks":      {"?onInvalid=skip", `{"urls":["x","https://cars.example/1"],"options":{"onInvalid":"reject"}}`, "rows_invalid", 0},
		"yen without their rate": {"", `{"items":[{"make":"A","model":"B","year":2005,"fobPriceJPY":100000}]}`, "jpy_rate_missing", 0},
		"good rows":              {"", `{"urls":["https://cars.example/1","https://cars.example/1"]}`, "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, err := read(t, c.query, "", c.body)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := req.Check(canonical)
			p, _ := errors.AsType[*problem.Problem](err)
			if len(rows) != c.rows || (p == nil) != (c.code == "") || p != nil && p.Code != c.code {
				t.Errorf("got %d rows, %v; want %d, %s", len(rows), err, c.rows, c.code)
			}
		})
	}
}

// TestTheFirstInvalidRowsAreListed: a problem has a hundred of them, and the number of all.
func TestTheFirstInvalidRowsAreListed(t *testing.T) {
	t.Parallel()
	req, err := read(t, "", "", `{"urls":[`+strings.Repeat(`"x",`, 249)+`"x"]}`)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := req.CheckRows(&req.Options, canonical)
	if err != nil {
		t.Fatal(err)
	}
	p := Invalid(rows)
	if p == nil || len(p.Rows) != 100 || p.RowCount != 250 || p.Rows[99].Row != 100 || !strings.HasPrefix(p.Message, "250 of 250 rows") {
		t.Errorf("got %+v", p)
	}
	if kept := rows[maxRejectedKept]; kept.URL != "" || kept.RejectReason.Code != "row_invalid" {
		t.Errorf("row %d is kept: %+v", kept.Number, kept)
	}
	if p := Invalid(nil); p != nil {
		t.Errorf("no rows have the problem %v", p)
	}
}

// TestOwnFieldsComeBack: columns and fields that mean nothing here are the caller's own.
func TestOwnFieldsComeBack(t *testing.T) {
	t.Parallel()
	const body = `{"items":[{"url":"https://cars.example/1","lot":7,"seller":{"name":"a"}},` +
		`{"url":"https://cars.example/2","good":true,"lot":null,"tags":[]},{"url":"https://cars.example/3","lot":"=1+1"}],"colour":"red"}`
	req, err := read(t, "", "", body)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(req.Columns, []string{"lot", "good"}) || !slices.Equal(req.Options.Ignored, []string{"items.seller", "items.tags", "colour"}) {
		t.Errorf("columns %q, ignored %q", req.Columns, req.Options.Ignored)
	}
	for i, want := range [][]string{{"7"}, {"", "true"}, {"=1+1"}} {
		if !slices.Equal(req.Rows[i].Own, want) {
			t.Errorf("row %d: got %q, want %q", i, req.Rows[i].Own, want)
		}
	}
	if warned := req.Warnings(); len(warned) != 1 || warned[0].Code != "columns_unknown" || !strings.Contains(warned[0].Message, "lot, good") {
		t.Errorf("got the warnings %+v", warned)
	}
	strict, err := read(t, "?strict=true", "", body)
	if err != nil || strict.Columns != nil || !slices.Contains(strict.Options.Ignored, "items.lot") {
		t.Errorf("strictly: columns %q, ignored %q, %v", strict.Columns, strict.Options.Ignored, err)
	}
}

func TestMuchOfTheCallersOwnIsClipped(t *testing.T) {
	t.Parallel()
	req, err := read(t, "", csv, "url,remarks,more\nhttps://cars.example/1,"+strings.Repeat("é", maxOwn)+",x\n")
	if err != nil {
		t.Fatal(err)
	}
	if own := req.Rows[0].Own; len(own) != 2 || len(own[0]) != maxOwn || own[1] != "" {
		t.Errorf("got %d cells, the first of %d bytes", len(own), len(own[0]))
	}
	var fields []string
	for i := range maxOwnFields + 1 {
		fields = append(fields, fmt.Sprintf(`"f%d":1`, i))
	}
	req, err = read(t, "", "", `{"items":[{"url":"x",`+strings.Join(fields, ",")+`}]}`)
	if err != nil || len(req.Columns) != maxOwnFields || !slices.Equal(req.Options.Ignored, []string{"items.f100"}) {
		t.Errorf("%d columns, ignored %q, %v", len(req.Columns), req.Options.Ignored, err)
	}
}

// TestATableSaysHowItWasUnderstood.
func TestATableSaysHowItWasUnderstood(t *testing.T) {
	t.Parallel()
	file := excelize.NewFile()
	for cell, value := range map[string]any{
		"A1": "Lots of Monday", "A2": "URL", "B2": "Price (USD)", "C2": "price", "D2": "Remarks", "A3": "https://cars.example/1", "B3": 1500, "D3": "good",
	} {
		if err := file.SetCellValue("Sheet1", cell, value); err != nil {
			t.Fatal(err)
		}
	}
	var data bytes.Buffer
	if err := file.Write(&data); err != nil {
		t.Fatal(err)
	}
	for _, contentType := range []string{workbook, csv, "application/vnd.ms-excel"} { // its bytes say what it is
		req, err := read(t, "", contentType, data.String())
		if err != nil {
			t.Fatal(err)
		}
		if req.Table.Format != "xlsx" || req.Table.HeaderRow != 2 || req.Table.Sheet != "Sheet1" || len(req.Rows) != 1 || !slices.Equal(req.Table.Unknown, []string{"Remarks"}) {
			t.Errorf("%s: got %+v and %d rows", contentType, req.Table, len(req.Rows))
		}
		codes := make([]string, 0, 2)
		for _, w := range req.Warnings() {
			codes = append(codes, w.Code)
		}
		if !slices.Equal(codes, []string{"columns_repeated", "columns_unknown"}) {
			t.Errorf("%s: got the warnings %q", contentType, codes)
		}
	}
}

// form is a form with parts: its type and its bytes.
func form(t *testing.T, parts ...[3]string) (contentType, body string) {
	t.Helper()
	var data bytes.Buffer
	w := multipart.NewWriter(&data)
	for _, part := range parts {
		header := map[string][]string{"Content-Disposition": {`form-data; name="` + part[0] + `"; filename="` + part[1] + `"`}}
		out, err := w.CreatePart(header)
		if err == nil {
			_, err = out.Write([]byte(part[2]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), data.String()
}

func TestAFormHasAFileAndOptions(t *testing.T) {
	t.Parallel()
	options := [3]string{"options", "", `{"onInvalid":"skip","jpyPerUSD":150}`}
	table := [3]string{"file", "lots.csv", "url\nhttps://cars.example/1\n"}
	for name, c := range map[string]struct {
		parts      [][3]string
		want, code string
	}{
		"options before the file": {[][3]string{options, table}, "2 /1", ""},
		"and behind it":           {[][3]string{table, options}, "2 /1", ""},
		"JSON by its name":        {[][3]string{{"file", "LOTS.JSON", `{"urls":["https://cars.example/1"]}`}, options}, "1 /1", ""},
		"lines by their name":     {[][3]string{{"file", "lots.jsonl", `"https://cars.example/1"`}, options}, "1 /1", ""},
		"another part":            {[][3]string{table, options, {"note", "", "x"}}, "2 /1", ""},
		"no file":                 {[][3]string{options}, "", "form_invalid"},
		"two files":               {[][3]string{table, table}, "", "form_invalid"},
		"odd options":             {[][3]string{table, {"options", "", "x"}}, "", "option_invalid"},
		"a file that is no table": {[][3]string{{"file", "x", "https://cars.example/1"}}, "", "csv_header_missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			contentType, body := form(t, c.parts...)
			req, err := read(t, "", contentType, body)
			if c.code != "" {
				if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Code != c.code {
					t.Errorf("got %v, want %s", err, c.code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := stored(t, req); got != c.want || req.Options.OnInvalid != "skip" || req.Options.JPYPerUSD == nil {
				t.Errorf("got %s and %+v, want %s", got, req.Options, c.want)
			}
		})
	}
}

// TestIdentityTellsBatchesApart: under one Idempotency-Key they are the same request or not.
func TestIdentityTellsBatchesApart(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, body := range []string{
		`{"urls":["a"]}`, `{"urls":["b"]}`, `{"urls":["a"],"webhook":"https://receiver.example/"}`, `{"urls":["a"],"options":{"rate":2700}}`,
		`{"items":[{"url":"a","lot":1}]}`, `{"items":[{"url":"a","lot":2}]}`, `{"items":[{"url":"a","number":1}]}`,
		`{"urls":["a"],"options":{"byMonth":true,"target":{"onTheRoadTZS":40000000}}}`,
	} {
		req, err := read(t, "", "", body)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(req.Identity())
		if err != nil {
			t.Fatal(err)
		}
		if before, ok := seen[string(data)]; ok {
			t.Errorf("%s and %s are the same request", before, body)
		}
		seen[string(data)] = body
	}
	req, err := read(t, "", "", `{"urls":["a"],"options":{"byMonth":true}}`)
	if err != nil || !slices.Equal(req.Options.Ignored, []string{"options.byMonth"}) {
		t.Errorf("a row has one landing: ignored %q, %v", req.Options.Ignored, err)
	}
}

// TestColumnsAreOfTables: a parameter about columns means nothing beside rows of JSON, whatever it says,
// and is named among what is ignored.
func TestColumnsAreOfTables(t *testing.T) {
	t.Parallel()
	for contentType, body := range map[string]string{"": `{"urls":["` + site + `/1"]}`, ndjson: `"` + site + `/1"`} {
		for _, column := range []string{"Preis%3DfobPrice", "Wagen%3Dcolour", "Wagen"} {
			req, err := read(t, "?column="+column, contentType, body)
			if err != nil || !slices.Equal(req.Options.Ignored, []string{"column"}) {
				t.Errorf("%s of %q: ignored %q, %v; want column", column, contentType, req.Options.Ignored, err)
			}
		}
	}
	if req, err := read(t, "", "", `{"urls":["`+site+`/1"]}`); err != nil || req.Options.Ignored != nil {
		t.Errorf("without a column: ignored %q, %v", req.Options.Ignored, err)
	}
}
