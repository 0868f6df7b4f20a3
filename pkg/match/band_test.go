package match

import (
	"errors"
	"math"
	"testing"

	"ushuru/pkg/vehicle"
)

func TestParseCapacityReadsEveryForm(t *testing.T) {
	for text, want := range map[string]capacity{
		"1001 - 1500 CC":     {1001, 1500},
		"1,001-1,500cc":      {1001, 1500},
		"1001 – 1500 CC":     {1001, 1500},
		"1001 TO 1500":       {1001, 1500},
		"10001 - 12000 CC":   {10001, 12000},
		"ABOVE 2500 CC":      {2500, math.MaxInt},
		"OVER 3000":          {3000, math.MaxInt},
		"2501+":              {2501, math.MaxInt},
		"2501 CC AND ABOVE":  {2501, math.MaxInt},
		"2501":               {2501, math.MaxInt}, // the older form's top band
		"UP TO 1000 CC":      {0, 1000},
		"BELOW 1000":         {0, 1000},
		"1000 CC AND BELOW":  {0, 1000},
		"LESS THAN 1000 CC":  {0, 1000},
		"NOT EXCEEDING 1000": {0, 1000},
	} {
		if got, ok := parseCapacity(text); !ok || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "CC", "ELECTRIC", "1500 - 1001 CC", "1 - 2 - 3"} {
		if got, ok := parseCapacity(text); ok {
			t.Errorf("%q: %v, want none", text, got)
		}
	}
}

func TestPickBandIncludesBothBounds(t *testing.T) {
	bands := []string{"ABOVE 2500 CC", "1501 - 2000 CC", "2001 - 2500 CC", "UP TO 1500 CC", "?"}
	for cc, want := range map[int]string{
		658: bands[3], 1500: bands[3], 1501: bands[1], 2000: bands[1], 2001: bands[2], 2500: bands[2], 2501: bands[0], 12000: bands[0],
	} {
		if got, adjusted, err := pickBand(vehicle.Car{EngineCC: cc}, 0, bands); got != want || adjusted != nil || err != nil {
			t.Errorf("%d cc: %q, %v, %v; want %q", cc, got, adjusted, err, want)
		}
	}
	_, _, err := pickBand(vehicle.Car{EngineCC: 1200}, 0, []string{"?"})
	if refused, ok := errors.AsType[*Error](err); !ok || refused.Code != noCapacityBand {
		t.Errorf("a band that cannot be read: %v", err)
	}
}

func FuzzParseCapacity(f *testing.F) {
	f.Add("1001 - 1500 CC")
	f.Add("UP TO 99999999999 CC")
	f.Fuzz(func(t *testing.T, text string) {
		if c, ok := parseCapacity(text); ok && (c.low < 0 || c.low > c.high) {
			t.Errorf("%q: %v", text, c)
		}
	})
}
