package api_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"ushuru/api/problem"
	"ushuru/pkg/connlimit"
	"ushuru/pkg/testenv"
)

var rawRequests = flag.Int("contract.raw", testenv.Pick(300, 60), "requests of TestRawRequestsAreAnsweredInJSON")

// rawRequest are bytes of HTTP that the fuzz changes. KEY stands for a good key.
var rawRequest = []string{
	"GET /v1/jobs/x HTTP/1.1\r\nHost: a\r\nX-Api-Key: KEY\r\nConnection: close\r\n\r\n",
	"POST /v1/estimate HTTP/1.1\r\nHost: a\r\nX-Api-Key: KEY\r\nPrefer: respond-async\r\nContent-Type: application/json\r\nContent-Length: 32\r\nConnection: close\r\n\r\n{\"url\":\"https://cars.example/1\"}",
	"POST /v1/batches?dryRun=true HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\nContent-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nurl\n\r\n1a\r\nhttps://cars.example/12345\r\n0\r\n\r\n",
	"GET /v1/batches?limit=5 HTTP/1.0\r\nX-Api-Key: KEY\r\n\r\n",
	"PATCH /v1/webhooks/x HTTP/1.1\r\nHost: a\r\nX-Api-Key: KEY\r\nContent-Length: 2\r\n\r\n{}",
	"PUT /e/abc HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
	"GET /openapi.json HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n",
	"OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
	"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n",
}

// rawTokens are put in between.
var rawTokens = []string{
	"\x00", "%zz", "\r\n", "\n", " ", ":", "Content-Length: 9\r\n", "Transfer-Encoding: gzip\r\n", "Transfer-Encoding: chunked\r\n",
	"Expect: 200-ok\r\n", "Expect: 100-continue\r\n", "Host: b\r\n", "HTTP/9.9", "\xff\xfe", strings.Repeat("A", 9000),
	"Cookie: " + strings.Repeat("a", 70000) + "\r\n", "//", "?", "#", "Upgrade: h2c\r\n", "Content-Encoding: br\r\n",
	"Content-Encoding: gzip\r\n", "Content-Length: 99999999999999999999\r\n", "Prefer: wait=1\r\n", "0\r\n\r\n", "\u202e",
}

// mutated returns a request with up to three changes.
func mutated(g *rand.Rand, request string) []byte {
	raw := []byte(request)
	for range 1 + g.IntN(3) {
		at := g.IntN(len(raw) + 1)
		switch n := g.IntN(10); {
		case n < 6:
			raw = slices.Insert(raw, at, []byte(rawTokens[g.IntN(len(rawTokens))])...)
		case n < 8:
			raw = slices.Delete(raw, at, min(len(raw), at+1+g.IntN(8)))
		case at < len(raw):
			raw[at] = byte(g.IntN(256))
		}
	}
	return raw
}

// Whatever the bytes of a request are, what they are answered with is JSON with a promised
// status. 20,000 requests and other seeds: make contract.
func TestRawRequestsAreAnsweredInJSON(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), nil)
	var config net.ListenConfig
	open, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{
		Handler: a.api, ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog:  slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		ConnState: connlimit.ConnState, ConnContext: connlimit.ConnContext,
	}
	go func() { _ = server.Serve(connlimit.Listen(open, connlimit.Options{Translate: problem.Translate})) }()
	t.Cleanup(func() { _ = server.Close() })
	g, statuses := rand.New(rand.NewPCG(*fuzzSeed, 3)), map[int]int{}
	for range *rawRequests {
		raw := mutated(g, strings.ReplaceAll(rawRequest[g.IntN(len(rawRequest))], "KEY", a.key))
		for _, status := range sendRaw(t, open.Addr().String(), raw) {
			statuses[status]++
		}
		if t.Failed() {
			break
		}
	}
	t.Logf("seed %d, answers by status: %v", *fuzzSeed, statuses)
	if *rawRequests >= 300 && (statuses[http.StatusBadRequest] == 0 || statuses[http.StatusNotFound] == 0 || statuses[http.StatusOK] == 0) {
		t.Error("the requests are all of one kind")
	}
}

// sendRaw sends bytes and checks the responses to them, whose statuses it returns; 0 for
// none.
func sendRaw(t *testing.T, address string, raw []byte) (statuses []int) {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	_, _ = conn.Write(raw) // the server may have refused the first bytes
	if half, ok := conn.(*net.TCPConn); ok {
		_ = half.CloseWrite()
	}
	shown := fmt.Sprintf("%.300q", raw)
	for r := bufio.NewReader(conn); ; {
		response, err := http.ReadResponse(r, nil)
		if err != nil {
			if len(statuses) == 0 {
				statuses = append(statuses, 0)
			}
			if netErr, ok := err.(net.Error); ok && netErr.Timeout() { //nolint:errorlint // as it is read
				t.Errorf("%s: not answered", shown)
			}
			return statuses
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		statuses = append(statuses, response.StatusCode)
		promised := []int{http.StatusNotImplemented, http.StatusHTTPVersionNotSupported, http.StatusServiceUnavailable, http.StatusGatewayTimeout}
		if response.StatusCode >= http.StatusInternalServerError && !slices.Contains(promised, response.StatusCode) {
			t.Errorf("%s: %d %s", shown, response.StatusCode, body)
		}
		if response.StatusCode >= http.StatusBadRequest && (response.Header.Get("Content-Type") != "application/json" || !json.Valid(body)) {
			t.Errorf("%s: %d, not in JSON: %v %.300q", shown, response.StatusCode, response.Header, body)
		}
	}
}
