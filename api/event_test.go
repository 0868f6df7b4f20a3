package api_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ushuru/api"
	"ushuru/pkg/batch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx/redistest"
)

// sse is one event, or a comment, as it came.
type sse struct{ id, name, data, comment string }

// opened is how a stream began.
type opened struct {
	status int
	header http.Header
}

// listen opens a stream of events; what comes is on the channel, which is
// closed with the stream.
func (a *app) listen(t *testing.T, ctx context.Context, path, last string) (opened, <-chan sse) { //nolint:revive // t first, as everywhere
	t.Helper()
	r := a.request(t, http.MethodGet, path, "").WithContext(ctx) //nolint:contextcheck // here it is given
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	response, err := http.DefaultTransport.RoundTrip(r) //nolint:bodyclose // the reader below closes it
	if err != nil {
		t.Fatal(err)
	}
	events := make(chan sse, 100)
	go func() {
		defer close(events)
		defer response.Body.Close()
		var now sse
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "id":
				now.id = value
			case "event":
				now.name = value
			case "data":
				now.data = value
			case "":
				if value != "" {
					now.comment = value
				}
				if now != (sse{}) {
					events <- now
				}
				now = sse{}
			}
		}
	}()
	return opened{response.StatusCode, response.Header}, events
}

func next(t *testing.T, events <-chan sse) sse {
	t.Helper()
	select {
	case e, ok := <-events:
		if !ok {
			t.Fatal("the stream ended")
		}
		return e
	case <-time.After(20 * time.Second):
		t.Fatal("no event")
	}
	return sse{}
}

func TestJobEvents(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	id := a.submit(t, "/followed")
	path := "/v1/jobs/" + id + "/events"
	response, events := a.listen(t, t.Context(), path, "")
	if h := response.header; response.status != http.StatusOK || h.Get("Content-Type") != "text/event-stream" ||
		h.Get("X-Accel-Buffering") != "no" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", response.status, h)
	}
	first := next(t, events)
	if first.name != "progress" || first.id == "" || !strings.Contains(first.data, `"state":"queued"`) {
		t.Errorf("first %+v", first)
	}
	if _, _, err := a.jobs.Claim(t.Context(), id, "scrape", 1, "w", "c"); err != nil {
		t.Fatal(err)
	}
	second := next(t, events)
	if second.id == first.id || !strings.Contains(second.data, `{"name":"scrape","state":"running",`) {
		t.Errorf("second %+v", second)
	}
	if err := a.end(t.Context(), id, succeeded(estimateOf(site+"/followed"))); err != nil {
		t.Fatal(err)
	}
	if err := a.tasks.Advance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	end := next(t, events)
	if end.name != "end" || !strings.Contains(end.data, `"result":`+shown(string(estimateOf(site+"/followed")))) {
		t.Errorf("end %+v", end)
	}
	if more, ok := <-events; ok {
		t.Errorf("after the end: %+v", more)
	}
	if n := a.hub.Waiting(); n != 0 {
		t.Errorf("%d still wait", n)
	}

	// A client that reconnects gets only the events that it does not have.
	_, events = a.listen(t, t.Context(), path, second.id)
	if again := next(t, events); again != end {
		t.Errorf("%+v, want the end", again)
	}
	scenario{url: path, headers: map[string]string{"Last-Event-ID": end.id}, status: 204}.run(t, a)
	scenario{url: path, status: 200, has: []string{"event: end\ndata: {"}}.run(t, a)
	scenario{url: path, method: http.MethodHead, status: 200}.run(t, a)
	scenario{url: "/v1/jobs/01JAB2C3D4E5F6G7H8J9K0M1N2/events", status: 404, has: []string{"job_not_found"}}.run(t, a)
}

func TestStreamKeepAliveAndEnd(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.KeepAlive = 10 * time.Millisecond })
	id := a.submit(t, hangs)
	path := "/v1/jobs/" + id + "/events"
	ctx, leave := context.WithCancel(t.Context())
	_, events := a.listen(t, ctx, path, "")
	known := next(t, events)
	if e := next(t, events); e.comment != "here" {
		t.Errorf("%+v, want a comment", e)
	}
	leave()
	spinUntil(func() bool { return a.hub.Waiting() == 0 })

	_, events = a.listen(t, t.Context(), path, known.id)
	if e := next(t, events); e.comment != "here" {
		t.Errorf("%+v: an event was sent twice", e)
	}
	a.api.Drain()
	for e := range events {
		if e.name != "" {
			t.Errorf("%+v", e)
		}
	}
	if job, err := a.jobs.Get(t.Context(), id); err != nil || job.State != jobs.Queued {
		t.Errorf("the job did not go on: %+v, %v", job, err)
	}
}

func TestOpenStreamsPerKey(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	path := "/v1/jobs/" + a.submit(t, hangs) + "/events"
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	for range 20 {
		_, events := a.listen(t, ctx, path, "")
		next(t, events)
	}
	scenario{url: path, status: 429, has: []string{`"code":"too_many_streams"`}, want: map[string]string{"Retry-After": "30"}}.run(t, a)
	leave()
	spinUntil(func() bool { return a.hub.Waiting() == 0 })
	again, stop := context.WithCancel(t.Context())
	defer stop()
	_, events := a.listen(t, again, path, "")
	next(t, events)
}

func TestBatchEvents(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	store := batch.NewStore(a.conn.Client())
	id := batchOf("www")(t, a)
	path := "/v1/batches/" + id + "/events"
	response, events := a.listen(t, t.Context(), path, "")
	if h := response.header; response.status != http.StatusOK || h.Get("Content-Type") != "text/event-stream" || h.Get("X-Accel-Buffering") != "no" {
		t.Errorf("%d %v", response.status, h)
	}
	first := next(t, events)
	if first.name != "progress" || !strings.Contains(first.data, `"running":0,"succeeded":0,"waiting":3`) {
		t.Errorf("first %+v", first)
	}
	if _, err := store.ClaimRows(t.Context(), id, 2); err != nil {
		t.Fatal(err)
	}
	second := next(t, events)
	if second.name != "progress" || second.id == first.id || !strings.Contains(second.data, `"running":2,"succeeded":0,"waiting":1`) {
		t.Errorf("second %+v", second)
	}
	if _, err := store.Succeed(t.Context(), id, 0, estimateOf(site+"/1")); err != nil {
		t.Fatal(err)
	}
	third := next(t, events)
	if !strings.Contains(third.data, `"running":1,"succeeded":1,"waiting":1`) {
		t.Errorf("third %+v", third)
	}
	scenario{method: http.MethodDelete, url: "/v1/batches/" + id, status: 200}.run(t, a)
	end := next(t, events)
	if end.name != "end" || !strings.Contains(end.data, `"state":"cancelled"`) || !strings.Contains(end.data, `"cancelled":2,"failed":0`) {
		t.Errorf("end %+v", end)
	}
	if more, ok := <-events; ok {
		t.Errorf("after the end: %+v", more)
	}

	// A client that reconnects gets only the events that it does not have.
	_, events = a.listen(t, t.Context(), path, third.id)
	if again := next(t, events); again != end {
		t.Errorf("%+v, want the end", again)
	}
	scenario{url: path, headers: map[string]string{"Last-Event-ID": end.id}, status: 204}.run(t, a)
	scenario{url: path, method: http.MethodHead, status: 200}.run(t, a)

	// After a retry the batch runs again.
	scenario{method: http.MethodPost, url: "/v1/batches/" + id + "/retry", status: 200}.run(t, a)
	_, events = a.listen(t, t.Context(), path, end.id)
	if again := next(t, events); again.name != "progress" || !strings.Contains(again.data, `"state":"running"`) {
		t.Errorf("tried again: %+v", again)
	}
	scenario{method: http.MethodDelete, url: "/v1/batches/" + id, status: 200}.run(t, a)
	if again := next(t, events); again.name != "end" {
		t.Errorf("cancelled: %+v", again)
	}
	spinUntil(func() bool { return a.hub.Waiting() == 0 })
}

// How fast a batch goes is another answer every moment, and no event.
func TestUnchangedBatchHasNoEvents(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.KeepAlive = 10 * time.Millisecond })
	path := "/v1/batches/" + batchOf("swr")(t, a) + "/events"
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	_, events := a.listen(t, ctx, path, "")
	first := next(t, events)
	if !strings.Contains(first.data, `"perSecond":`) {
		t.Fatalf("%+v", first)
	}
	for range 30 {
		if e := next(t, events); e.comment != "here" {
			t.Fatalf("%+v after %+v", e, first)
		}
	}
	_, events = a.listen(t, ctx, path, first.id)
	if e := next(t, events); e.comment != "here" {
		t.Errorf("%+v: an event was sent twice", e)
	}
}

// The server's limits are for callers who dawdle, not for answers that go on.
func TestStreamsOutliveTheTimeoutsOfTheServer(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.KeepAlive = 20 * time.Millisecond })
	const limit = time.Second // longer than a busy machine takes for a request
	strict := httptest.NewUnstartedServer(a.api)
	strict.Config.ReadHeaderTimeout, strict.Config.ReadTimeout, strict.Config.WriteTimeout = limit, limit, limit
	strict.Start()
	t.Cleanup(strict.Close) // after the end of the test's context, which ends its streams
	b := *a
	b.Server = strict
	job, batchID := a.submit(t, hangs), batchOf("w")(t, a)

	// The limits are in force: an answer that comes late does not.
	r := b.request(t, http.MethodGet, "/v1/jobs/"+job, "")
	r.Header.Set("Prefer", "wait=3")
	if late, err := http.DefaultTransport.RoundTrip(r); err == nil {
		_ = late.Body.Close()
		t.Fatalf("%d after the limit", late.StatusCode)
	}

	started := time.Now()
	_, ofJob := b.listen(t, t.Context(), "/v1/jobs/"+job+"/events", "")
	_, ofBatch := b.listen(t, t.Context(), "/v1/batches/"+batchID+"/events", "")
	streams := []<-chan sse{ofJob, ofBatch}
	for time.Since(started) < 3*limit {
		for _, events := range streams {
			next(t, events)
		}
	}
	if err := a.tasks.Cancel(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if err := batch.NewStore(a.conn.Client()).Cancel(t.Context(), batchID); err != nil {
		t.Fatal(err)
	}
	for i, events := range streams {
		last := sse{}
		for e := range events {
			last = e
		}
		if last.name != "end" {
			t.Errorf("stream %d ended with %+v", i, last)
		}
	}
}

func TestManyStreamsAreOneSubscription(t *testing.T) {
	t.Parallel()
	conn := redistest.Open(t, redistest.Start(t).URL)
	a := newApp(t, conn, nil)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	for _, path := range []string{"/v1/jobs/" + a.submit(t, hangs) + "/events", "/v1/batches/" + batchOf("w")(t, a) + "/events"} {
		for range 10 {
			_, events := a.listen(t, ctx, path, "")
			next(t, events)
		}
	}
	clients, err := conn.Client().Do(t.Context(), "CLIENT", "LIST", "TYPE", "pubsub").Text()
	if n := strings.Count(clients, "id="); err != nil || n != 1 {
		t.Errorf("%d connections that subscribe, %v:\n%s", n, err, clients)
	}
	leave()
	spinUntil(func() bool { return a.hub.Waiting() == 0 })
}
