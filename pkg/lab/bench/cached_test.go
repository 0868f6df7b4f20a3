package bench

import (
	"bytes"
	"strings"
	"testing"

	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

func TestCachedEstimateCostsOneRead(t *testing.T) {
	testenv.Long(t)
	var out bytes.Buffer
	numbers, err := Cached(t.Context(), &out, CachedOptions{
		Redis: redistest.Open(t, redistest.Start(t).URL), Requests: 1000, Callers: 4,
	})
	if err != nil || len(numbers) == 0 || !strings.Contains(out.String(), "ratio:") {
		t.Fatalf("%v, %s", err, out.String())
	}
	_, ours, _ := strings.Cut(out.String(), "cached estimates:")
	if !strings.Contains(ours, " 1.0") { // GETs, with the few a second of the key and the workers
		t.Errorf("more than one read for each answer: %s", out.String())
	}
}
