package fetch

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

func TestHostServicesOfCloudsAreDenied(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"168.63.129.16", "199.36.153.4", "199.36.153.11", "161.26.0.10", "166.8.0.1", "166.11.255.255",
		"169.254.169.254", "100.100.100.200", "192.0.0.192",
		"[2600:2d00:2:1000::1]", "[2600:2d00:2:2000::1]", "[fd00:ec2::254]", "[fd20:ce::254]",
		"[::ffff:168.63.129.16]", "2822734096", "0xa83f8110", "0250.077.0201.020", // the first in other spellings
	} {
		_, err := CheckURL("http://"+address+"/", false)
		wantCode(t, err, URLForbidden, false)
	}
	if _, err := CheckURL("http://168.63.129.17/", false); err != nil {
		t.Errorf("the neighbour of a host service: %v", err)
	}
}

// A name that resolves to a host service is refused when the connection is made.
func TestNameOfHostServiceIsDenied(t *testing.T) {
	t.Parallel()
	client, _ := newClient(Options{Timeout: 5 * time.Second}, nameServer(t, [4]byte{168, 63, 129, 16}))
	_, err := client.Get(t.Context(), "http://cars.example.com/1")
	wantCode(t, err, URLForbidden, false)
}

func TestOperatorDeniesNets(t *testing.T) {
	t.Parallel()
	denied, err := ParsePrefixes([]string{"203.0.113.7", " 127.0.0.0/8", "2001:db8::/32"})
	if err != nil {
		t.Fatal(err)
	}
	url := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a denied address was asked") })
	client := testClient(t, Options{DenyNets: denied})
	_, err = client.Get(t.Context(), url)
	wantCode(t, err, URLForbidden, false)
	status, _, _, err := client.Post(t.Context(), url, http.Header{}, nil)
	if status != 0 {
		t.Errorf("status %d of a denied address", status)
	}
	wantCode(t, err, URLForbidden, false)
	named, _ := newClient(Options{Timeout: 5 * time.Second, DenyNets: denied}, nameServer(t, [4]byte{203, 0, 113, 7}))
	_, err = named.Get(t.Context(), "http://cars.example.com/1")
	wantCode(t, err, URLForbidden, false)
}

func TestPrefixesAreValidated(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "example.com", "10.0.0.0/33", "0.0.0.0/0", "::/0", "::ffff:10.0.0.1", "10.0.0.1-10.0.0.9"} {
		if got, err := ParsePrefixes([]string{text}); err == nil {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
	got, err := ParsePrefixes([]string{"10.1.2.3/8"})
	if err != nil || got[0] != netip.MustParsePrefix("10.0.0.0/8") {
		t.Errorf("%v, %v", got, err)
	}
}

// Many names of one server are one address: they get four times the pace of a site
// together, not each its own. A known site counts by its name only.
func TestAddressOfManyNamesHasOnePace(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		var requests atomic.Int64
		address := strings.TrimPrefix(serveAll(t, func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/robots.txt" {
				requests.Add(1)
			}
		}), "http://")
		_, port, _ := net.SplitHostPort(address)
		client, err := newClient(Options{
			Timeout: 5 * time.Second, AllowLoopback: true, Redis: conn.Client(), Rate: 1,
			IsKnown: func(host string) bool { return strings.HasSuffix(host, ".known.example.com") },
		}, nameServer(t, [4]byte{127, 0, 0, 1}))
		if err != nil {
			t.Fatal(err)
		}
		get := func(name string) error {
			return client.visitPort(t, name, port)
		}
		var busy error
		for i := range 40 {
			if err := get(fmt.Sprintf("n%d.wild.example.com", i)); err != nil {
				busy = err
			}
		}
		failure := wantCode(t, busy, HostBusy, true)
		if n := requests.Load(); n == 0 || n > 16 || failure.Wait <= 0 {
			t.Errorf("%d pages of one address at once, %v", n, failure.Wait)
		}
		for i := range 20 {
			if err := get(fmt.Sprintf("n%d.known.example.com", i)); err != nil {
				t.Fatalf("a known site: %v", err)
			}
		}
	})
}

// visitPort requests a page of a name at a port of this machine, as Fetch does at 80.
func (c *Client) visitPort(t *testing.T, name, port string) error {
	t.Helper()
	ctx := context.WithValue(t.Context(), visitKey{}, &visit{c.limiter, c.options.IsKnown, false})
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+name, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	transport := c.transport.Clone()
	dial := c.transport.DialContext
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dial(ctx, network, net.JoinHostPort(name, port))
	}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: guarded{transport, true, 1 << 20}}).Do(request)
	if err != nil {
		return classify(err, nil)
	}
	return response.Body.Close()
}

// One key gets two thirds of the pace of a site, so that a page of another key need
// not wait.
func TestKeyNeverHasTheWholePaceOfASite(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		url := serve(t, func(http.ResponseWriter, *http.Request) {})
		client := testClient(t, Options{Redis: conn.Client(), Rate: 1})
		pages := 0
		for range 10 {
			if _, err := client.Get(pace.WithOwner(t.Context(), "attacker"), url); err == nil {
				pages++
			}
		}
		if pages != 2 {
			t.Errorf("one key gets %d pages at once, want 2", pages)
		}
		if _, err := client.Get(pace.WithOwner(t.Context(), "victim"), url); err != nil {
			t.Errorf("another key: %v", err)
		}
	})
}
