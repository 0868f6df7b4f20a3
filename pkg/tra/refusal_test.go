package tra_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/tratest"
)

func TestARefusalPausesThisProcessAndNoOther(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		const pause = 2 * time.Second // longer than a busy machine takes for these calls
		var log bytes.Buffer
		f := newFixture(t, conn, tratest.Options{Faults: tratest.Faults{RefuseRegion: true}},
			tra.AuthorityOptions{BreakerTimeout: pause, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if _, err := f.Makes(t.Context()); kind(err) != tra.Refused {
			t.Fatalf("the first call: %v", err)
		}
		for range 3 {
			_, err := f.Makes(t.Context())
			paused, ok := errors.AsType[*tra.ThrottleError](err)
			if !ok || paused.Reason != tra.JustRefused || paused.RetryAfter <= 0 || paused.RetryAfter > pause {
				t.Errorf("after the refusal: %v", err)
			}
		}
		if lines := strings.Count(log.String(), "level=ERROR"); lines != 1 || f.calls() != 1 {
			t.Errorf("%d errors logged, %d calls:\n%s", lines, f.calls(), log.String())
		}
		_, elsewhere := simulated(t, tratest.Options{})
		other := tra.NewAuthority(elsewhere, f.store, tra.AuthorityOptions{})
		if _, err := other.Makes(t.Context()); err != nil {
			t.Errorf("a worker elsewhere: %v", err)
		}
		f.server.SetFaults(tratest.Faults{})
		testenv.Await(t, "the end of the pause", func() (any, bool) {
			_, err := f.Makes(t.Context())
			return err, err == nil
		})
	})
}

func TestAProbeThatIsAnsweredEndsThePause(t *testing.T) {
	t.Parallel()
	conn := redistest.Embedded(t)
	f := newFixture(t, conn, tratest.Options{Faults: tratest.Faults{RefuseRegion: true, Next: 1}}, tra.AuthorityOptions{})
	if _, err := f.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Makes(t.Context()); err == nil {
		t.Error("a refused probe pauses nothing")
	}
	if _, err := f.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Makes(t.Context()); err != nil {
		t.Errorf("after a probe that was answered: %v", err)
	}
}
