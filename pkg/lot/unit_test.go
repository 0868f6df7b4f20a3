package lot_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/xuri/excelize/v2"

	"ushuru/pkg/lot"
	"ushuru/pkg/table"
)

var yen = decimal.NewFromInt(150) // for a dollar

// sheetOf returns a workbook with rows from the first on, and with merged cells.
func sheetOf(t *testing.T, rows [][]any, merged ...string) []byte {
	t.Helper()
	f := excelize.NewFile()
	for i, row := range rows {
		if err := f.SetSheetRow("Sheet1", fmt.Sprint("A", i+1), &row); err != nil {
			t.Fatal(err)
		}
	}
	for _, cells := range merged {
		from, to, _ := strings.Cut(cells, ":")
		if err := f.MergeCell("Sheet1", from, to); err != nil {
			t.Fatal(err)
		}
	}
	var data bytes.Buffer
	if err := f.Write(&data); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

func mappingOf(t *testing.T, texts ...string) lot.Mapping {
	t.Helper()
	mapping, wrong, ok := lot.ParseMapping(texts)
	if !ok {
		t.Fatalf("%q is no field", wrong)
	}
	return mapping
}

// readList reads a whole table, and returns the prices of its first row and what must be
// asked.
func readList(t *testing.T, data []byte, mapping lot.Mapping) (prices string, questions []lot.Question) {
	t.Helper()
	file, err := table.Open(data, "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := file.Next(table.Options{MaxRows: 100, IsColumn: mapping.IsColumn, IsUnit: lot.IsUnit})
	if err != nil {
		t.Fatal(err)
	}
	columns := lot.NewColumns(lot.Header{Names: r.Header, Above: r.Above, Merged: r.Merged, Title: r.Sheet}, mapping)
	for first := true; ; first = false {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return prices, columns.Questions(yen, false)
		}
		if err != nil {
			t.Fatal(err)
		}
		car := columns.Read(row.Cells)
		for _, p := range car.Problems {
			t.Logf("row %d: %+v", row.Number, p)
			prices = fmt.Sprintf("%s !%s=%s", prices, p.Column, p.Value)
		}
		for _, p := range car.Prices {
			if first {
				prices = strings.TrimSpace(fmt.Sprint(prices, " ", p.Kind, " ", p.Amount, " ", p.Currency))
			}
		}
	}
}

// A list tells in many ways in which unit its prices are. Each gives the true price of its
// first car, ¥690,000 or USD 4,600, and no question.
func TestUnitsOfLists(t *testing.T) {
	t.Parallel()
	const inYen, dollars = "start 690000 JPY", "fob 4600 USD"
	cars := func(header, price, more string) string {
		return header + "\nVITZ,KSP90,2008," + price + "\nPASSO,KGC10,2009," + more + "\n"
	}
	for name, c := range map[string]struct{ list, want string }{
		"thousands in the name":          {cars("Model,Code,Year,スタート価格(千円)", "690", "450"), inYen},
		"full width":                     {cars("Model,Code,Year,スタート価格（１，０００円）", "６９０", "450"), inYen},
		"ten thousands":                  {cars("Model,Code,Year,Start (万円)", "69", "45"), inYen},
		"hundreds":                       {cars("Model,Code,Year,スタート 百円", "6900", "4500"), inYen},
		"a power without a currency":     {cars("Model,Code,Year,スタート(千)", "690", "450"), inYen},
		"a Japanese power, of FOB":       {cars("Model,Code,Year,FOB (千)", "690", "450"), "fob 690000 JPY"},
		"a Japanese power in the cells":  {cars("Model,Code,Year,FOB", "69万", "45万"), "fob 690000 JPY"},
		"K before the currency":          {cars("Model,Code,Year,Start KJPY", "690", "450"), inYen},
		"k behind the currency":          {cars("Model,Code,Year,Start [¥k]", "690", "450"), inYen},
		"zeros":                          {cars(`Model,Code,Year,Start (JPY '000)`, "690", "450"), inYen},
		"zeros and an s":                 {cars(`Model,Code,Year,Start ¥000s`, "690", "450"), inYen},
		"a factor":                       {cars(`Model,Code,Year,Start JPY x1000`, "690", "450"), inYen},
		"a factor with a comma":          {cars(`Model,Code,Year,"Start price (¥1,000)"`, "690", "450"), inYen},
		"words":                          {cars(`Model,Code,Year,Start price in thousands of yen`, "690", "450"), inYen},
		"ten thousand in words":          {cars(`Model,Code,Year,Start (ten thousand yen)`, "69", "45"), inYen},
		"romanised":                      {cars(`Model,Code,Year,Start (man-yen)`, "69", "45"), inYen},
		"Swahili":                        {cars(`Model,Code,Year,Bei ya kuanzia (maelfu ya yeni)`, "690", "450"), inYen},
		"underscores":                    {cars(`Model,Code,Year,start_price_thousand_yen`, "690", "450"), inYen},
		"yen, whole":                     {cars(`Model,Code,Year,Start (JPY)`, "690000", "450000"), inYen},
		"no unit, but prices of cars":    {cars(`Model,Code,Year,Start`, "690000", "450000"), inYen},
		"the same of a hammer price":     {cars(`Model,Code,Year,Hammer`, "690000", "450000"), "hammer 690000 JPY"},
		"the same of a Japanese price":   {cars(`Model,Code,Year,価格`, "690000", "450000"), "fob 690000 JPY"},
		"the same of a seller":           {cars(`Model,Code,Year,C&F`, "4600", "3000"), "cf 4600 USD"},
		"a price of no known currency":   {cars(`Model,Code,Year,Price`, "690000", "450000"), " !Price=690000 !Price=450000"},
		"a currency column":              {cars("Model,Code,Year,Currency,Price", "千円,690", "千円,450"), "fob 690000 JPY"},
		"a currency column, with a k":    {cars("Model,Code,Year,Currency,Price", "K JPY,690", "K JPY,450"), "fob 690000 JPY"},
		"a unit column":                  {cars("Model,Code,Year,通貨,単位,Start", "円,千,690", "円,千,450"), inYen},
		"a unit column beside a group":   {cars("Model,Code,Year,Unit,Start", "1000 JPY,690", "1000 JPY,450"), inYen},
		"in the cells":                   {cars("Model,Code,Year,Start", "690千円,", "45万円"), inYen},
		"in the cells, K":                {cars("Model,Code,Year,Start", "¥690K,", "450K"), inYen},
		"a sign in the cells":            {cars("Model,Code,Year,Start (千円)", "¥690", "¥450"), inYen},
		"a title":                        {"Lots of 26 November (単位：千円)\n\n" + cars("Model,Code,Year,Start", "690", "450"), inYen},
		"a sentence":                     {"\"Sale 1017, all prices in thousands of yen\"\n" + cars("Model,Code,Year,Start", "690", "450"), inYen},
		"a sentence in Swahili":          {"Bei zote ni kwa maelfu ya yeni\n" + cars("Model,Code,Year,Start", "690", "450"), inYen},
		"a title in two cells":           {"TAA Chiba,,,\nUnit:,\"1,000 JPY\"\n" + cars("Model,Code,Year,Start", "690", "450"), inYen},
		"a group":                        {",,,Price (JPY 千円)\n" + cars("Model,Code,Year,Start", "690", "450"), inYen},
		"a group to the left":            {",,,Price (JPY 千円),\n" + cars("Model,Code,Year,Hammer,Start", ",690", ",450"), inYen},
		"units below the names":          {"Model,Code,Year,Start\n,,年,千円\nVITZ,KSP90,2008,690\nPASSO,KGC10,2009,450\n", inYen},
		"a group of another column":      {",,,Odometer (千km),\n" + cars("Model,Code,Year,Mileage,Start", "85,690000", "90,450000"), inYen},
		"an amount in a sentence":        {"\"Entry fee 10,000円 a bid, prices as listed\",,,\n" + cars("Model,Code,Year,Start", "690000", "450000"), inYen},
		"a town of a thousand leaves":    {"千葉会場 価格一覧\n" + cars("Model,Code,Year,Start", "690000", "450000"), inYen},
		"thousands of cars":              {"\"Thousands of cars! Prices in USD\"\n" + cars("Model,Code,Year,Price", "4600", "3000"), dollars},
		"dollars in a title":             {"All prices in USD\n" + cars("Model,Code,Year,Price", "4600", "3000"), dollars},
		"thousands of dollars":           {cars("Model,Code,Year,FOB (USD '000)", "4.6", "3.1"), dollars},
		"the caller's own unit":          {cars("Model,Code,Year,Preis", "690", "450"), inYen},
		"a cheap list, in a named power": {cars("Model,Code,Year,Start (千円)", "20", "25"), "start 20000 JPY"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, questions := readList(t, []byte(c.list), mappingOf(t, "Preis=startPrice (1000 JPY)"))
			if got != c.want || len(questions) > 0 {
				t.Errorf("got %s, want %s; questions %+v", got, c.want, questions)
			}
		})
	}
}

// Merged cells of workbooks are the names of groups and of columns.
func TestUnitsOfMergedCells(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows   [][]any
		merged []string
		want   string
	}{
		"a group": {[][]any{
			{"", "", "", "Price (JPY 千円)", "", ""},
			{"Model", "Code", "Year", "Hammer", "Start", "C&F"},
			{"VITZ", "KSP90", 2008, "", 690, 5200},
		}, []string{"D1:E1"}, "cf 5200 USD start 690000 JPY"},
		"names over two rows": {[][]any{
			{"Model", "Code", "Year", "価格(千円)", "", "Remarks"},
			{"", "", "", "スタート", "落札", ""},
			{"VITZ", "KSP90", 2008, 690, 720, ""},
		}, []string{"A1:A2", "B1:B2", "C1:C2", "D1:E1", "F1:F2"}, "hammer 720000 JPY start 690000 JPY"},
		"a title over all": {[][]any{
			{"TAA Kinki, in thousands of yen", "", "", ""},
			{"Model", "Code", "Year", "Start"},
			{"VITZ", "KSP90", 2008, 690},
		}, []string{"A1:D1"}, "start 690000 JPY"},
		"a group of dollars beside one of yen": {[][]any{
			{"Car", "", "", "US$", "", "千円", ""},
			{"Model", "Code", "Year", "FOB", "C&F", "Hammer", "Start"},
			{"VITZ", "KSP90", 2008, 4100, 5200, 720, 690},
		}, []string{"A1:C1", "D1:E1", "F1:G1"}, "cf 5200 USD fob 4100 USD hammer 720000 JPY start 690000 JPY"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, questions := readList(t, sheetOf(t, c.rows, c.merged...), nil)
			if got != c.want || len(questions) > 0 {
				t.Errorf("got %s, want %s; questions %+v", got, c.want, questions)
			}
		})
	}
}

// Prices that could not be those of cars, and units that may be another column's, are asked
// for. Each answer gives what it promises, and no further question.
func TestUnitsThatAreAskedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		list string
		want string // the units of the readings
		usd  string // of the first row, by reading
	}{
		"thousands without a word": {"Model,Code,Year,スタート価格\nVITZ,KSP90,2008,690\nPASSO,KGC10,2009,450\nIST,NCP60,2003,300\n", "JPY, USD, 1000 JPY, 10000 JPY", "4.60, 690.00, 4600.00, 46000.00"},
		"yen, but of what power":   {"Model,Code,Year,Start (JPY)\nVITZ,KSP90,2008,690\n", "JPY, 1000 JPY, 10000 JPY", "4.60, 4600.00, 46000.00"},
		"ten thousands":            {"Model,Code,Year,Start\nVITZ,KSP90,2008,69\n", "JPY, 1000 USD, 1000 JPY, 10000 JPY", ""},
		"dollars in thousands":     {"Model,Code,Year,FOB ($)\nVITZ,KSP90,2008,4.6\n", "USD, 1000 USD", "4.60, 4600.00"},
		"yen as dollars":           {"Model,Code,Year,FOB\nVITZ,KSP90,2008,690000\n", "USD, JPY", "690000.00, 4600.00"},
		"yen as thousands":         {"Model,Code,Year,Start (千円)\nVITZ,KSP90,2008,690000\n", "1000 JPY, JPY", "4600000.00, 4600.00"},
		"a group that may end":     {",,,Price (千円),\nModel,Code,Year,Start,C&F\nVITZ,KSP90,2008,690,5200\n", "1000 JPY, USD", "34666.67, 5200.00"},
		"an absurd price":          {"Model,Code,Year,Start\nVITZ,KSP90,2008,999999999999999\nPASSO,KGC10,2009,3\nIST,NCP60,2003,3\n", "JPY, 1000 USD, 10000 JPY", ""},
		"one row of many is low":   {"Model,Code,Year,Start\nVITZ,KSP90,2008,690\nVITZ,KSP90,2008,690000\nPASSO,KGC10,2008,690000\n", "", ""},
		"of listings":              {"url,Start\nhttps://cars.example/1,690\n", "", ""},
		"the seller's price":       {"Model,Code,Year,FOB,Start\nVITZ,KSP90,2008,4600,690\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, questions := readList(t, []byte(c.list), nil)
			if c.want == "" && len(questions) == 0 {
				return
			}
			if len(questions) != 1 {
				t.Fatalf("got %+v, want one question", questions)
			}
			q := questions[0]
			var read lot.Question
			if data, err := json.Marshal(q); err != nil || json.Unmarshal(data, &read) != nil || !reflect.DeepEqual(q, read) {
				t.Errorf("got %+v, %v, want to read %+v again", read, err, q)
			}
			var units, usd []string
			for _, r := range q.Readings {
				units, usd = append(units, r.Unit), append(usd, r.FirstUSD[0])
				_, again := readList(t, []byte(c.list), mappingOf(t, r.Answer))
				if len(again) > 0 {
					t.Errorf("after %s: %+v", r.Answer, again)
				}
			}
			if got := strings.Join(units, ", "); got != c.want {
				t.Errorf("got readings %s, want %s", got, c.want)
			}
			if got := strings.ReplaceAll(strings.Join(usd, ", "), "\u00a0", ""); c.usd != "" && strings.ReplaceAll(got, ",", "") != strings.ReplaceAll(c.usd, ",", "") {
				t.Errorf("got %s, want %s", got, c.usd)
			}
		})
	}
}
