package problem_test

import (
	"bufio"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"ushuru/api/problem"
	"ushuru/pkg/connlimit"
)

// TestNetHTTPAnswersWithJSON over raw sockets: what net/http refuses before any handler is
// called, and one request that it does not refuse.
func TestNetHTTPAnswersWithJSON(t *testing.T) {
	t.Parallel()
	var config net.ListenConfig
	open, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{
		ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 4 << 10, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = io.WriteString(w, "plain and ours")
		}),
	}
	go func() { _ = server.Serve(connlimit.Listen(open, connlimit.Options{Translate: problem.Translate})) }()
	t.Cleanup(func() { _ = server.Close() })
	for _, c := range []struct {
		name, request string
		status        int
		code          string
	}{
		{"no request line", "hello\r\n\r\n", 400, "malformed_request"},
		{"no Host", "GET / HTTP/1.1\r\n\r\n", 400, "malformed_request"},
		{"two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "malformed_request"},
		{"a Host that is none", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "malformed_request"},
		{"a header that is none", "GET / HTTP/1.1\r\nHost: a\r\nX Y: 1\r\n\r\n", 400, "malformed_request"},
		{"a bad length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", 400, "malformed_request"},
		{"a large header", "GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 20<<10) + "\r\n\r\n", 431, "header_too_large"},
		{"another coding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501, "transfer_encoding_unsupported"},
		{"a later version", "GET / HTTP/3.0\r\nHost: a\r\n\r\n", 505, "http_version_unsupported"},
		{"an expectation", "POST / HTTP/1.1\r\nHost: a\r\nExpect: more\r\nContent-Length: 1\r\n\r\n", 417, "expectation_unsupported"},
		{"an expectation of HTTP/1.0", "GET / HTTP/1.0\r\nExpect: more\r\n\r\n", 417, "expectation_unsupported"},
		{"one of ours", "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 200, ""},
	} {
		var dialer net.Dialer
		conn, err := dialer.DialContext(t.Context(), "tcp", open.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		_, _ = io.WriteString(conn, c.request)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		body, err := io.ReadAll(response.Body)
		_, _ = response.Body.Close(), conn.Close()
		var said struct {
			Error   string `json:"error"`
			Code    string `json:"code"`
			Request string `json:"request"`
		}
		switch {
		case err != nil || response.StatusCode != c.status:
			t.Errorf("%s: %d, %v, %s", c.name, response.StatusCode, err, body)
		case c.code == "":
			if string(body) != "plain and ours" {
				t.Errorf("%s: %s", c.name, body)
			}
		case json.Unmarshal(body, &said) != nil || said.Code != c.code || said.Error == "" ||
			said.Request != response.Header.Get("X-Request-ID") || response.Header.Get("Content-Type") != "application/json":
			t.Errorf("%s: %v %s", c.name, response.Header, body)
		}
	}
}
