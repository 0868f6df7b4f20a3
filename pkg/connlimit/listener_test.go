package connlimit_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"ushuru/pkg/connlimit"
	"ushuru/pkg/testenv"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// serve serves requests within bounds and returns the address and the log.
func serve(t *testing.T, o connlimit.Options) (address string, log *lines) {
	t.Helper()
	log = &lines{}
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	server := &http.Server{
		ReadHeaderTimeout: time.Second, ConnContext: connlimit.ConnContext,
		ConnState: func(conn net.Conn, state http.ConnState) {
			connlimit.ConnState(conn, state)
			log.states.Store(conn.RemoteAddr().String(), state)
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if connlimit.IsAmbiguous(r) {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			_, _ = w.Write(body)
		}),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(connlimit.Listen(inner, o)) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return inner.Addr().String(), log
}

type lines struct {
	bytes.Buffer

	mu     sync.Mutex
	states sync.Map // of the server's connections, by the address of the client
}

// await waits until a connection has a state at the server.
func (l *lines) await(t *testing.T, conn net.Conn, want http.ConnState) {
	t.Helper()
	testenv.Await(t, "a connection that is "+want.String(), func() (any, bool) {
		state, _ := l.states.Load(conn.LocalAddr().String())
		return state, state == want
	})
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.String()
}

// dial opens a connection and sends something.
func dial(t *testing.T, address, sent string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.WriteString(conn, sent); err != nil {
		return conn // it was refused at once
	}
	return conn
}

const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

// status returns the beginning of what the server answers.
func status(conn net.Conn) string {
	line := make([]byte, len("HTTP/1.1 200"))
	n, _ := io.ReadFull(conn, line)
	return string(line[:n])
}

func TestConnectionsAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		o     connlimit.Options
		bound string
	}{
		"in all":             {connlimit.Options{Max: 3}, "bound=all"},
		"by address":         {connlimit.Options{Max: 100, PerAddress: 3}, "bound=address"},
		"but not of a proxy": {connlimit.Options{PerAddress: 3, Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			address, log := serve(t, c.o)
			var open []net.Conn
			for range 3 {
				conn := dial(t, address, get)
				if got := status(conn); got != "HTTP/1.1 200" {
					t.Fatal(got)
				}
				open = append(open, conn)
			}
			beyond := dial(t, address, get)
			answer, _ := io.ReadAll(io.LimitReader(beyond, 40))
			if refused := strings.HasPrefix(string(answer), "HTTP/1.1 503"); refused != (c.bound != "") {
				t.Errorf("one more: %q", answer)
			}
			if c.bound == "" {
				return
			}
			if !strings.Contains(log.String(), c.bound) {
				t.Errorf("log %s", log)
			}
			must(t, open[0].Close())
			for end := time.Now().Add(5 * time.Second); status(dial(t, address, get)) != "HTTP/1.1 200"; {
				if time.Now().After(end) {
					t.Fatal("no connection after one was closed")
				}
			}
		})
	}
}

// A full server makes room for an address with fewer connections: it closes the one
// that has been without a request for the longest time, never one with a request.
func TestFullServerMakesRoom(t *testing.T) {
	address, log := serve(t, connlimit.Options{Max: 4})
	from := func(ip, sent string) net.Conn {
		t.Helper()
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
		conn, err := dialer.DialContext(t.Context(), "tcp", address)
		must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
		_, _ = io.WriteString(conn, sent)
		return conn
	}
	const many, other = "127.0.2.1", "127.0.2.2"
	working := from(many, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n")
	log.await(t, working, http.StateActive)
	served := from(many, get)
	if got := status(served); got != "HTTP/1.1 200" {
		t.Fatal(got)
	}
	log.await(t, served, http.StateIdle)
	slow := from(many, "GET / HTTP/1.1\r\nX: ")
	log.await(t, slow, http.StateNew)
	silent := from(many, "")
	log.await(t, silent, http.StateNew)
	if got := status(from(many, get)); got != "HTTP/1.1 503" {
		t.Errorf("one more of the same address: %s", got)
	}
	for i, closed := range []net.Conn{served, slow} { // the oldest first
		if got := status(from(other, get)); got != "HTTP/1.1 200" {
			t.Fatalf("another address: %q", got)
		}
		_, err := io.Copy(io.Discard, closed)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("connection %d is open", i)
		}
	}
	if got := status(from(other, get)); got != "HTTP/1.1 503" {
		t.Errorf("an address with as many connections: %s", got)
	}
	for _, conn := range []net.Conn{working, silent} {
		_, err := io.WriteString(conn, map[net.Conn]string{working: "abc", silent: get}[conn])
		if got := status(conn); err != nil || got != "HTTP/1.1 200" {
			t.Errorf("a connection that stays: %q, %v", got, err)
		}
	}
}

func TestOwnerOfAConnection(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.7:80": "192.0.2.7", "[::ffff:192.0.2.7]:80": "192.0.2.7",
		"[2001:db8:1:2:3:4:5:6]:80": "2001:db8:1:2::", "[fe80::1%eth0]:80": "fe80::", "@": "invalid IP",
	} {
		if got := connlimit.Owner(named(remote)).String(); got != want {
			t.Errorf("%s: %s, want %s", remote, got, want)
		}
	}
}

type named string

func (named) Network() string  { return "tcp" }
func (n named) String() string { return string(n) }

// TestLengthAndChunksAreAmbiguous: net/http forgets the one beside the other.
func TestLengthAndChunksAreAmbiguous(t *testing.T) {
	address, log := serve(t, connlimit.Options{})
	const (
		last    = "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" // the server closes after it
		chunked = "Transfer-Encoding: chunked\r\n"
		body    = "\r\n3\r\nabc\r\n0\r\n\r\n"
	)
	for name, c := range map[string]struct{ sent, want string }{
		"chunks":                     {last + chunked + body, "HTTP/1.1 200"},
		"a length":                   {last + "Content-Length: 3\r\n\r\nabc", "HTTP/1.1 200"},
		"both":                       {last + "Content-Length: 3\r\n" + chunked + body, "HTTP/1.1 400"},
		"both, the other way round":  {last + chunked + "CONTENT-length: 3\r\n" + body, "HTTP/1.1 400"},
		"both, with short line ends": {"POST / HTTP/1.1\nHost: x\nConnection: close\nTransfer-Encoding: chunked\nContent-Length: 3\n\n3\r\nabc\r\n0\r\n\r\n", "HTTP/1.1 400"},
		"both, after another":        {"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + last + "Content-Length: 3\r\n" + chunked + body, "HTTP/1.1 200|HTTP/1.1 400"},
	} {
		conn := dial(t, address, c.sent)
		answer, _ := io.ReadAll(conn)
		var got []string
		for _, part := range strings.SplitAfter(string(answer), "HTTP/1.1 ")[1:] {
			got = append(got, "HTTP/1.1 "+part[:3])
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %s", name, got, c.want)
		}
	}
	// A second request on a connection that is reused.
	conn := dial(t, address, get)
	if got := status(conn); got != "HTTP/1.1 200" {
		t.Fatal(got)
	}
	_, _ = io.CopyN(io.Discard, conn, 60)
	log.await(t, conn, http.StateIdle)
	_, err := io.WriteString(conn, last+"Content-Length: 3\r\n"+chunked+body)
	must(t, err)
	answer, _ := io.ReadAll(conn)
	if !strings.Contains(string(answer), "HTTP/1.1 400") {
		t.Errorf("on a connection that is reused: %q", answer)
	}
}
