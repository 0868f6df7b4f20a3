package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"ushuru/pkg/app"
	"ushuru/pkg/keys"
	"ushuru/pkg/lab/rig"
	"ushuru/pkg/redisx"
	"ushuru/tasks"
)

// WaitersOptions of Waiters.
type WaitersOptions struct {
	Redis   *redisx.Conn // an empty Redis
	Log     *slog.Logger
	Waiters int
}

// waitersOfKey is how many requests of one key may wait.
const waitersOfKey = 200

// Waiters measures what a caller costs who waits for an estimate: memory of the process
// with the API, and of Redis with the job, beside a bare handler that waits with as many
// callers. No worker takes the jobs. The callers are connections of this process, which
// cost some hundred bytes of it.
func Waiters(ctx context.Context, out io.Writer, o WaitersOptions) ([]rig.Number, error) {
	o.Waiters = max(o.Waiters, 1)
	bare, err := bareWaiters(ctx, o.Waiters)
	if err != nil {
		return nil, err
	}
	service, err := rig.Start(ctx, rig.Options{Redis: o.Redis, Log: o.Log, Roles: []tasks.Role{tasks.RoleAuthority}})
	if err != nil {
		return nil, err
	}
	defer service.Stop()
	if err := service.AwaitCatalogue(ctx); err != nil {
		return nil, err
	}
	secrets := make([]string, o.Waiters/waitersOfKey+1)
	for i := range secrets {
		if secrets[i], _, err = keys.NewStore(service.Redis).Create(ctx, fmt.Sprintf("waiter %d", i)); err != nil {
			return nil, err
		}
	}
	before, err := rig.UsedMemory(ctx, service.Redis)
	if err != nil {
		return nil, err
	}
	ours, err := waiting(ctx, strings.TrimPrefix(service.URL, "http://"), o.Waiters, func(i int) string {
		return request(secrets[i/waitersOfKey], rig.Listing(service.Site, "wait", i))
	}, func() (int, error) {
		n, err := jobKeys(ctx, service)
		return n, err
	})
	if err != nil {
		return nil, err
	}
	after, err := rig.UsedMemory(ctx, service.Redis)
	if err != nil {
		return nil, err
	}
	const kilobyte, most = 1 << 10, 32
	size := func(bytes int64) rig.Value {
		return rig.Value{N: float64(bytes) / float64(o.Waiters) / kilobyte, Unit: "KB"}
	}
	number := rig.Number{
		Name: fmt.Sprintf("%d callers wait at one API process: memory of each", o.Waiters), Measured: size(ours),
		Baseline: size(bare).As("bare handler that waits"), Aim: rig.Aim{AtMost: most},
	}
	inRedis := rig.Number{Name: "Redis memory of each of them, with the job", Measured: size(after - before)}
	_, err = fmt.Fprintf(out, "%d callers wait: %s of memory each, a bare handler %s; Redis %s each\n",
		o.Waiters, size(ours), size(bare), size(after-before))
	return []rig.Number{number, inRedis}, err
}

// jobKeys is how many jobs there are.
func jobKeys(ctx context.Context, service *rig.Service) (n int, err error) {
	all, err := rig.ReadKeys(ctx, service.Redis)
	for _, k := range all {
		if k.Pattern == "job:*" || k.Pattern == "{job:*}" {
			n += k.Count
		}
	}
	return n, err
}

// request is a request for an estimate of a listing as it is on the line.
func request(key, listing string) string {
	body := fmt.Sprintf(`{"url":%q}`, listing)
	return fmt.Sprintf("POST /v1/estimate HTTP/1.1\r\nHost: bench\r\nX-Api-Key: %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", key, len(body), body)
}

// bareWaiters is what the callers cost a handler of net/http that does nothing but wait.
func bareWaiters(ctx context.Context, n int) (int64, error) {
	listener, err := app.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	var waiters atomic.Int64
	stop := app.Serve(listener, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		waiters.Add(1)
		<-r.Context().Done()
	}), func(error) {})
	defer stop()
	return waiting(ctx, listener.Addr().String(), n, func(int) string { return request("bare", "bare") },
		func() (int, error) { return int(waiters.Load()), nil })
}

// waiting opens connections that send a request each, and returns by how much the memory of
// this process has grown once the count has all of them.
func waiting(
	ctx context.Context, address string, n int, request func(i int) string, count func() (int, error),
) (grown int64, err error) {
	debug.FreeOSMemory()
	before := rig.ResidentMemory()
	conns := make([]net.Conn, 0, n)
	defer func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
	}()
	for i := range n {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return 0, err
		}
		conns = append(conns, conn)
		if _, err := io.WriteString(conn, request(i)); err != nil {
			return 0, err
		}
	}
	const interval, longest = 500 * time.Millisecond, 2 * time.Minute
	for deadline := time.Now().Add(longest); ; {
		waiters, err := count()
		if err != nil {
			return 0, err
		}
		if waiters >= n {
			break
		}
		if time.Now().After(deadline) {
			return 0, fmt.Errorf("lab: only %d of %d callers wait", waiters, n)
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(interval):
		}
	}
	if err := silent(conns[n-1]); err != nil {
		return 0, err
	}
	debug.FreeOSMemory()
	return rig.ResidentMemory() - before, nil
}

// silent fails when a waiting caller has an answer, which would be a refusal.
func silent(conn net.Conn) error {
	const moment = time.Second
	if err := conn.SetReadDeadline(time.Now().Add(moment)); err != nil {
		return err
	}
	answer := make([]byte, 1<<9) //nolint:mnd // the begin of an answer
	n, err := conn.Read(answer)
	if n > 0 {
		return fmt.Errorf("lab: a caller did not wait: %s", answer[:n])
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return nil
	}
	return fmt.Errorf("lab: a caller did not wait: %w", err)
}
