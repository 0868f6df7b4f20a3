package line

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"ushuru/pkg/app"
)

// slowLine is a proxy that makes a service on this machine as far away as one on
// another continent. The bandwidth is that of the line, not of a connection, and a
// new connection costs a round trip.
type slowLine struct {
	network, upstream string // address of the service
	faults            Faults // no reset before resets
	up, down          lane
	bytes             atomic.Int64 // in both directions, without the headers of TCP
	unsteady          atomic.Bool  // connections are reset regularly

	listener net.Listener
	ended    chan struct{}
	open     sync.WaitGroup
	mu       sync.Mutex
	conns    map[net.Conn]struct{}
}

// Faults are what a line does to the connections over it.
type Faults struct {
	Delay  time.Duration // each way
	Jitter time.Duration // at most this much more, each way
	Rate   int           // bits a second each way
	Reset  time.Duration // between two resets of all connections; 0 resets none
}

// newSlowLine starts a line to a service.
func newSlowLine(ctx context.Context, network, upstream string, faults Faults) (*slowLine, error) {
	listener, err := app.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &slowLine{
		network: network, upstream: upstream, faults: faults, listener: listener,
		ended: make(chan struct{}), conns: map[net.Conn]struct{}{},
	}
	l.open.Go(l.accept)
	if faults.Reset > 0 {
		l.open.Go(l.resetRegularly)
	}
	return l, nil
}

func (l *slowLine) address() string { return l.listener.Addr().String() }

// stop cuts all connections and accepts no more.
func (l *slowLine) stop() {
	close(l.ended)
	_ = l.listener.Close()
	l.reset()
	l.open.Wait()
}

func (l *slowLine) accept() {
	for {
		conn, err := l.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			l.open.Go(func() { l.serve(conn) })
		}
	}
}

func (l *slowLine) serve(near net.Conn) {
	defer near.Close()
	far, err := (&net.Dialer{}).DialContext(context.Background(), l.network, l.upstream)
	if err != nil {
		return
	}
	defer far.Close()
	if !l.add(near) {
		return
	}
	defer l.remove(near)
	time.Sleep(l.oneWay() + l.oneWay()) // the connection is made
	var both sync.WaitGroup
	both.Go(func() { l.carry(far, near, &l.up) })
	both.Go(func() { l.carry(near, far, &l.down) })
	both.Wait()
}

func (l *slowLine) add(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.ended:
		return false
	default:
		l.conns[conn] = struct{}{}
		return true
	}
}

func (l *slowLine) remove(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, conn)
}

// reset resets all connections.
func (l *slowLine) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for conn := range l.conns {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // the other side gets RST
		}
		_ = conn.Close()
	}
}

// resets switches the regular resets on or off.
func (l *slowLine) resets(on bool) { l.unsteady.Store(on) }

func (l *slowLine) resetRegularly() {
	ticker := time.NewTicker(l.faults.Reset)
	defer ticker.Stop()
	for {
		select {
		case <-l.ended:
			return
		case <-ticker.C:
			if l.unsteady.Load() {
				l.reset()
			}
		}
	}
}

func (l *slowLine) oneWay() time.Duration {
	return l.faults.Delay + time.Duration(rand.Float64()*float64(l.faults.Jitter)) //nolint:gosec // not a secret
}

// parcel is what one read gave, and when it arrives at the other side.
type parcel struct {
	data []byte
	at   time.Time
}

// carry copies one direction of a connection until either side closes it.
func (l *slowLine) carry(to, from net.Conn, through *lane) {
	const parcels, size = 64, 4 << 10
	under := make(chan parcel, parcels)
	go func() {
		defer close(under)
		for {
			data := make([]byte, size)
			n, err := from.Read(data)
			if n > 0 {
				l.bytes.Add(int64(n))
				under <- parcel{data[:n], through.send(n, l.faults.Rate).Add(l.oneWay())}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range under { // in their order: a parcel waits for the one before it
		time.Sleep(time.Until(p.at))
		if _, err := to.Write(p.data); err != nil {
			break
		}
	}
	_ = to.Close()
	_ = from.Close()
	for range under {
	}
}

// lane is one direction of the line.
type lane struct {
	mu   sync.Mutex
	free time.Time // when what was sent before has left
}

// send returns when so many bytes have left, at a rate in bits a second.
func (l *lane) send(bytes, rate int) time.Time {
	const bits = 8
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); l.free.Before(now) {
		l.free = now
	}
	if rate > 0 {
		l.free = l.free.Add(time.Duration(bytes) * bits * time.Second / time.Duration(rate))
	}
	return l.free
}
