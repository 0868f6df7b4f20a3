package redisx

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrNotReplicated means that fewer replicas than demanded have confirmed a write in
// time.
var ErrNotReplicated = errors.New("redisx: too few replicas have confirmed the write")

// replicaTimeout is how long AwaitReplicas waits. A replica that lags more is no
// protection from the death of its master.
const replicaTimeout = time.Second

// AwaitReplicas returns when n replicas, of every master of a cluster, have confirmed
// all that was written before the call, on whichever connection; ErrNotReplicated
// when they have not in time. With n = 0 it does nothing.
func (c *Conn) AwaitReplicas(ctx context.Context, n int) error {
	if n <= 0 {
		return nil
	}
	return eachServer(ctx, c.client, func(ctx context.Context, server redis.Cmdable) error {
		// WAIT waits for all writes of the server up to the last command of this connection.
		// PING makes that command the latest one, so that WAIT covers the writes of other connections.
		pipe := server.Pipeline()
		pipe.Ping(ctx)
		confirmed := pipe.Do(ctx, "WAIT", n, replicaTimeout.Milliseconds())
		if _, err := pipe.Exec(ctx); err != nil {
			return fmt.Errorf("redisx: wait for replicas: %w", err)
		}
		got, err := confirmed.Int()
		if err == nil && got < n {
			err = fmt.Errorf("%w: %d of %d", ErrNotReplicated, got, n)
		}
		return err
	})
}

// Replicas returns how many replicas are connected, over all masters of a cluster.
func (c *Conn) Replicas(ctx context.Context) (all int, err error) {
	if c.Embedded() {
		return 0, nil
	}
	infos, err := readInfos(ctx, c.client)
	for _, info := range infos {
		n, _ := strconv.Atoi(info["connected_slaves"])
		all += n
	}
	return all, err
}
