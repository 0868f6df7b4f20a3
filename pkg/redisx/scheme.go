package redisx

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"
)

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
