package lab

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/testenv"
)

func TestLineMeasuresAFarWorker(t *testing.T) {
	testenv.Binary(t, "redis-server")
	t.Parallel()
	var out bytes.Buffer
	err := Line(t.Context(), &out, LineOptions{
		Log: slog.New(slog.DiscardHandler), Progress: t.Output(),
		Faults:    LineFaults{Delay: 30 * time.Millisecond, Jitter: 5 * time.Millisecond, Rate: 4_000_000, Reset: 3 * time.Second},
		Authority: 2 * time.Millisecond, Concurrency: 16,
		People: 2, Rows: 20, Vehicles: 4, Rate: 100, New: 8, Pause: 100 * time.Millisecond, Idle: 500 * time.Millisecond,
	})
	if err != nil || !strings.Contains(out.String(), "0, 0           0, 0   0, 0") || !strings.Contains(out.String(), "idle traffic") {
		t.Errorf("%v\n%s", err, out.String())
	}
	t.Log(out.String())
}
