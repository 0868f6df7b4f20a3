package redisx

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// ErrDefaultUser means that Redis would lose transactions and scripts at its next restart.
var ErrDefaultUser = errors.New("the default user of Redis may do only a part: Redis reads its append-only file as this user," +
	" and drops at a restart every transaction and script that the user may not run, which loses jobs and batches;" +
	" put \"user default off resetpass ~* &* +@all\" into its ACL file, which lets nobody in and loses nothing")

// CheckDefaultUser connects to each server without a login. A server that has users must
// answer NOAUTH; one that answers NOPERM has a default user whose rights do not suffice to
// read its own data, which is ErrDefaultUser. A server that answers something else, or
// nothing, passes: it has no users, or other checks report it.
func (c *Conn) CheckDefaultUser(ctx context.Context) error {
	if c.Embedded() {
		return nil
	}
	return eachServer(ctx, c.client, func(ctx context.Context, server redis.Cmdable) error {
		client, ok := server.(*redis.Client)
		if !ok {
			return nil
		}
		options := *client.Options()
		options.Username, options.Password, options.PoolSize, options.MinIdleConns = "", "", 1, 0
		anybody := redis.NewClient(&options)
		defer func() { _ = anybody.Close() }()
		_, err := anybody.TxPipelined(ctx, func(pipe redis.Pipeliner) error { // what a transaction in the file needs
			pipe.Set(ctx, keyProbe, "", probeTTL)
			pipe.Expire(ctx, keyProbe, probeTTL)
			return nil
		})
		if err != nil && strings.Contains(err.Error(), "NOPERM") {
			return fmt.Errorf("%w: %w", ErrDefaultUser, err)
		}
		return nil
	})
}
