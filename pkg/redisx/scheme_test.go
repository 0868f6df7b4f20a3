package redisx_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

// withTLS returns the address of a port that speaks TLS and has a server behind it.
func withTLS(t *testing.T, behind string) string {
	t.Helper()
	certified := httptest.NewTLSServer(nil) // for its certificate
	t.Cleanup(certified.Close)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", certified.TLS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", behind)
			if err != nil {
				_ = conn.Close()
				return
			}
			go func() { _, _ = io.Copy(server, conn); _ = server.Close() }()
			go func() { _, _ = io.Copy(conn, server); _ = conn.Close() }()
		}
	}()
	return listener.Addr().String()
}

// A URL with TLS for a port without, and the other way round, is named as what it is, soon.
func TestAURLWithTheWrongSchemeIsNamed(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	withPassword := redistest.Start(t)
	if err := redistest.Open(t, withPassword.URL).Client().ConfigSet(t.Context(), "requirepass", "secret-hush").Err(); err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"rediss://" + server.Addr:                               "begin the URL with redis, not rediss",
		"rediss://:secret-hush@" + withPassword.Addr:            "begin the URL with redis, not rediss",
		"rediss-cluster://" + server.Addr:                       "begin the URL with redis, not rediss",
		"redis://" + withTLS(t, server.Addr):                    "begin the URL with rediss, not redis",
		"redis://:secret-hush@" + withTLS(t, withPassword.Addr): "begin the URL with rediss, not redis",
		"rediss://" + withTLS(t, server.Addr):                   "certificate signed by unknown authority",
		"redis://" + redistest.FreeAddress(t):                   "connection refused",
		"redis://:wrong-hush@" + withPassword.Addr:              "WRONGPASS",
	} {
		begun := time.Now()
		conn, err := redisx.Open(t.Context(), redisx.Options{URL: url})
		if err == nil {
			_ = conn.Close()
			t.Errorf("%s: no error, want %s", redisx.Redact(url), want)
		} else if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: got %v, want %s", redisx.Redact(url), err, want)
		}
		if took := time.Since(begun); took > 30*time.Second {
			t.Errorf("%s: it took %s", redisx.Redact(url), took)
		}
	}
}
