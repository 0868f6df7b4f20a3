package rig

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// RedisTime is the processor time that a Redis server has used. Beside other
// load on the machine it says more than the clock on the wall.
func RedisTime(ctx context.Context, client redis.UniversalClient) (total time.Duration, err error) {
	info, err := client.Info(ctx, "cpu").Result()
	if err != nil {
		return 0, err
	}
	for _, name := range []string{"used_cpu_user", "used_cpu_sys"} {
		seconds, err := strconv.ParseFloat(InfoField(info, name), 64)
		if err != nil {
			return 0, fmt.Errorf("lab: %s of Redis: %w", name, err)
		}
		total += time.Duration(seconds * float64(time.Second))
	}
	return total, nil
}

// UsedMemory is the memory in bytes that a Redis server uses.
func UsedMemory(ctx context.Context, client redis.UniversalClient) (int64, error) {
	info, err := client.Info(ctx, "memory").Result()
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(InfoField(info, "used_memory"), 10, 64)
}

// InfoField returns a field of the answer to INFO.
func InfoField(info, name string) string {
	_, rest, _ := strings.Cut(info, "\n"+name+":")
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}

// OwnTime is the processor time of this process.
func OwnTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// ResidentMemory is the memory in bytes that this process holds; on systems
// without /proc, what Go has taken from the system.
func ResidentMemory() int64 {
	data, err := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(data)
	if err == nil && len(fields) > 1 {
		if pages, err := strconv.ParseInt(string(fields[1]), 10, 64); err == nil {
			return pages * int64(os.Getpagesize())
		}
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return int64(memory.Sys) //nolint:gosec // fits
}

// PeakMemory is the most memory in bytes that this process ever held, as Linux counts
// it; elsewhere it is not known, and 0.
func PeakMemory() int64 { return statusField(os.Getpid(), "VmHWM:") }
