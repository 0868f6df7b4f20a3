package redisx

import (
	"errors"
	"net"
	"net/netip"
	"strings"
)

// ErrExposed means that the connection would leave this machine without TLS and without
// a password, where Options.RefuseExposed is set.
var ErrExposed = errors.New("redisx: a Redis on another host needs a password or TLS")

// Exposed reports whether the connection leaves this machine without TLS and without a
// password: everybody in the network can then read and change everything.
func (c *Conn) Exposed() bool { return c.endpoint.exposed() }

func (e *endpoint) exposed() bool {
	if e.options.TLSConfig != nil || e.options.Password != "" { // with Sentinel it is the password of the data servers
		return false
	}
	for _, address := range e.options.Addrs {
		if !isLocal(address) {
			return true
		}
	}
	return false
}

// isLocal reports whether an address is a socket of this machine.
func isLocal(address string) bool {
	if strings.HasPrefix(address, "/") {
		return true
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
