package lot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ushuru/pkg/lot"
)

// What names of columns mean, in the forms of auction houses and exporters.
func TestNamesOfColumns(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"url": "url", "URL": "url", "Link": "url", "Reference": "reference", "Stock ID": "reference", "Ref. No.": "reference",
		"Maker": "make", "メーカー": "make", "車名": "model", "Model": "model", "型式": "modelCode", "Model Code": "modelCode",
		"車台番号": "chassis", "Chassis No.": "chassis", "グレード": "version", "Grade": "version", "Auction Grade": "score",
		"評価点": "score", "年式": "registration", "初度登録": "registration", "year": "year", "Year": "registration",
		"Reg. Year/Month": "registration", "YOM": "year", "Mfg. Year": "year", "製造年": "year", "モデル年式": "modelYear",
		"排気量": "engine_cc", "排気量(cc)": "engine_cc", "Engine CC": "engine_cc", "engine_cc": "engine_cc", "Displacement": "engine_cc",
		"燃料": "fuel", "走行": "mileage_km", "走行(千km)": "mileage_km", "Mileage (km)": "mileage_km", "ボディタイプ": "bodyType",
		"スタート価格": "startPrice", "スタート（千円）": "startPrice 1000 JPY", "開始価格(円)": "startPrice JPY", "Start Price (JPY)": "startPrice JPY",
		"落札価格(万円)": "hammerPrice 10000 JPY", "Sold price": "hammerPrice", "startPriceJPY": "startPrice JPY", "fobPriceUSD": "fobPrice USD",
		"FOB (US$)": "fobPrice USD", "cfPriceUSD": "cfPrice USD", "C&F": "cfPrice", "Price ($)": "price USD", "価格": "price", "Price": "price",
		"M3": "m3", "出品番号": "lot", "Lot No": "lot", "会場": "house", "known.year": "known.year", "modelBody": "modelBody",
		"備考": "", "Remarks": "", "Old price": "", "Interior": "",
	} {
		column := lot.NewColumns(lot.Header{Names: []string{name}}, nil).All()[0]
		if got := strings.TrimSpace(column.Field + " " + column.Unit); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// describe returns a row as it was understood in one line.
func describe(r lot.Row) string {
	parts := []string{r.URL, r.Reference, r.Make, r.Model, r.ModelCode, r.Version}
	if r.Year != 0 {
		parts = append(parts, fmt.Sprint(r.Year, " ", r.YearBasis))
	}
	if r.EngineCC != 0 {
		parts = append(parts, fmt.Sprint(r.EngineCC, " cc"))
	}
	parts = append(parts, r.Fuel, r.BodyType, r.M3)
	for _, p := range r.Prices {
		parts = append(parts, fmt.Sprint(p.Kind, " ", p.Amount, " ", p.Currency))
	}
	for _, p := range r.Problems {
		parts = append(parts, fmt.Sprintf("!%s=%s", p.Column, p.Value))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

func TestRows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ header, cells, want string }{
		"a Japanese auction": {
			"出品番号|車名|グレード|型式|年式|排気量|燃料|走行|評価点|スタート価格(千円)", "10023|プリウス|S|DAA-ZVW30|H24.5|1800|ハイブリッド|85千km|4|350",
			"10023, TOYOTA, PRIUS, DAA-ZVW30, S, 2012 registration, 1800 cc, HYBRID, start 350000 JPY",
		},
		"in full width": {
			"メーカー|車名|型式|年式|スタート", "トヨタ|カローラフィールダー|ＤＢＡ－ＮＺＥ１４１Ｇ　改|平成２０年|￥１５０，０００",
			"TOYOTA, COROLLA FIELDER, DBA-NZE141G, 2008 registration, start 150000 JPY",
		},
		"an exporter": {
			"Ref No.|Make|Model|Model Code|Year|Engine|Fuel|FOB Price (USD)|C&F|M3", "AB12|Toyota|Vitz|DBA-KSP90|2008/4|990cc|Petrol|$1,550|2,890|9.8",
			"AB12, TOYOTA, VITZ, DBA-KSP90, 2008 registration, 990 cc, Petrol, 9.8, cf 2890 USD, fob 1550 USD",
		},
		"a frame number":          {"Model|Chassis|year", "FIT|GE6-1234567|2010", "HONDA, FIT, GE6, 2010 manufacture"},
		"make and model in one":   {"車名|型式|年式", "日産 ノート|DBA-E11|H20", "NISSAN, NOTE, DBA-E11, 2008 registration"},
		"the API's own names":     {"make|model|year|yearBasis|engine_cc|startPriceJPY", "TOYOTA|IST|2005|registration|1300|200000", "TOYOTA, IST, 2005 registration, 1300 cc, start 200000 JPY"},
		"both years":              {"make|model|YOM|年式", "TOYOTA|IST|2004|H17", "TOYOTA, IST, 2004 manufacture"},
		"the hammer":              {"型式|年式|スタート|落札価格", "KSP90|H20|100,000円|12.5万円", "TOYOTA, KSP90, 2008 registration, hammer 125000 JPY, start 100000 JPY"},
		"placeholders":            {"make|model|year|fuel|Start Price|排気量", "TOYOTA|IST|2005|-|ASK|0", "TOYOTA, IST, 2005 manufacture"},
		"a grade of an inspector": {"make|model|year|Grade", "TOYOTA|IST|2005|4.5", "TOYOTA, IST, 2005 manufacture"},
		"a currency for itself":   {"make|model|year|Price|Currency", "TOYOTA|IST|2005|2000|USD", "TOYOTA, IST, 2005 manufacture, fob 2000 USD"},
		"no currency":             {"make|model|year|Price", "TOYOTA|IST|2005|2000", "TOYOTA, IST, 2005 manufacture, !Price=2000"},
		"another currency":        {"make|model|year|FOB", "TOYOTA|IST|2005|€2000", "TOYOTA, IST, 2005 manufacture, !FOB=€2000"},
		"not understood":          {"make|model|year|排気量|FOB|M3", "TOYOTA|IST|old|big|2,000 or less|x", "TOYOTA, IST, !year=old, !排気量=big, !M3=x, !FOB=2,000 or less"},
		"a URL":                   {"Link|Lot No", "https://x/1|7", "https://x/1, 7"},
	} {
		columns := lot.NewColumns(lot.Header{Names: strings.Split(c.header, "|")}, nil)
		if got := describe(columns.Read(strings.Split(c.cells, "|"))); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, c.want)
		}
	}
}

func TestColumnsThatAreNotRead(t *testing.T) {
	t.Parallel()
	header := []string{"URL", "Link", "備考", "Color", "", "Modell", "Preis", "Year"}
	mapping, _, ok := lot.ParseMapping([]string{"preis=startPrice (千円)", "Year=", "Modell=model"})
	c := lot.NewColumns(lot.Header{Names: header}, mapping)
	if fmt.Sprint(c.Duplicate, c.Unknown) != "[Link] [備考 Year]" || !ok {
		t.Errorf("%v, %v, %v", c.Duplicate, c.Unknown, ok)
	}
	cells := []string{"https://x/1", "https://x/2", "Note", "red", "?", "IST", "250", "2001"}
	if got := describe(c.Read(cells)); got != "https://x/1, TOYOTA, IST, start 250000 JPY" {
		t.Error(got)
	}
	own := fmt.Sprint(c.Own(), c.OwnCells(cells))
	if own != "[Link 備考 Color Modell Preis Year] [https://x/2 Note red IST 250 2001]" {
		t.Error(own)
	}
	for _, wrong := range []string{"colour", "b", "=model", ""} {
		texts := []string{"a=model", strings.Replace(wrong, "colour", "b=colour", 1), "c=year"}
		if _, got, ok := lot.ParseMapping(texts); ok || got != wrong {
			t.Errorf("%q: got %q %v, want %q", texts, got, ok, wrong)
		}
	}
}

// A mapping names fields by our own names, also those that a row is not read from; what others
// call a field may mean several.
func TestFieldsOfMappings(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]bool{
		"year": true, "Year": false, "registration": true, "house": true, "mileage_km": true, "MAKE": true, "known.year": true,
		"fobPriceUSD": true, "price (千円)": true, "priceCandidates": true, "Stock ID": false, "colour": false, "1000 JPY": false,
	} {
		if _, _, ok := lot.ParseMapping([]string{"a=" + field}); ok != want {
			t.Errorf("%s: %v, want %v", field, ok, want)
		}
	}
}

// A mapping of one sheet leaves the columns of other sheets as they are.
func TestMappingOfOneSheet(t *testing.T) {
	t.Parallel()
	mapping := mappingOf(t, "Two!fob価格=fobPrice (JPY)")
	for sheet, want := range map[string]string{"One": "[fob価格]", "Two": "[FOB]"} {
		columns := lot.NewColumns(lot.Header{Names: []string{"FOB", "fob価格"}, Title: sheet}, mapping)
		if got := fmt.Sprint(columns.Duplicate); got != want {
			t.Errorf("%s: not read are %s, want %s", sheet, got, want)
		}
	}
}

func TestALongURLIsNotCut(t *testing.T) {
	t.Parallel()
	url := "https://www.example.com/" + strings.Repeat("a", 4000)
	columns := lot.NewColumns(lot.Header{Names: []string{"URL", "Reference"}}, nil)
	if row := columns.Read([]string{" " + url + " ", "-"}); row.URL != url || row.Reference != "" {
		t.Errorf("%d bytes, reference %q", len(row.URL), row.Reference)
	}
}

// Totals, notes and repeated names are no cars; whatever names a car is one.
func TestRowsThatAreNoCars(t *testing.T) {
	t.Parallel()
	columns := lot.NewColumns(lot.Header{Names: []string{"Ref", "Make", "Model", "Year", "FOB", "Remarks"}}, nil)
	for row, want := range map[string]string{
		"Total|||||":                              lot.SkippedTotal,
		"||||9000|":                               "",
		"|||Grand Total|9000|":                    lot.SkippedTotal,
		"合計|||2|9000|":                            lot.SkippedTotal,
		"|Total: 12 cars|||9000|":                 lot.SkippedTotal,
		"Total 7|TOYOTA|IST|2005|4200|":           "",
		"Totally fine|||2005||":                   "",
		"計画|||2005||":                             "",
		"Ref|Make|Model|Year|FOB|Remarks":         lot.SkippedHeader,
		"ref|make|model|||":                       lot.SkippedHeader,
		"※ 価格は千円単位|||||":                          lot.SkippedNote,
		"Note: prices exclude VAT|||||":           lot.SkippedNote,
		"All prices are in thousands of yen|||||": lot.SkippedNote,
		"LOT 9|||||":                              "",
		"||COROLLA FIELDER HYBRID G WxB|||":       "",
	} {
		if got := columns.Skip(strings.Split(row, "|")); got != want {
			t.Errorf("%s: got %q, want %q", row, got, want)
		}
	}
}

// A note below the rows about the unit of prices makes it a question.
func TestANoteBelowTheRowsAboutTheUnit(t *testing.T) {
	t.Parallel()
	names := []string{"Model", "Code", "Year", "Start"}
	columns := lot.NewColumns(lot.Header{Names: names}, nil)
	columns.Read([]string{"VITZ", "KSP90", "2008", "69000"})
	if got := columns.Questions(yen, false); len(got) > 0 {
		t.Fatalf("got %+v, want no question", got)
	}
	columns.Note([]string{"All prices are in thousands of yen", "", "", ""})
	if got := columns.Questions(yen, false); len(got) != 1 {
		t.Errorf("got %+v, want a question", got)
	}
}

// The numbers of a column show together which mark stands before the cents.
func TestCommasAndPointsOfAColumn(t *testing.T) {
	t.Parallel()
	for cells, want := range map[string]string{
		"6.150,50|4.200":      "6150.5 4200",
		"6.150|4.200":         "6150 4200",
		"6150,5|4200":         "6150.5 4200",
		"1.250.000|900.000":   "1250000 900000",
		"6,150.50|4,200":      "6150.5 4200",
		"6 150|4'200":         "6150 4200",
		"$6.150,50|USD 4.200": "6150.5 4200",
		"6.150|4,200.50":      "! 4200.5", // both marks: what 6.150 is, is not certain
	} {
		var got []string
		var commas []int
		for range 2 {
			columns := lot.NewColumns(lot.Header{Names: []string{"Model", "FOB"}}, nil)
			columns.UseCommas(commas)
			got = nil
			for cell := range strings.SplitSeq(cells, "|") {
				car := columns.Read([]string{"VITZ", cell})
				if len(car.Prices) == 0 {
					got = append(got, "!")
					continue
				}
				got = append(got, car.Prices[0].Amount.String())
			}
			commas = columns.Commas()
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", cells, got, want)
		}
	}
}

func TestTheVeryNameOfAFieldComesFirst(t *testing.T) {
	t.Parallel()
	columns := lot.NewColumns(lot.Header{Names: []string{"id", "reference", "link", "url", "Hersteller", "Modell", "year"}}, nil)
	got := describe(columns.Read([]string{"7", "A", "https://x/1", "https://x/2", "Toyota", "Vitz", "39539"}))
	if want := "https://x/2, A, TOYOTA, VITZ, 2008 manufacture"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A table of results is the list that it came from: what we found is not known of the listings,
// and comes back no second time.
func TestATableOfResultsIsTheListAgain(t *testing.T) {
	t.Parallel()
	ours := "row|reference|url|ushuru_state|code|reason|make|model|modelCode|version|year|engine_cc|fuel|fobPriceUSD|modelBody|car_price|registration|warnings"
	for name, c := range map[string]struct{ own, cells, want, columns string }{
		"a listing": {"|state", "2|A|https://x/1|succeeded|||TOYOTA|VITZ|KSP90|F|2008|1000|PETROL|2000|VITZ - KSP90|5300000|450000||new", "https://x/1, A", "[state]"},
		"a car of JSON": {
			"", "3|B||succeeded|||TOYOTA|VITZ|KSP90|F|2008|1000|PETROL|2000|VITZ - KSP90|5300000|450000|",
			"B, TOYOTA, VITZ, KSP90, F, 2008 manufacture, 1000 cc, PETROL, fob 2000 USD", "[]",
		},
		"a car of own columns": {
			"|車名|年式|Start (千円)", "4|C||failed|no_match|None.|||||2010||||||||パッソ|H21|300",
			"C, TOYOTA, PASSO, 2009 registration, start 300000 JPY", "[車名 年式 Start (千円)]",
		},
	} {
		columns := lot.NewColumns(lot.Header{Names: strings.Split(ours+c.own, "|")}, nil)
		if got := describe(columns.Read(strings.Split(c.cells, "|"))); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
		if got := fmt.Sprint(columns.Own()); got != c.columns || len(columns.Duplicate)+len(columns.Unknown) > len(strings.Split(c.own, "|"))-1 {
			t.Errorf("%s: got own columns %s, want %s; repeated %v, unknown %v", name, got, c.columns, columns.Duplicate, columns.Unknown)
		}
	}
}
