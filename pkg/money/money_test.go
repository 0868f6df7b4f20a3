package money_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"ushuru/pkg/money"
)

func TestAmountIsWrittenAsTheAuthorityWritesIt(t *testing.T) {
	t.Parallel()
	for exact, want := range map[string]string{
		"0":               "0.00",
		"7":               "7.00",
		"999.995":         "1,000.00",
		"914.625":         "914.63", // half up, where half-even says .62
		"153.125":         "153.13",
		"6512672.4850746": "6,512,672.49",
		"123456789012.3":  "123,456,789,012.30",
		"-1234.5":         "-1,234.50",
		"100":             "100.00",
	} {
		data, err := json.Marshal(money.New(decimal.RequireFromString(exact)))
		if err != nil || string(data) != `"`+want+`"` {
			t.Errorf("%s: %s, %v; want %q", exact, data, err, want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2,439.00": "2439", "609.75": "609.75", "\t0.00": "0", "7162672.49": "7162672.49", "-3": "-3", "+1,000": "1000",
	} {
		got, err := money.Parse(text)
		if err != nil || !got.Decimal().Equal(decimal.RequireFromString(want)) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "-", "ASK", "1e9", "1,23.00", "12,3456", "1.2.3", "0x10", "NaN", "1 000", "१२", "1,234,", ".5",
		strings.Repeat("9", 40),
	} {
		if got, err := money.Parse(text); !errors.Is(err, money.ErrInvalid) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestNumberIsAPlainNumber(t *testing.T) {
	t.Parallel()
	var prices struct {
		FOB *money.Number `json:"fob"`
		CF  *money.Number `json:"cf"`
	}
	const body = `{"fob":6180.50,"cf":null}`
	if err := json.Unmarshal([]byte(body), &prices); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(prices)
	if err != nil || string(data) != `{"fob":6180.5,"cf":null}` {
		t.Fatalf("%s, %v", data, err)
	}
	if err := json.Unmarshal([]byte(`{"fob":"6180"}`), &prices); !errors.Is(err, money.ErrInvalid) {
		t.Fatalf("a string was read as a number: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"1,234.56", "-0.005", "999999999999999", "1e5"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		amount, err := money.Parse(text)
		if err != nil {
			return
		}
		again, err := money.Parse(amount.String())
		if err != nil || again.String() != amount.String() {
			t.Fatalf("%q: %s, then %s, %v", text, amount, again, err)
		}
	})
}
