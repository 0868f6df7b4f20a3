package line

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"

	"ushuru/pkg/app"
)

// socksProxy is a SOCKS5 proxy (RFC 1928) without passwords on this machine, for IPv4
// addresses and names.
type socksProxy struct {
	listener net.Listener
	open     sync.WaitGroup
}

func newSOCKSProxy(ctx context.Context) (*socksProxy, error) {
	listener, err := app.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &socksProxy{listener: listener}
	p.open.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			p.open.Go(func() {
				defer conn.Close()
				_ = serveSOCKS(ctx, conn)
			})
		}
	})
	return p, nil
}

// stop waits until the connections are closed: the line before them is stopped first.
func (p *socksProxy) stop() {
	_ = p.listener.Close()
	p.open.Wait()
}

func (p *socksProxy) address() string { return p.listener.Addr().String() }

// serveSOCKS connects a client to the target that it names.
func serveSOCKS(ctx context.Context, client net.Conn) error {
	const version, ipv4, name = 5, 1, 3
	head := make([]byte, 2) //nolint:mnd // version, and number of methods
	if _, err := io.ReadFull(client, head); err != nil {
		return err
	}
	if _, err := io.CopyN(io.Discard, client, int64(head[1])); err != nil {
		return err
	}
	if _, err := client.Write([]byte{version, 0}); err != nil {
		return err
	}
	request := make([]byte, 4) //nolint:mnd // version, command, nothing, type of the address
	if _, err := io.ReadFull(client, request); err != nil {
		return err
	}
	length := []byte{net.IPv4len}
	if request[3] == name {
		if _, err := io.ReadFull(client, length); err != nil {
			return err
		}
	} else if request[3] != ipv4 {
		return errors.New("lab: unknown type of address")
	}
	target := make([]byte, int(length[0])+2) //nolint:mnd // and the port
	if _, err := io.ReadFull(client, target); err != nil {
		return err
	}
	host := string(target[:length[0]])
	if request[3] == ipv4 {
		host = net.IP(target[:net.IPv4len]).String()
	}
	port := strconv.Itoa(int(binary.BigEndian.Uint16(target[length[0]:])))
	server, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return err
	}
	defer server.Close()
	if _, err := client.Write([]byte{version, 0, 0, ipv4, 0, 0, 0, 0, 0, 0}); err != nil {
		return err
	}
	var answers sync.WaitGroup
	answers.Go(func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	})
	_, err = io.Copy(server, client)
	_ = server.Close()
	answers.Wait()
	return err
}
