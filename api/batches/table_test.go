package batches

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"ushuru/api/apitest"
	"ushuru/api/await"
	"ushuru/api/request"
	"ushuru/pkg/batch"
	"ushuru/pkg/cost"
	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

var csvBody = map[string]string{"Content-Type": "text/csv; charset=UTF-8"}

// tableScenarios are tables as programs and auction houses write them, by a dry run.
var tableScenarios = []struct {
	name, url, body string
	headers         map[string]string
	status          int
	has, hasNot     []string
}{
	{
		name: "a Japanese list", url: "/v1/batches?dryRun=true&jpyPerUSD=150", headers: map[string]string{"Content-Type": "text/csv"},
		body:   "出品番号,車名,グレード,型式,年式,排気量,走行,評価点,スタート価格(千円)\n7,プリウス,S,DAA-ZVW30,H24,1800,85千km,4,300\n",
		status: 200, has: []string{
			`"dryRun":true,"rows":1,"valid":1,"repeated":0,"rejected":0,`,
			`{"column":"スタート価格(千円)","field":"startPrice","unit":"1000 JPY","used":true}`,
			`"car":{"make":"TOYOTA","model":"PRIUS","modelCode":"ZVW30","rawModelCode":"DAA-ZVW30","version":"S","year":2012,` +
				`"engine_cc":1800,"fobPriceUSD":2000,"yearBasis":"registration"},"priceBasis":"start"`,
			`"columns":{"グレード":"S","スタート価格(千円)":"300","出品番号":"7","型式":"DAA-ZVW30","年式":"H24","排気量":"1800","評価点":"4","走行":"85千km","車名":"プリウス"}`,
			`"reference":"7"`,
		},
	},
	{
		name: "yen without a rate, in a dry run", url: "/v1/batches?dryRun=true", headers: csvBody, status: 200,
		body: "make,model,year,startPriceJPY\nTOYOTA,IST,2005,100000\n",
		has:  []string{`"missing":["jpyPerUSD"]`, `"valid":1,`}, hasNot: []string{`fobPriceUSD`},
	},
	{
		name: "yen without a rate", url: "/v1/batches", headers: csvBody, status: 400, has: []string{`"jpy_rate_missing"`, "Row 3"},
		body: "make,model,year,fobPriceUSD,startPriceJPY\nTOYOTA,IST,2005,900,100000\nTOYOTA,IST,2006,,100000\n",
	},
	{
		name: "prices that could not be those of cars, in a dry run", url: "/v1/batches?dryRun=true&jpyPerUSD=150", headers: csvBody, status: 200,
		body: thousands, has: []string{
			`"questions":[{"column":"スタート価格","field":"startPrice","values":["690","450","300"],"readings":[{"unit":"JPY","answer":"スタート価格=startPrice (JPY)","firstUSD":["4.60","3.00","2.00"]}`,
			`{"unit":"1000 JPY","answer":"スタート価格=startPrice (1000 JPY)","firstUSD":["4,600.00","3,000.00","2,000.00"]}`,
		},
	},
	{
		name: "prices that could not be those of cars", url: "/v1/batches?jpyPerUSD=150&onInvalid=skip", headers: csvBody, status: 400, body: thousands,
		has: []string{`"code":"unit_unclear"`, `USD 4.60 in JPY`, `column=スタート価格=startPrice (JPY)`, `"param":"column"`},
	},
	{
		name: "their unit, answered", url: "/v1/batches?dryRun=true&jpyPerUSD=150&column=" + url.QueryEscape("スタート価格=startPrice (1000 JPY)"),
		headers: csvBody, status: 200, body: thousands, has: []string{`"fobPriceUSD":4600`, `"unit":"1000 JPY"`}, hasNot: []string{"questions"},
	},
	{
		name: "their unit, as written", url: "/v1/batches?dryRun=true&jpyPerUSD=150&column=" + url.QueryEscape("スタート価格=startPrice (JPY)"),
		headers: csvBody, status: 200, body: thousands, has: []string{`"fobPriceUSD":4.6`}, hasNot: []string{"questions"},
	},
	{
		name: "what is no car", url: "/v1/batches?dryRun=true", headers: csvBody, status: 200,
		body: "id,reference,link,make,model,year,FOB\n7,=\"001\",https://cars.example/2,TOYOTA,IST,39539,\"6.150,50\"\n" +
			"8,B,,TOYOTA,IST,2005,4.200\nid,reference,link,make,model,year,FOB\n合計 2台,,,,,,10.350\n※ prices FOB,,,,,,\n",
		has: []string{
			`"rows":2,"valid":2,`, `"skippedCount":3,"skippedRows":[{"row":4,"text":"id","reason":"header"},{"row":5,"text":"合計 2台","reason":"total"},` +
				`{"row":6,"text":"※ prices FOB","reason":"note"}]`, `"rows_skipped"`, `{"row":2,"reference":"001","url":"https://cars.example/2"`,
			`"fobPriceUSD":6150.5`, `"reference":"B"`, `"fobPriceUSD":4200`, `"repeatedColumns":["id"]`,
		},
	},
	{
		name: "a row that is no total", url: "/v1/batches?dryRun=true", headers: csvBody, status: 200,
		body: "reference,make,model,year,FOB\nTotal 7,TOYOTA,IST,2005,4200\n9,,,2005,4200\n", has: []string{`"rows":2,"valid":1,`}, hasNot: []string{"skipped"},
	},
	{
		name: "own fields of JSON", url: "/v1/batches?dryRun=true", status: 200,
		body: `{"items":[{"url":"https://cars.example/1","lot":7,"seller":{"name":"a"},"Reference":"A"},{"url":"https://cars.example/2","good":true,"lot":null,"tags":[]},` +
			`{"url":"https://cars.example/3","lot":"=1+1"}],"colour":"red"}`,
		has: []string{
			`{"row":1,"reference":"A","url":"https://cars.example/1","columns":{"lot":"7"}}`, `"url":"https://cars.example/2","columns":{"good":"true"}`,
			`"url":"https://cars.example/3","columns":{"lot":"=1+1"}`, `"field_ignored"`, `items.seller, items.tags, colour`, `"columns_unknown"`, `: lot, good."`,
		},
	},
	{
		name: "own fields of JSON, strictly", url: "/v1/batches?dryRun=true&strict=true", status: 400,
		body: `{"items":[{"url":"https://cars.example/1","refernce":"A"}]}`, has: []string{`"field_unknown"`, `items.refernce`},
	},
	{
		name: "columns that are not read", url: "/v1/batches?dryRun=true", headers: csvBody, status: 200,
		body: "url,Link,Remarks\nhttps://cars.example/1,https://cars.example/2,good\n",
		has:  []string{`"repeatedColumns":["Link"]`, `"unknownColumns":["Remarks"]`, `"columns_repeated"`, `"columns_unknown"`, `"columns":{"Link":"https://cars.example/2","Remarks":"good"}`},
	},
	{
		name: "a price beside a link without a currency", url: "/v1/batches?dryRun=true", headers: csvBody, status: 200,
		body: "url,price,Mwaka\nhttps://cars.example/1,3450,2015\nhttps://cars.example/2,$ 3450,soon\n",
		has:  []string{`"columns_unread"`, `are used: price, Mwaka.`, `"url":"https://cars.example/2","known":{"fobPriceUSD":3450}`},
	},
	{
		name: "a list in Swahili", url: "/v1/batches?dryRun=true", headers: csvBody, status: 200,
		body: "Namba;Gari;Mwaka;Chasisi;CC;Mafuta;Bei (USD)\n1;Toyota Passo;2015;KGC30-1234567;996;Petroli;3.450,00\nJumla;;;;;;3.450,00\n",
		has: []string{
			`"car":{"make":"TOYOTA","model":"PASSO","modelCode":"KGC30","year":2015,"engine_cc":996,"fuel":"PETROL","fobPriceUSD":3450`,
			`"reason":"total"`,
		},
	},
	{
		name: "a row that describes no car", url: "/v1/batches?dryRun=true&onInvalid=skip", headers: csvBody, status: 200,
		body: "url,reference\n,A\n", has: []string{`"code":"url_missing"`, `"retryable":false`},
	},
	{
		name: "cells that cannot be read", url: "/v1/batches", headers: csvBody, status: 400,
		body: "make,model,year,Price,engine_cc\nTOYOTA,IST,soon,,\nTOYOTA,IST,2005,900,\nTOYOTA,IST,2005,,big\n",
		has: []string{
			`{"row":2,"code":"field_invalid","error":"\"year\": \"soon\" cannot be read as year."`, `{"row":3,"code":"field_invalid","error":"\"Price\": it is not said whether \"900\" is in USD or JPY.`,
			`{"row":4,"code":"field_invalid","error":"\"engine_cc\": \"big\" cannot be read as engine_cc."`,
		},
	},
}

// thousands is a list whose prices are in thousands of yen, without a word of it.
const thousands = "車名,型式,年式,スタート価格\nヴィッツ,KSP90,H20,690\nパッソ,KGC10,H21,450\nイスト,NCP60,H15,300\n"

func TestTablesAreUnderstood(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	for _, c := range tableScenarios {
		got := apitest.Send(t, s.Post, apitest.Ask{URL: c.url, Body: c.body, Headers: c.headers})
		if !got.Has(c.status, c.has...) {
			t.Errorf("%s: got %d %s, want %d with %q", c.name, got.Status, got.Body, c.status, c.has)
		}
		for _, piece := range c.hasNot {
			if strings.Contains(got.Body, piece) {
				t.Errorf("%s: got %s, want no %s", c.name, got.Body, piece)
			}
		}
	}
	if found, err := p.Batches.List(t.Context(), "key", "", 10); err != nil || len(found) > 0 {
		t.Errorf("%d batches are stored, %v", len(found), err)
	}
}

// lots is a workbook with three lots, one of them with a URL, and a row without a car.
func lots(t *testing.T) []byte {
	t.Helper()
	f := excelize.NewFile()
	for i, row := range [][]any{
		{"Lots of 26 November"},
		{"Lot", "メーカー", "型式", "年式", "Start (JPY)", "URL", "Remarks"},
		{1, "トヨタ", "DBA-KSP90", 2008, 150000, "", "good"},
		{" "},
		{2, "トヨタ", "DBA-KSP90", 2008, 150000, "", "=1+1"},
		{3, "", "", "", "", "https://cars.example/1", ""},
		{4, "", "", "", 90000, "", "no car"},
	} {
		if err := f.SetSheetRow("Sheet1", fmt.Sprint("A", i+1), &row); err != nil {
			t.Fatal(err)
		}
	}
	var data bytes.Buffer
	if err := f.Write(&data); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

// Every row of a workbook in a form is in exactly one count; the described cars become
// quotes, and the caller's own columns come back.
func TestWorkbookInAForm(t *testing.T) {
	t.Parallel()
	s, _ := newResource(t)
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	options, err := w.CreateFormField("options")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = options.Write([]byte(`{"jpyPerUSD":150,"onInvalid":"skip"}`))
	file, err := w.CreateFormFile("file", "lots.xlsx")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = file.Write(lots(t))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	post := func(form string) apitest.Answer {
		headers := map[string]string{"Content-Type": w.FormDataContentType(), "Idempotency-Key": "one"}
		return apitest.Send(t, await.WithIdempotencyKey(s.Post), apitest.Ask{URL: "/v1/batches", Body: form, Headers: headers})
	}
	got := post(form.String())
	var body struct {
		Rows     int            `json:"rows"`
		Repeated int            `json:"repeated"`
		Counts   map[string]int `json:"counts"`
		Table    struct {
			EmptyRows int `json:"emptyRows"`
			HeaderRow int `json:"headerRow"`
		} `json:"table"`
	}
	if got.Decode(t, &body); got.Status != http.StatusCreated {
		t.Fatal(got)
	}
	sum := 0
	for _, n := range body.Counts {
		sum += n
	}
	if body.Rows != 4 || sum != 4 || body.Repeated != 1 || body.Counts["rejected"] != 1 || body.Table.EmptyRows != 1 || body.Table.HeaderRow != 2 {
		t.Errorf("%s", got.Body)
	}
	if again := post(form.String()); again.Header.Get("Location") != got.Header.Get("Location") {
		t.Errorf("the same form again: %s", again.Body)
	}
	id := path.Base(got.Header.Get("Location"))
	items := apitest.Send(t, s.ListItems, apitest.Ask{URL: "/v1/batches/" + id + "/items", Vars: of(id)})
	for _, want := range []string{
		`{"row":3,"reference":"1","url":"","car":{"make":"TOYOTA","modelCode":"KSP90","rawModelCode":"DBA-KSP90","year":2008,"fobPriceUSD":1000,"yearBasis":"registration"},"priceBasis":"start","state":"waiting","columns":{`,
		`"Remarks":"good"`, `"sameAs":3`, `{"row":6,"reference":"3","url":"https://cars.example/1","state":"waiting","columns":{"Lot":"3"}}`,
		`{"row":7,"reference":"4","url":"","state":"rejected"`, `"code":"url_missing"`,
	} {
		if !strings.Contains(items.Body, want) {
			t.Errorf("no %s in %s", want, items.Body)
		}
	}
	if got := post(strings.Replace(form.String(), `150,`, `151,`, 1)); got.Status != http.StatusUnprocessableEntity {
		t.Errorf("another rate under the same key: %v", got)
	}
}

// workbookOf returns a workbook of sheets in their order, each with its name before its rows.
func workbookOf(t *testing.T, sheets ...[][]any) string {
	t.Helper()
	f := excelize.NewFile()
	for i, rows := range sheets {
		name := fmt.Sprint(rows[0][0])
		if i == 0 {
			if err := f.SetSheetName("Sheet1", name); err != nil {
				t.Fatal(err)
			}
		} else if _, err := f.NewSheet(name); err != nil {
			t.Fatal(err)
		}
		for i, row := range rows[1:] {
			if err := f.SetSheetRow(name, fmt.Sprint("A", i+1), &row); err != nil {
				t.Fatal(err)
			}
		}
	}
	var data bytes.Buffer
	if err := f.Write(&data); err != nil {
		t.Fatal(err)
	}
	return data.String()
}

var workbookBody = map[string]string{"Content-Type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}

// Every sheet with cars is read, under its own columns; a sheet whose columns do not say which
// cars its rows are is named, also when it comes first.
func TestEverySheetWithCarsIsRead(t *testing.T) {
	t.Parallel()
	s, _ := newResource(t)
	list := workbookOf(
		t, [][]any{{"Cover"}, {"Date", "Price"}, {"2026-11-01", "see the lists"}},
		[][]any{{"Links"}, {"url", "Note", "Buyer"}, {"https://cars.example/1", "first", "Asha"}, {"https://cars.example/2"}},
		[][]any{
			{"Aichi"},
			{"Lots of the week"},
			{"Make", "Model", "Year", "Colour", "FOB USD", "Note"},
			{"TOYOTA", "IST", 2005, "red", 1500, "second"},
			{"Total", nil, nil, nil, 1500},
		},
		[][]any{{"Pivot"}, {"Make", "Price"}, {"TOYOTA", 3}}, [][]any{{"Empty"}, {"Make", "Model", "Year"}},
		[][]any{{"Thanks"}, {"Make your bid early"}, {"Thank you"}},
		[][]any{{"Again"}, {"Link"}, {"https://cars.example/2"}},
	)
	got := apitest.Send(t, s.Post, apitest.Ask{URL: "/v1/batches", Body: list, Headers: workbookBody})
	for _, want := range []string{
		`"rows":4,"repeated":1,`, `"sheet":"Links"`, `"furtherSheets":[{"format":"xlsx","sheet":"Aichi","headerRow":2,`,
		`{"column":"Colour","field":"colour"`, `"sheet":"Again"`, `"otherSheets":["Cover","Pivot"]`, `"sheets_not_read"`, "Aichi: 4 (Total)",
	} {
		if !strings.Contains(got.Body, want) {
			t.Errorf("no %s in %s", want, got.Body)
		}
	}
	at := got.Header.Get("Location")
	items := apitest.Send(t, s.ListItems, apitest.Ask{URL: at + "/items", Vars: of(path.Base(at))})
	for _, want := range []string{
		`{"row":2,"sheet":"Links","url":"https://cars.example/1","state":"waiting","columns":{"Buyer":"Asha","Note":"first"}}`,
		`{"row":3,"sheet":"Links",`, `{"row":3,"sheet":"Aichi","url":"","car":{"make":"TOYOTA","model":"IST","year":2005,`,
		`"Colour":"red"`, `"Note":"second"`, `{"row":2,"sheet":"Again","url":"https://cars.example/2","state":"waiting","sameAs":3,"sameAsSheet":"Links"`,
	} {
		if !strings.Contains(items.Body, want) {
			t.Errorf("no %s in %s", want, items.Body)
		}
	}
}

// What is wrong with rows and prices of several sheets names the sheet, and an answer is of the
// column of one sheet.
func TestWhatIsWrongNamesItsSheet(t *testing.T) {
	t.Parallel()
	s, _ := newResource(t)
	list := func(price any) string {
		return workbookOf(
			t, [][]any{{"Dollars"}, {"Make", "Model", "Year", "Price"}, {"TOYOTA", "VITZ", 2008, 4600}},
			[][]any{{"Yen"}, {"Make", "Model", "Year", "Price"}, {"TOYOTA", "IST", 2005, price}},
		)
	}
	send := func(query, body string) apitest.Answer {
		t.Helper()
		return apitest.Send(t, s.Post, apitest.Ask{URL: "/v1/batches?jpyPerUSD=150" + query, Body: body, Headers: workbookBody})
	}
	if got := send("", list("ask us for 3 prices")); !strings.Contains(got.Body, `{"row":2,"sheet":"Yen","code":"field_invalid"`) {
		t.Errorf("a cell that cannot be read: %s", got.Body)
	}
	question := send("&dryRun=true", list(690)).Body
	if !strings.Contains(question, `"questions":[{"sheet":"Yen","column":"Price"`) || !strings.Contains(question, `"answer":"Yen!Price=price (1000 JPY)"`) ||
		strings.Contains(question, `"answer":"Price=`) {
		t.Errorf("no question about the one sheet in %s", question)
	}
	answered := send("&dryRun=true&column="+url.QueryEscape("Yen!Price=price (1000 JPY)"), list(690)).Body
	if strings.Contains(answered, `"questions"`) || !strings.Contains(answered, `"year":2008,"fobPriceUSD":4600`) {
		t.Errorf("the answer of one sheet: %s", answered)
	}
}

// A table of estimates of this day reads only some of their members: what it shows is the same as
// of the whole estimates.
func TestTablesReadAllMembersThatTheyShow(t *testing.T) {
	t.Parallel()
	s, _ := newResource(t)
	estimate := pricedToday(t)
	item := batch.Item{Row: batch.Row{Number: 1, URL: "https://cars.example/1"}, State: batch.Succeeded, Result: estimate}
	for _, format := range resultFormats {
		if format.name != "csv" && format.name != "xlsx" {
			continue
		}
		var written [3]string
		for i := range written {
			var out bytes.Buffer
			writer, err := format.begin(&out, body{}, tableView{View: message.ViewIn("sw"), lines: s.costLines()})
			if err != nil {
				t.Fatal(err)
			}
			table, ok := writer.(tableWriter)
			if i > 0 {
				table.read = map[int]request.Fields{1: request.AllBut("object"), 2: request.Only("object")}[i]
			}
			if err := errors.Join(table.result(item, pricer{costs: s.Costs}), table.end()); err != nil || !ok {
				t.Fatal(err)
			}
			written[i] = out.String()
		}
		if format.name == "csv" && strings.Count(written[0], ",") < 80 {
			t.Errorf("the row of CSV has too few cells: %s", written[0])
		}
		if written[0] == written[2] {
			t.Errorf("%s is the same of an estimate without members: the estimate is calculated again", format.name)
		}
		if written[0] != written[1] {
			t.Errorf("%s differs from that of the whole estimate: got %q, want %q", format.name, written[0], written[1])
		}
	}
}

// pricedToday returns an estimate with everything, as of this day.
func pricedToday(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("../testdata/estimate.json")
	if err != nil {
		t.Fatal(err)
	}
	var e vehicle.Estimate
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	e = cost.Embedded().Apply(e, vehicle.Terms{}, time.Now())
	e.MaxPrice = &vehicle.MaxPrice{TargetTZS: 1}
	if data, err = plainjson.Encode(e); err != nil {
		t.Fatal(err)
	}
	return data
}
