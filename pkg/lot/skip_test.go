package lot_test

import (
	"fmt"
	"strings"
	"testing"

	"ushuru/pkg/lot"
)

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
