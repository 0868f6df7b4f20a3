package app_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/app"
	"ushuru/pkg/keys"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

// on runs the options on a real Redis.
func on(t *testing.T, o app.Options, url string) app.Options {
	t.Helper()
	conn, err := redisx.Open(t.Context(), redisx.Options{URL: url, AllowLoading: true})
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	o.Redis = conn
	return o
}

// eventually polls a path until it has a status.
func eventually(t *testing.T, url string, want int) {
	t.Helper()
	var got int
	var err error
	testenv.Await(t, fmt.Sprint(url, " answers ", want), func() (any, bool) {
		got, err = status(t.Context(), url)
		return fmt.Sprint(got, " ", err), err == nil && got == want
	})
}

func TestStartWaitsWhileRedisLoads(t *testing.T) {
	server := redistest.Start(t)
	server.RestartLoading(2 * time.Second)
	o := on(t, options(t), server.URL)
	service, err := app.New(o)
	must(t, err)
	t.Cleanup(service.Stop)
	base := "http://" + o.API.Listener.Addr().String()
	started := make(chan error, 1)
	go func() { started <- service.Start(t.Context()) }()
	eventually(t, base+"/readyz", http.StatusServiceUnavailable)
	eventually(t, base+"/healthz", http.StatusOK)
	select {
	case err := <-started:
		t.Errorf("it has started while Redis loads: %v", err)
	default:
	}
	must(t, <-started)
	eventually(t, base+"/readyz", http.StatusOK)
}

func TestNotReadyWhenRedisRefusesWrites(t *testing.T) {
	server := redistest.Start(t)
	o := on(t, options(t), server.URL)
	o.Worker = nil
	service, err := app.New(o)
	must(t, err)
	t.Cleanup(service.Stop)
	must(t, service.Start(t.Context()))
	base := "http://" + o.API.Listener.Addr().String()
	client := o.Redis.Client()
	eventually(t, base+"/readyz", http.StatusOK)

	must(t, client.ConfigSet(t.Context(), "maxmemory", "1").Err()) // OOM
	eventually(t, base+"/readyz", http.StatusServiceUnavailable)
	must(t, client.ConfigSet(t.Context(), "maxmemory", "0").Err())
	eventually(t, base+"/readyz", http.StatusOK)

	must(t, client.Do(t.Context(), "REPLICAOF", "127.0.0.1", "1").Err()) // READONLY
	eventually(t, base+"/readyz", http.StatusServiceUnavailable)
	must(t, client.Do(t.Context(), "REPLICAOF", "NO", "ONE").Err())
	eventually(t, base+"/readyz", http.StatusOK)

	must(t, client.ConfigSet(t.Context(), "min-replicas-to-write", "1").Err()) // NOREPLICAS
	eventually(t, base+"/readyz", http.StatusServiceUnavailable)
	must(t, client.ConfigSet(t.Context(), "min-replicas-to-write", "0").Err())
	eventually(t, base+"/readyz", http.StatusOK)
}

// A caller that waits gets its response at the end of the delay, and until then
// the port is open.
func TestNotReadyBeforeTheListenerCloses(t *testing.T) {
	o := options(t)
	o.Worker, o.API.DrainDelay = nil, 1500*time.Millisecond
	key, _, err := keys.NewStore(o.Redis.Client()).Create(t.Context(), "test")
	must(t, err)
	service, err := app.New(o)
	must(t, err)
	must(t, service.Start(t.Context()))
	t.Cleanup(service.Stop)
	address := o.API.Listener.Addr().String()

	conn, err := net.Dial("tcp", address)
	must(t, err)
	defer func() { _ = conn.Close() }()
	body := `{"url":"https://www.beforward.jp/toyota/axio/bx1/id/1/"}`
	_, err = conn.Write([]byte("POST /v1/estimate HTTP/1.1\r\nHost: x\r\nX-Api-Key: " + key +
		"\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body))
	must(t, err)
	testenv.Await(t, "the job of the request", func() (any, bool) {
		found, err := o.Redis.Client().Keys(t.Context(), "job:{*").Result()
		must(t, err)
		return found, len(found) > 0
	})

	stopped := make(chan time.Time, 1)
	begun := time.Now()
	go func() {
		service.Stop()
		stopped <- time.Now()
	}()
	eventually(t, "http://"+address+"/readyz", http.StatusServiceUnavailable)
	if code, err := status(t.Context(), "http://"+address+"/healthz"); err != nil || code != http.StatusOK {
		t.Errorf("during the delay: %d, %v", code, err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	waited := time.Since(begun)
	if response.StatusCode != http.StatusGatewayTimeout || response.Header.Get("Location") == "" || waited < o.API.DrainDelay {
		t.Errorf("status %d, location %q after %v", response.StatusCode, response.Header.Get("Location"), waited)
	}
	<-stopped
	if _, err := status(t.Context(), "http://"+address+"/healthz"); err == nil {
		t.Error("the port is open after Stop")
	}
}

// What is answered with 202 is on the replica, or it is 503.
func TestAcknowledgedWorkIsOnAReplica(t *testing.T) {
	testenv.Long(t)
	set := redistest.Sentinel(t)
	o := on(t, options(t), set.URL)
	o.Worker, o.API.WaitReplicas = nil, 1
	key, _, err := keys.NewStore(o.Redis.Client()).Create(t.Context(), "test")
	must(t, err)
	service, err := app.New(o)
	must(t, err)
	t.Cleanup(service.Stop)
	must(t, service.Start(t.Context()))
	base := "http://" + o.API.Listener.Addr().String()
	post := func(path, body string) int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+path, strings.NewReader(body))
		must(t, err)
		request.Header.Set("X-Api-Key", key)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Prefer", "respond-async")
		response, err := http.DefaultClient.Do(request)
		must(t, err)
		must(t, response.Body.Close())
		return response.StatusCode
	}
	both := func(estimate, batch int) {
		t.Helper()
		const listing = `https://www.beforward.jp/toyota/axio/bx1/id/1/`
		if got := post("/v1/estimate", `{"url":"`+listing+`"}`); got != estimate {
			t.Errorf("estimate: %d, want %d", got, estimate)
		}
		if got := post("/v1/batches", `{"urls":["`+listing+`"]}`); got != batch {
			t.Errorf("batch: %d, want %d", got, batch)
		}
	}
	both(http.StatusAccepted, http.StatusCreated)
	set.Replica.Kill()
	both(http.StatusServiceUnavailable, http.StatusServiceUnavailable)
}
