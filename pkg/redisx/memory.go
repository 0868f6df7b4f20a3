package redisx

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// Memory is how much a server holds, and whether that is on its disk.
type Memory struct {
	Used   int64  // bytes; 0 when the server does not tell
	Limit  int64  // bytes; 0 means none
	Policy string // what it does at the limit

	Volatile bool   // it keeps no append-only file
	Unsaved  string // the field of INFO that says that its disk was not written the last time; "" for none
}

// ReadMemory returns the memory of a server; of a cluster that of the server that is
// fullest, and what is wrong with the disk of any.
func ReadMemory(ctx context.Context, client redis.UniversalClient) (Memory, error) {
	infos, err := readInfos(ctx, client)
	if err != nil {
		return Memory{}, fmt.Errorf("redisx: memory: %w", err)
	}
	var fullest Memory
	for _, info := range infos {
		memory := memoryOf(info)
		volatile, unsaved := fullest.Volatile || memory.Volatile, cmp.Or(fullest.Unsaved, memory.Unsaved)
		if memory.part() >= fullest.part() {
			fullest = memory
		}
		fullest.Volatile, fullest.Unsaved = volatile, unsaved
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

func memoryOf(info map[string]string) Memory {
	used, _ := strconv.ParseInt(info["used_memory"], 10, 64)
	limit, _ := strconv.ParseInt(info["maxmemory"], 10, 64)
	memory := Memory{Used: used, Limit: limit, Policy: info["maxmemory_policy"], Volatile: info["aof_enabled"] == "0"}
	for _, field := range []string{"aof_last_write_status", "aof_last_bgrewrite_status", "rdb_last_bgsave_status"} {
		if info[field] == "err" {
			memory.Unsaved = cmp.Or(memory.Unsaved, field)
		}
	}
	return memory
}

// Evicts reports whether the server deletes keys, also those of jobs, when its memory is full. A
// server whose policy is unknown counts as one that does not.
func (m Memory) Evicts() bool { return m.Policy != "" && m.Policy != "noeviction" }
