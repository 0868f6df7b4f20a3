package bench

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

func TestTripsMeasuresAListing(t *testing.T) {
	testenv.Long(t)
	var out bytes.Buffer
	numbers, err := Trips(t.Context(), &out, BatchOptions{
		Redis: redistest.Open(t, redistest.Start(t).URL), Log: slog.New(slog.DiscardHandler),
		Listings: 30, Window: 20, Interactive: 2,
	})
	if err != nil || len(numbers) == 0 || strings.Count(out.String(), "round trips:") != 3 || !strings.Contains(out.String(), "a listing of a batch") {
		t.Errorf("%v, %s", err, out.String())
	}
}
