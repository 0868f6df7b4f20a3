package tra_test

import (
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"ushuru/pkg/tra"
)

// pipe copies both ways until one side ends.
func pipe(a, b net.Conn) {
	go func() {
		_, _ = io.Copy(a, b)
		_ = a.Close()
	}()
	_, _ = io.Copy(b, a)
	_ = b.Close()
}

// connectProxy is a CONNECT proxy over TLS that wants a user and password.
func connectProxy(t *testing.T, used *atomic.Int32) *httptest.Server {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Header.Get("Proxy-Authorization") != "Basic dTpzZWNyZXQ=" { // u:secret
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		target, err := net.Dial("tcp", r.Host)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		used.Add(1)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		pipe(conn, target)
	}))
	t.Cleanup(server.Close)
	return server
}

// socksProxy is a SOCKS5 proxy that wants a user and password (RFC 1928, 1929).
func socksProxy(t *testing.T, used *atomic.Int32) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
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
			go func() { _ = socks(conn, used) }()
		}
	}()
	return listener.Addr().String()
}

func socks(conn net.Conn, used *atomic.Int32) error {
	defer conn.Close()
	read := func(n int) []byte {
		data := make([]byte, n)
		_, _ = io.ReadFull(conn, data)
		return data
	}
	read(int(read(2)[1]))
	_, _ = conn.Write([]byte{5, 2})
	user := string(read(int(read(2)[1])))
	password := string(read(int(read(1)[0])))
	if user != "u" || password != "secret" {
		_, err := conn.Write([]byte{1, 1})
		return err
	}
	_, _ = conn.Write([]byte{1, 0})
	var host string
	if kind := read(4)[3]; kind == 1 {
		host = net.IP(read(4)).String()
	} else {
		host = string(read(int(read(1)[0])))
	}
	port := read(2)
	target, err := net.Dial("tcp", net.JoinHostPort(host, strconv.Itoa(int(port[0])<<8|int(port[1]))))
	if err != nil {
		return err
	}
	used.Add(1)
	_, _ = conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	pipe(conn, target)
	return nil
}

func TestCallsGoThroughTheProxy(t *testing.T) {
	t.Parallel()
	authority := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `[]`)
	}))
	defer authority.Close()
	var used atomic.Int32
	secure := connectProxy(t, &used)
	file := filepath.Join(t.TempDir(), "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Certificate().Raw})
	if err := os.WriteFile(file, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	socksAddress := socksProxy(t, &used)
	for _, c := range []struct {
		address string
		reached bool
	}{
		{"https://u:secret@" + strings.TrimPrefix(secure.URL, "https://"), true},
		{"https://u:wrong@" + strings.TrimPrefix(secure.URL, "https://"), false},
		{"socks5://u:secret@" + socksAddress, true},
		{"socks5://u:wrong@" + socksAddress, false},
	} {
		used.Store(0)
		client, err := tra.NewClient(tra.Options{BaseURL: authority.URL, CAFile: file, Proxy: c.address})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Makes(t.Context())
		if (used.Load() == 1) != c.reached || (err == nil) != c.reached {
			t.Errorf("%s: through the proxy %d times, %v", c.address, used.Load(), err)
		}
		if err != nil && (strings.Contains(err.Error(), "wrong") || strings.Contains(err.Error(), "secret")) {
			t.Errorf("the error shows the password: %v", err)
		}
		host, err := client.DialProxy(t.Context())
		if proxy, _ := url.Parse(c.address); err != nil || host != proxy.Host {
			t.Errorf("DialProxy = %q, %v", host, err)
		}
		client.Close()
	}
}

func TestProxyThatIsNoneIsRefusedWithoutItsPassword(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"ftp://u:secret@proxy.example:21", "proxy.example:3128", "https://u:secret@", "https://u:secret@proxy.example/path", "https://u:secret@%zz",
	} {
		if _, err := tra.ParseProxy(address); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
