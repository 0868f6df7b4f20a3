package redistest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// ProxyServer is a connection to a server that a test can cut and slow down.
type ProxyServer struct {
	Addr string // host:port
	URL  string // redis://host:port

	t     testing.TB
	proxy *toxiproxy.Proxy
}

// Proxy starts a proxy of upstream, host:port, for the time of the test.
func Proxy(t testing.TB, upstream string) *ProxyServer {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	proxy := toxiproxy.NewProxy(server, t.Name(), address(0), upstream)
	if err := proxy.Start(); err != nil {
		t.Fatalf("redistest: proxy: %v", err)
	}
	t.Cleanup(proxy.Stop)
	return &ProxyServer{Addr: proxy.Listen, URL: "redis://" + proxy.Listen, t: t, proxy: proxy}
}

// Disable cuts every connection and refuses new ones.
func (p *ProxyServer) Disable() { p.proxy.Stop() }

// Enable accepts connections again, at the same address.
func (p *ProxyServer) Enable() {
	p.t.Helper()
	if err := p.proxy.Start(); err != nil {
		p.t.Fatalf("redistest: enable the proxy: %v", err)
	}
}

// Delay delays the replies of the server by d, whole milliseconds, on all
// connections, as if the server were far away. It may be called once for each proxy.
func (p *ProxyServer) Delay(d time.Duration) {
	p.t.Helper()
	toxic := fmt.Sprintf(`{"type":"latency","stream":"downstream","attributes":{"latency":%d}}`, d.Milliseconds())
	if _, err := p.proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
		p.t.Fatalf("redistest: delay the proxy: %v", err)
	}
}
