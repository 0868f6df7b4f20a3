package api_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ushuru/api"
	"ushuru/pkg/testenv"
)

// TestLargeBodiesCountBeforeTheyAreRead: a body that is refused costs a request.
func TestLargeBodiesCountBeforeTheyAreRead(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.Limits.PerMinute = 2 })
	huge := `{"urls":[` + strings.Repeat("0,", 1<<20) + "0]}"
	for i, want := range []int{400, 400, 429} {
		if got := a.send(t, a.request(t, http.MethodPost, "/v1/batches", huge)); got.status != want {
			t.Errorf("request %d: %d %.200s", i, got.status, got.body)
		}
	}
}

// TestLargeBodiesTakePlaces: those of one key are a few at a time, and another key has
// a place at once.
func TestLargeBodiesTakePlaces(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	a := newApp(t, embedded(t), nil)
	server := httptest.NewServer(a.api)
	defer server.Close()
	other, _, err := a.keys.Create(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	begin := func() net.Conn {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_, _ = fmt.Fprintf(conn, "POST /v1/batches HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\n"+
			"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n{", a.key, 1<<20)
		return conn
	}
	const count, admitted = 31, 24 // four have a place and twenty wait
	refused := make(chan string, count)
	for range count {
		conn := begin()
		go func() {
			_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			answer, _ := io.ReadAll(io.LimitReader(conn, 12))
			refused <- string(answer)
		}()
	}
	for i := range count - admitted {
		if got := <-refused; got != "HTTP/1.1 429" {
			t.Fatalf("request %d of the same key that is answered: %q", i, got)
		}
	}
	r := a.request(t, http.MethodPost, "/v1/batches", `{"urls":["https://cars.example/1"],"x":"`+strings.Repeat("x", 100<<10)+`"}`)
	r.Header.Set("X-Api-Key", other)
	begun := time.Now()
	if got := a.send(t, r); got.status != http.StatusCreated || time.Since(begun) > 10*time.Second {
		t.Errorf("another key: %d after %v", got.status, time.Since(begun))
	}
}
