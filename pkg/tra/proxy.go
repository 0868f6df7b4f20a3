package tra

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
)

// ParseProxy parses the address of a proxy: https:// or http:// (CONNECT), or
// socks5://, each optionally with user and password. "" is no proxy. No error
// contains the address, which may hold a password.
func ParseProxy(address string) (*url.URL, error) {
	if address == "" {
		return nil, nil //nolint:nilnil // nil is no proxy
	}
	proxy, err := url.Parse(address)
	if err != nil || !slices.Contains([]string{"https", "http", "socks5", "socks5h"}, proxy.Scheme) || proxy.Hostname() == "" ||
		(proxy.Path != "" && proxy.Path != "/") || proxy.RawQuery != "" || proxy.Fragment != "" {
		return nil, errors.New("tra: the proxy must be https://, http:// or socks5:// with [user:password@]host:port")
	}
	if proxy.Port() == "" {
		port, known := map[string]string{"https": "443", "http": "80"}[proxy.Scheme]
		if !known {
			port = "1080"
		}
		proxy.Host = net.JoinHostPort(proxy.Hostname(), port)
	}
	return proxy, nil
}

// DialProxy connects to the proxy of the client and closes the connection, to
// see whether it can be reached. It returns the proxy's host, without a password;
// "" when there is no proxy.
func (c *Client) DialProxy(ctx context.Context) (host string, err error) {
	if c.proxy == nil {
		return "", nil
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.proxy.Host)
	if err != nil {
		return c.proxy.Host, fmt.Errorf("tra: proxy: %w", err)
	}
	return c.proxy.Host, conn.Close()
}
