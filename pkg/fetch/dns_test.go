package fetch

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// failingResolver answers every query with a code, or not at all, while fail is
// set, and else with 127.0.0.1.
func failingResolver(t *testing.T, fail *atomic.Int32) *net.Resolver {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buffer := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var message dnsmessage.Message
			if message.Unpack(buffer[:n]) != nil {
				continue
			}
			message.Response, message.Additionals = true, nil
			question := message.Questions[0]
			switch code := dnsmessage.RCode(fail.Load()); {
			case code != dnsmessage.RCodeSuccess:
				message.RCode = code
			case question.Type == dnsmessage.TypeA:
				message.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: question.Class},
					Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}},
				}}
			}
			packed, _ := message.Pack()
			_, _ = conn.WriteTo(packed, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// TestDNSFailureOfAKnownSitePasses: what cannot be resolved is temporary for a
// known site only, the rules of its robots.txt are read when the resolver is back,
// and an unknown name is not looked up again.
func TestDNSFailureOfAKnownSitePasses(t *testing.T) {
	t.Parallel()
	var fail atomic.Int32
	var pages atomic.Int32
	url := serveAll(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			_, _ = w.Write([]byte("User-agent: *\nDisallow: /private"))
			return
		}
		pages.Add(1)
	})
	for _, code := range []dnsmessage.RCode{dnsmessage.RCodeNameError, dnsmessage.RCodeServerFailure, dnsmessage.RCodeRefused} {
		client := testClient(t, Options{
			Timeout: 5 * time.Second, IsKnown: func(host string) bool { return host == "known.example.com" },
		})
		resolver := failingResolver(t, &fail)
		client.transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			host, _, _ := net.SplitHostPort(address)
			if _, err := resolver.LookupHost(ctx, host); err != nil {
				return nil, &net.OpError{Op: "dial", Net: network, Err: err} // as net.Dialer wraps it
			}
			return (&net.Dialer{}).DialContext(ctx, network, strings.TrimPrefix(url, "http://"))
		}
		client.robots.backoff = time.Millisecond
		fail.Store(int32(code))
		for range 3 {
			_, err := client.Get(t.Context(), "http://known.example.com/1")
			wantCode(t, err, FetchFailed, true)
		}
		_, err := client.Get(t.Context(), "http://typo.example.com/1")
		var failure *Error
		if !errors.As(err, &failure) || code == dnsmessage.RCodeNameError && failure.Retryable {
			t.Errorf("%v: unknown host: %v", code, err)
		}
		fail.Store(0)
		client.robots.now = func() time.Time { return time.Now().Add(robotsRetryDelay) }
		before := pages.Load()
		if _, err := client.Get(t.Context(), "http://known.example.com/1"); err != nil {
			t.Errorf("%v: after the failure: %v", code, err)
		}
		_, err = client.Get(t.Context(), "http://known.example.com/private")
		wantCode(t, err, RobotsForbidden, false)
		_, err = client.Get(t.Context(), "http://typo.example.com/private")
		wantCode(t, err, RobotsForbidden, false) // nothing was cached while it did not exist
		if n := pages.Load() - before; n != 1 {
			t.Errorf("%v: %d pages were read", code, n)
		}
	}
}
