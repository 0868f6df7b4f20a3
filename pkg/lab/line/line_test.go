package line

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/testenv"
)

func TestMeasuresTheLineToAFarWorker(t *testing.T) {
	testenv.Binary(t, "redis-server")
	t.Parallel()
	var out bytes.Buffer
	numbers, err := Measure(t.Context(), &out, Options{
		Log: slog.New(slog.DiscardHandler), Progress: t.Output(),
		Faults:    Faults{Delay: 30 * time.Millisecond, Jitter: 5 * time.Millisecond, Rate: 4_000_000, Reset: 3 * time.Second},
		Authority: 2 * time.Millisecond, Concurrency: 16,
		People: 2, Rows: 20, Vehicles: 4, Rate: 100, New: 8, Pause: 100 * time.Millisecond, Idle: 500 * time.Millisecond,
	})
	if err != nil || len(numbers) != 4 || !strings.Contains(out.String(), "0, 0           0, 0   0, 0") || !strings.Contains(out.String(), "idle traffic") {
		t.Errorf("%v\n%s", err, out.String())
	}
	t.Log(out.String())
}
