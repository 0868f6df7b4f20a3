package fetch

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"ushuru/pkg/fetch/fetchtest"
)

const minShapes = 170

// No shape is connected to: not as the URL of a page, not as that of a webhook, not
// as the target of a redirect.
func TestAttackSSRFShapesAreRefused(t *testing.T) {
	t.Parallel()
	shapes := fetchtest.Shapes()
	if len(shapes) < minShapes {
		t.Errorf("%d shapes, want at least %d", len(shapes), minShapes)
	}
	client, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	client.transport.DialContext = onlyTo(t, "", client.transport.DialContext)
	for _, shape := range shapes {
		_, err := client.Get(t.Context(), shape)
		wantRefused(t, "get", shape, err)
		_, _, _, err = client.Post(t.Context(), shape, http.Header{}, nil)
		wantRefused(t, "post", shape, err)
	}
}

type dial = func(ctx context.Context, network, address string) (net.Conn, error)

// onlyTo lets a client connect to one address and fails the test when it tries
// another that is not of this machine.
func onlyTo(t *testing.T, allowed string, next dial) dial {
	t.Helper()
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if address == allowed {
			return next(ctx, network, address)
		}
		host, _, _ := net.SplitHostPort(address)
		ip, err := netip.ParseAddr(host)
		if public := host == "www.example.com" || host == "localhost"; allowed == "" || err != nil && !public || err == nil && !ip.IsLoopback() {
			t.Errorf("a connection to %s", address)
		}
		return nil, errors.New("refused by the test")
	}
}

func wantRefused(t *testing.T, what, shape string, err error) {
	t.Helper()
	var failure *Error
	if !errors.As(err, &failure) || failure.Code != URLForbidden && failure.Code != urlInvalid {
		t.Errorf("%s of %.100q: %v", what, shape, err)
	}
}

// As above, for a redirect: a page may name any target.
func TestAttackRedirectsToSSRFShapesAreRefused(t *testing.T) {
	t.Parallel()
	var to string
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/go" {
			w.Header()["Location"] = []string{to}
			w.WriteHeader(http.StatusFound)
			return
		}
		http.NotFound(w, r) // robots.txt, and what a relative target names
	}))
	defer site.Close()
	client, err := New(Options{AllowLoopback: true})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	client.transport.DialContext = onlyTo(t, site.Listener.Addr().String(), client.transport.DialContext)
	for _, to = range fetchtest.Shapes() {
		page, err := client.Get(t.Context(), site.URL+"/go")
		if err == nil && page.Status != http.StatusNotFound && page.Status != http.StatusFound {
			t.Errorf("redirect to %.100q: status %d", to, page.Status)
		}
	}
}
