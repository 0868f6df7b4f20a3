package tra_test

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"
)

// scanner is one Redis server.
type scanner interface {
	Scan(ctx context.Context, cursor uint64, match string, count int64) *redis.ScanCmd
}

// eachNode visits every server that holds keys, one at a time.
func eachNode(ctx context.Context, client redis.UniversalClient, visit func(context.Context, scanner) error) error {
	cluster, ok := client.(*redis.ClusterClient)
	if !ok {
		return visit(ctx, client)
	}
	var one sync.Mutex
	return cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		one.Lock()
		defer one.Unlock()
		return visit(ctx, node)
	})
}
