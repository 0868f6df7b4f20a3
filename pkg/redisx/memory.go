package redisx

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Memory is how much a server holds.
type Memory struct {
	Used   int64  // bytes; 0 when the server does not tell
	Limit  int64  // bytes; 0 means none
	Policy string // what it does at the limit
}

// ReadMemory returns the memory of a server; of a cluster that of the server that is
// fullest.
func ReadMemory(ctx context.Context, client redis.UniversalClient) (Memory, error) {
	cluster, ok := client.(*redis.ClusterClient)
	if !ok {
		return memoryOf(ctx, client), ctx.Err()
	}
	var (
		mu      sync.Mutex
		fullest Memory
	)
	err := cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		memory := memoryOf(ctx, node)
		mu.Lock()
		defer mu.Unlock()
		if memory.part() >= fullest.part() {
			fullest = memory
		}
		return nil
	})
	if err != nil {
		return fullest, fmt.Errorf("redisx: memory: %w", err)
	}
	return fullest, nil
}

// part returns the part of the memory that is used; without a limit next to nothing.
func (m Memory) part() float64 {
	const huge = 1e15
	if m.Limit == 0 {
		return float64(m.Used) / huge
	}
	return float64(m.Used) / float64(m.Limit)
}

func memoryOf(ctx context.Context, server redis.Cmdable) Memory {
	info := readInfo(ctx, server)
	used, _ := strconv.ParseInt(info["used_memory"], 10, 64)
	limit, _ := strconv.ParseInt(info["maxmemory"], 10, 64)
	return Memory{used, limit, info["maxmemory_policy"]}
}

// Evicts reports whether the server deletes keys, of jobs too, when its memory is full. A
// server that does not tell its policy does not.
func (m Memory) Evicts() bool { return m.Policy != "" && m.Policy != "noeviction" }
