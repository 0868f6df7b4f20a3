package evaluate

import "testing"

func TestReadYearOfTheFormsOnPages(t *testing.T) {
	for cell, want := range map[string]int{
		"2017": 2017, "2017/7": 2017, "2017.07": 2017, "201707": 2017, "Jul 2017": 2017, "07-2017": 2017, "２０１７年": 2017,
		"平成29年": 2017, "平成２９年７月": 2017, "H29": 2017, "H29.7": 2017, "令和元年": 2019, "R2": 2020, "昭和63年": 1988,
		"": 0, "N/A": 0, "29": 0, "7161960": 0, "20171234567": 0,
	} {
		if got := readYear(cell); got != want {
			t.Errorf("%q: %d, want %d", cell, got, want)
		}
	}
}

func TestReadCCOfTheFormsOnPages(t *testing.T) {
	for cell, want := range map[string]int{
		"1490": 1490, "1,490cc": 1490, "1,490 cc": 1490, "1490 CC": 1490, "１４９０ｃｃ": 1490, "1.5L": 1500, "1.5 L": 1500, "2.0": 2000,
		"660": 660, "0.66L": 660, "12,800cc": 12800, "1500cc (80 kW)": 1500, "996 cm3": 996,
		"": 0, "-": 0, "110kW": 0, "62 kWh": 0, "150 PS": 0, "0": 0,
	} {
		if got := readCC(cell); got != want {
			t.Errorf("%q: %d, want %d", cell, got, want)
		}
	}
}
