package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ushuru/pkg/fetch/fetchtest"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

func TestCheckURLNormalises(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://www.Example.com":                 "https://www.example.com/",
		" https://www.example.com/a?b=c#d ":       "https://www.example.com/a?b=c",
		"HTTP://www.example.com:80/":              "http://www.example.com/",
		"https://www.example.com:443/x":           "https://www.example.com/x",
		"https://www.example.com:80/x":            "https://www.example.com:80/x",
		"https://www.example.com./x":              "https://www.example.com/x",
		"https://bücher.example.com/":             "https://xn--bcher-kva.example.com/",
		"http://134744072/":                       "http://8.8.8.8/",
		"http://0x8.010.8.8/":                     "http://8.8.8.8/",
		"https://[2606:4700:4700::1111]/":         "https://[2606:4700:4700::1111]/",
		"https://www.example.com/succeed van/1/":  "https://www.example.com/succeed%20van/1/",
		"https://www.example.com/succeed%20van/1": "https://www.example.com/succeed%20van/1",
	} {
		u, err := CheckURL(raw, false)
		if err != nil || u.String() != want {
			t.Errorf("CheckURL(%q) = %v, %v; want %s", raw, u, err, want)
		}
	}
}

func TestCheckURLRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string][]string{
		urlInvalid: {
			"", "nonsense", "/only/a/path", "https://", "https:///x", "http:opaque", "https://a b.com/", "https://exa\nmple.com/",
			`https://example.com\@127.0.0.1/`, "https://www..com/", "https://www.example.com:0/", "https://www.example.com:99999/",
			"http://1.2.3.4.5/", "http://256.256.256.256/", "http://0x1ffffffff/", "http://09.1.1.1/",
			"https://www.example.com/" + strings.Repeat("a", 2100), "https://" + strings.Repeat("a", 64) + ".com/",
		},
		URLForbidden: {
			"ftp://www.example.com/", "file:///etc/passwd", "javascript:alert(1)", "gopher://x.com/", "data:text/html,x",
			"https://user@www.example.com/", "https://user:pw@www.example.com/", "https://www.example.com:8080/", "http://www.example.com:22/",
			"http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f000001/", "http://0177.0.0.1/", "http://0x7f.1/",
			"http://0/", "http://0.0.0.0/", "http://10.1.2.3/", "http://172.16.0.1/", "http://192.168.1.1/", "http://169.254.169.254/latest/",
			"http://100.64.0.1/", "http://192.0.2.1/", "http://224.0.0.1/", "http://255.255.255.255/",
			"http://[::1]/", "http://[::]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:8.8.8.8]/", "http://[fe80::1]/", "http://[fe80::1%25eth0]/",
			"http://[fc00::1]/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/",
			"http://localhost/", "http://LOCALHOST./", "http://a.localhost/", "http://redis/", "http://printer.local/", "http://api.internal/",
			"http://metadata.google.internal./", "http://router.lan/", "http://x.home.arpa/", "http://x.onion/",
			"http://１２７.0.0.1/", "http://127。0。0。1/", "http://ⓛocalhost/", "http://localhost:8080/",
		},
	}
	for code, urls := range cases {
		for _, raw := range urls {
			u, err := CheckURL(raw, false)
			var failure *Error
			if !errors.As(err, &failure) || failure.Code != code {
				t.Errorf("CheckURL(%.60q) = %v, %v; want %s", raw, u, err, code)
			}
		}
	}
}

func TestAllowLoopbackOpensLoopbackOnly(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"http://127.0.0.1:8080/", "http://[::1]:9/", "http://localhost:1234/", "http://127.9.9.9/"} {
		if _, err := CheckURL(raw, true); err != nil {
			t.Errorf("CheckURL(%q): %v", raw, err)
		}
	}
	for _, raw := range []string{"http://10.0.0.1/", "http://10.0.0.1:8080/", "http://www.example.com:8080/", "http://[::ffff:10.0.0.1]/", "http://redis:6379/"} {
		if _, err := CheckURL(raw, true); err == nil {
			t.Errorf("CheckURL(%q) lets it through", raw)
		}
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, seed := range []string{"https://www.example.com/a?b#c", "http://0x7f.1", "http://[::ffff:1.2.3.4]:80", "https://a.b.:443", "http://%31%32%37.0.0.1/", "https://a.example/?q #f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := CheckURL(raw, false)
		if err != nil {
			return
		}
		again, err := CheckURL(u.String(), false)
		if err != nil || again.String() != u.String() {
			t.Errorf("%q → %q → %v, %v", raw, u, again, err)
		}
	})
}

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
