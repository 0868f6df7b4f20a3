// Package lottest makes lists of cars in the forms of auction houses and exporters. Names
// of columns are public, everything below them is invented.
package lottest

import (
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"

	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding/japanese"
)

// car is a car that lists are made of.
type car struct {
	makeJP, make, nameJP, name, code string
	cc, from, to                     int
	fuelJP, fuel                     string
	price                            int // thousand yen of a car in its first year here
}

// cars are common ones, with public facts.
var cars = []car{
	{"トヨタ", "TOYOTA", "プリウス", "PRIUS", "DAA-ZVW30", 1800, 2009, 2015, "ハイブリッド", "Hybrid", 450},
	{"トヨタ", "TOYOTA", "カローラフィールダー", "COROLLA FIELDER", "DAA-NKE165", 1500, 2013, 2022, "ハイブリッド", "Hybrid", 650},
	{"トヨタ", "TOYOTA", "カローラアクシオ", "COROLLA AXIO", "DBA-NZE141", 1500, 2007, 2012, "ガソリン", "Petrol", 300},
	{"トヨタ", "TOYOTA", "ヴィッツ", "VITZ", "DBA-KSP90", 1000, 2005, 2010, "ガソリン", "Petrol", 180},
	{"トヨタ", "TOYOTA", "ハリアー", "HARRIER", "DBA-ZSU60W", 2000, 2013, 2020, "ガソリン", "Petrol", 1500},
	{"トヨタ", "TOYOTA", "ノア", "NOAH", "DBA-ZRR70G", 2000, 2007, 2013, "ガソリン", "Petrol", 500},
	{"日産", "NISSAN", "ノート", "NOTE", "DBA-E12", 1200, 2012, 2020, "ガソリン", "Petrol", 350},
	{"日産", "NISSAN", "エクストレイル", "X-TRAIL", "DBA-NT31", 2000, 2007, 2013, "ガソリン", "Petrol", 550},
	{"ホンダ", "HONDA", "フィット", "FIT", "DBA-GE6", 1300, 2007, 2013, "ガソリン", "Petrol", 250},
	{"マツダ", "MAZDA", "デミオ", "DEMIO", "DBA-DE3FS", 1300, 2007, 2014, "ガソリン", "Petrol", 220},
	{"スバル", "SUBARU", "フォレスター", "FORESTER", "DBA-SH5", 2000, 2007, 2012, "ガソリン", "Petrol", 480},
	{"スズキ", "SUZUKI", "スイフト", "SWIFT", "DBA-ZC72S", 1200, 2010, 2017, "ガソリン", "Petrol", 280},
}

// Forms are the forms of lists.
var Forms = []string{"uss.xlsx", "taa.csv", "exporter.xlsx"}

// Write writes a list of n cars in one of the forms, the same for the same seed. One in
// fifty has a year that cannot be read, one in forty no price.
func Write(w io.Writer, form string, n int, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, uint64(len(form)))) //nolint:gosec // cars, not keys
	rows := make([][]any, 0, n+3)
	switch form {
	case "uss.xlsx":
		rows = append(rows, []any{"USS東京 第1123回 2026年11月26日"}, nil, []any{
			"出品番号", "車名", "グレード", "型式", "年式", "排気量", "シフト", "走行(千km)", "色", "評価点", "内装", "スタート金額(千円)",
		})
	case "taa.csv":
		rows = append(rows, []any{"出品番号", "メーカー", "車種", "型式", "初度登録年月", "排気量(cc)", "燃料", "走行距離", "評価点", "開始価格(円)", "備考"})
	default:
		rows = append(rows, []any{
			"Ref No.", "Make", "Model", "Model Code", "Chassis No.", "Year/Month",
			"Engine Size", "Fuel", "Mileage", "M3", "FOB Price (USD)", "Location",
		})
	}
	for i := range n {
		rows = append(rows, row(form, i, random))
	}
	if form == "taa.csv" {
		return writeCSV(w, rows)
	}
	return writeXLSX(w, rows)
}

func row(form string, i int, random *rand.Rand) []any {
	c := cars[random.IntN(len(cars))]
	year := c.from + random.IntN(c.to-c.from+1)
	month, km := 1+random.IntN(12), 20+random.IntN(130)
	price := c.price * (60 + random.IntN(60)) / 100 * (100 - 4*(2024-year)/2) / 100
	score := []string{"R", "3", "3.5", "4", "4", "4.5"}[random.IntN(6)]
	colour := []string{"パール", "黒", "シルバー", "紺", "赤"}[random.IntN(5)]
	era := fmt.Sprintf("H%d", year-1988)
	if year > 2018 {
		era = fmt.Sprintf("R%d", year-2018)
	}
	if i%50 == 49 {
		era = "不明"
	}
	start := strconv.Itoa(price)
	if i%40 == 39 {
		start = "-"
	}
	switch form {
	case "uss.xlsx":
		return []any{10001 + i, c.makeJP + " " + c.nameJP, "", c.code, era, c.cc, "AT", km, colour, score, "B", start}
	case "taa.csv":
		yen := "-"
		if start != "-" {
			yen = strconv.Itoa(price*1000) + "円"
		}
		return []any{
			20001 + i, c.makeJP, c.nameJP, c.code, fmt.Sprintf("%s.%d", era, month),
			c.cc, c.fuelJP, fmt.Sprintf("%d,000km", km), score, yen, "ナビ",
		}
	}
	usd := any(price*1000/150 + 600)
	if i%40 == 39 {
		usd = "ASK"
	}
	shown := fmt.Sprintf("%d/%02d", year, month)
	if i%50 == 49 {
		shown = "N/A"
	}
	return []any{
		fmt.Sprintf("EX%05d", i), c.make, c.name, c.code, fmt.Sprintf("%s-%07d", c.code[4:], random.IntN(9_999_999)), shown,
		fmt.Sprintf("%dcc", c.cc), c.fuel, fmt.Sprintf("%d,000 km", km), 10.5, usd, "YOKOHAMA",
	}
}

func writeCSV(w io.Writer, rows [][]any) error {
	out := csv.NewWriter(japanese.ShiftJIS.NewEncoder().Writer(w))
	out.UseCRLF = true
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = fmt.Sprint(cell)
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func writeXLSX(w io.Writer, rows [][]any) error {
	book := excelize.NewFile()
	defer func() { _ = book.Close() }()
	for i, row := range rows {
		if err := book.SetSheetRow("Sheet1", "A"+strconv.Itoa(i+1), &row); err != nil {
			return err
		}
	}
	return book.Write(w)
}
