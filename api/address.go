package api

import (
	"net/http"
	"net/netip"
	"strings"

	"ushuru/pkg/connlimit"
)

// addressOf returns the address that a request came from: that of the connection, or,
// when that is a trusted proxy's, the last one of X-Forwarded-For that is not. An IPv6
// network of 64 bits is one address.
func (s *Server) addressOf(r *http.Request) netip.Addr {
	address := connlimit.Owner(remoteAddr(r.RemoteAddr))
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(forwarded) - 1; i >= 0 && connlimit.Contains(s.options.TrustedProxies, address); i-- {
		next, err := netip.ParseAddr(strings.TrimSpace(forwarded[i]))
		if err != nil {
			break
		}
		address = connlimit.Owner(remoteAddr(netip.AddrPortFrom(next, 0).String()))
	}
	return address
}

// remoteAddr is the RemoteAddr of a request as a net.Addr.
type remoteAddr string

func (remoteAddr) Network() string  { return "tcp" }
func (a remoteAddr) String() string { return string(a) }
