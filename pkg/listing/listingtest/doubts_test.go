package listingtest_test

import (
	"strings"
	"testing"

	"ushuru/pkg/fetch"
	"ushuru/pkg/listing"
	"ushuru/pkg/listing/listingtest"
)

func TestPagesThatCanBeMisreadAreReadAsTheySay(t *testing.T) {
	url, client := site(t, fetch.Options{})
	for _, doubt := range listingtest.Doubts() {
		page := get(t, client, url+doubt.Path())
		if !strings.Contains(string(page.Body), "SIMULATED") {
			t.Error("the page does not say that it is simulated")
		}
		read, err := listing.Read(t.Context(), page)
		if err != nil {
			t.Fatal(err)
		}
		car := read.Car
		rows := map[string]string{}
		for _, row := range doubt.Rows {
			rows[row[0]] = row[1]
		}
		year := (rows["YOM"] + rows["Year of manufacture"])
		if year = year[:min(4, len(year))]; year != "" && (car.Manufacture == "" || car.Manufacture[:4] != year) || year == "" && car.Year != 0 {
			t.Errorf("%s: year %d by %q, want %s", doubt.Ref, car.Year, car.YearBasis, year)
		}
		if doubt.Price == 0 && car.FOBPriceUSD != nil || doubt.Price != 0 && (car.FOBPriceUSD == nil || car.FOBPriceUSD.Decimal().IntPart() != int64(doubt.Price)) {
			t.Errorf("%s: price %v, want %d", doubt.Ref, car.FOBPriceUSD, doubt.Price)
		}
		if car.StockNo != doubt.Ref || car.Model != strings.ToUpper(doubt.Model) {
			t.Errorf("%s: %+v", doubt.Ref, car)
		}
	}
}
