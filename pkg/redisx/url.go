package redisx

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
)

const (
	redisPort    = "6379"
	sentinelPort = "26379"
)

var schemes = map[string]struct {
	kind kind
	tls  bool
	unix bool
	port string
}{
	"redis":           {kind: single, port: redisPort},
	"rediss":          {kind: single, port: redisPort, tls: true},
	"redis-socket":    {kind: single, unix: true},
	"redis-sentinel":  {kind: sentinel, port: sentinelPort},
	"rediss-sentinel": {kind: sentinel, port: sentinelPort, tls: true},
	"redis-cluster":   {kind: cluster, port: redisPort},
	"rediss-cluster":  {kind: cluster, port: redisPort, tls: true},
}

// parseURL parses the forms that Open lists. It does not parse the whole with
// net/url, which rejects a list of hosts with ports and repeats the URL with its
// password in its errors.
func parseURL(raw string) (endpoint, error) {
	target := endpoint{name: Redact(raw)}
	scheme, rest, ok := strings.Cut(raw, "://")
	form, known := schemes[scheme]
	if !ok || !known {
		return target, errors.New("the scheme must be redis, rediss, redis-socket, redis-sentinel, " +
			"rediss-sentinel, redis-cluster or rediss-cluster")
	}
	target.kind = form.kind
	rest, rawQuery, _ := strings.Cut(rest, "?")
	query, err := url.ParseQuery(rawQuery)
	if err != nil {
		return target, errors.New("the query is malformed")
	}
	authority, path := rest, ""
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	hosts, err := target.credentials(authority, query)
	if err != nil {
		return target, err
	}
	o := &target.options
	if form.tls {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12} // the dialler sets the server's name
	}
	if form.unix {
		return target, target.socket(hosts, path, query)
	}
	if o.Addrs, err = addresses(hosts, form.port); err != nil {
		return target, err
	}
	if form.kind == single && len(o.Addrs) > 1 {
		return target, errors.New("more than one host requires the scheme redis-cluster or redis-sentinel")
	}
	if o.MasterName = query.Get("master"); form.kind == sentinel && o.MasterName == "" {
		return target, errors.New("the parameter master, the name of the set, is missing")
	}
	return target, target.database(strings.Trim(path, "/"))
}

// credentials parses user and password of the URL's authority and returns its hosts.
func (e *endpoint) credentials(authority string, query url.Values) (hosts string, err error) {
	at := strings.LastIndexByte(authority, '@')
	userinfo, hosts := authority[:max(at, 0)], authority[at+1:]
	rawUser, rawPassword, ok := strings.Cut(userinfo, ":")
	if userinfo != "" && !ok {
		return "", errors.New("user:password or :password must precede the @")
	}
	user, errUser := url.PathUnescape(rawUser)
	password, errPassword := url.PathUnescape(rawPassword)
	if errUser != nil || errPassword != nil {
		return "", errors.New("user or password is not percent-encoded")
	}
	o := &e.options
	if e.kind == sentinel {
		o.SentinelUsername, o.SentinelPassword = user, password
		o.Username, o.Password = query.Get("username"), query.Get("password")
	} else {
		o.Username, o.Password = user, password
	}
	return hosts, nil
}

func (e *endpoint) socket(hosts, path string, query url.Values) error {
	if hosts != "" || path == "" {
		return errors.New("three slashes and the path of the socket must follow the scheme")
	}
	e.options.Addrs = []string{path}
	return e.database(query.Get("db"))
}

func (e *endpoint) database(number string) error {
	if number == "" {
		return nil
	}
	db, err := strconv.Atoi(number)
	if err != nil || db < 0 {
		return errors.New("the database is not a number")
	}
	if e.kind == cluster && db != 0 {
		return errors.New("a cluster has database 0 only")
	}
	e.options.DB = db
	return nil
}

func addresses(hosts, port string) ([]string, error) {
	var all []string
	for i, host := range strings.Split(hosts, ",") {
		if host == "" {
			return nil, errors.New("a host is missing")
		}
		if !hasPort(host) {
			host = net.JoinHostPort(strings.Trim(host, "[]"), port)
		}
		name, number, err := net.SplitHostPort(host)
		if _, bad := strconv.ParseUint(number, 10, 16); err != nil || bad != nil || name == "" {
			// The host is not shown: it may be part of a password with a slash.
			return nil, fmt.Errorf("host number %d is not host:port", i+1)
		}
		all = append(all, host)
	}
	return all, nil
}

// hasPort distinguishes the colon of a port from those of an IPv6 address.
func hasPort(host string) bool {
	return strings.LastIndexByte(host, ':') > strings.LastIndexByte(host, ']')
}

const mask = "***"

// Redact returns the URL with everything hidden that may be secret: all between the
// user and the last @, and all of the query but harmless parameters. Of a
// malformed URL it hides too much rather than too little.
func Redact(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		scheme, rest = "", url
	} else {
		scheme += "://"
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		user, _, ok := strings.Cut(rest[:at], ":")
		if !ok || strings.ContainsAny(user, "/?#") { // a password in the wrong place, most likely
			user = ""
		}
		rest = user + ":" + mask + rest[at:]
	}
	rest, query, ok := strings.Cut(rest, "?")
	if !ok {
		return scheme + rest
	}
	return scheme + rest + "?" + redactQuery(query)
}

func redactQuery(query string) string {
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		harmless := (name == "master" || name == "db") && !strings.ContainsFunc(value, unusual)
		switch {
		case !ok:
			pairs[i] = mask
		case !harmless:
			pairs[i] = name + "=" + mask
		}
	}
	return strings.Join(pairs, "&")
}

// unusual reports whether the name of a set has no such character. A parameter that
// is joined wrongly brings one along.
func unusual(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r)
}

// Why a server does not answer to a URL of the other kind.
var (
	errPlain = errors.New("the server there answers without TLS: begin the URL with redis, not rediss")
	errTLS   = errors.New("the server there speaks TLS: begin the URL with rediss, not redis")
)

// wrongScheme returns what is wrong with TLS in a URL whose servers could not be asked; nil when
// that is not the cause.
func (e *endpoint) wrongScheme(parent context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), dialTimeout)
	defer cancel()
	for _, address := range e.options.Addrs {
		switch {
		case e.options.TLSConfig != nil && answersPlain(ctx, address):
			return errPlain
		case e.options.TLSConfig == nil && answersTLS(ctx, address):
			return errTLS
		}
	}
	return nil
}

// answersPlain reports whether a server answers a command without TLS, be it with an error.
func answersPlain(ctx context.Context, address string) bool {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	first := make([]byte, 1)
	_ = conn.SetDeadline(time.Now().Add(dialTimeout))
	if _, err = io.WriteString(conn, "PING\r\n"); err == nil {
		_, err = conn.Read(first)
	}
	return err == nil && (first[0] == '+' || first[0] == '-')
}

// answersTLS reports whether a server begins TLS. The certificate is not verified, because no
// command is sent on this connection.
func answersTLS(ctx context.Context, address string) bool {
	anybody := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // see above
	conn, err := (&tls.Dialer{Config: anybody}).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

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
