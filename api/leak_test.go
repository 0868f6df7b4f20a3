package api_test

import (
	"context"
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"ushuru/pkg/redisx/redistest"
)

// TestNoGoroutineIsLeft makes a server that has done all it can do, and
// closes it.
func TestNoGoroutineIsLeft(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Run("server", func(t *testing.T) {
		conn := redistest.Embedded(t)
		a := newApp(t, conn, monitored)
		a.work(t)
		visit("queues", http.MethodGet, "/monitoring/api/queues", 200).run(t, a)
		for _, s := range []scenario{estimate("a", "/1"), estimate("b", noMatch)} {
			s.status = map[string]int{"a": 200, "b": 422}[s.name]
			s.run(t, a)
		}
		s := estimate("left waiting", hangs)
		s.headers, s.status = prefer("wait=0"), 202
		s.run(t, a)

		ctx, leave := context.WithCancel(t.Context())
		for _, path := range []string{"/v1/jobs/" + a.submit(t, hangs), "/v1/batches/" + batchOf("w")(t, a)} {
			_, events := a.listen(t, ctx, path+"/events", "")
			next(t, events)
		}
		leave()
		spinUntil(func() bool { return a.hub.Waiting() == 0 })
	})
	goleak.VerifyNone(t, before)
}
