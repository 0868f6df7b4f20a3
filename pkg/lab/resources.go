package lab

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisTime is the processor time that a Redis server has used. Beside other
// load on the machine it says more than the clock on the wall.
func redisTime(ctx context.Context, client redis.UniversalClient) (total time.Duration, err error) {
	info, err := client.Info(ctx, "cpu").Result()
	if err != nil {
		return 0, err
	}
	for _, name := range []string{"used_cpu_user", "used_cpu_sys"} {
		seconds, err := strconv.ParseFloat(infoField(info, name), 64)
		if err != nil {
			return 0, fmt.Errorf("lab: %s of Redis: %w", name, err)
		}
		total += time.Duration(seconds * float64(time.Second))
	}
	return total, nil
}

// usedMemory is the memory in bytes that a Redis server uses.
func usedMemory(ctx context.Context, client redis.UniversalClient) (int64, error) {
	info, err := client.Info(ctx, "memory").Result()
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(infoField(info, "used_memory"), 10, 64)
}

// infoField returns a field of the answer to INFO.
func infoField(info, name string) string {
	_, rest, _ := strings.Cut(info, "\n"+name+":")
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}

// ownTime is the processor time of this process; zero on systems without /proc.
func ownTime() time.Duration {
	data, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	const user, system, tick = 11, 12, 10 * time.Millisecond // proc(5); Linux shows it in hundredths of a second
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	ticks := 0
	for _, field := range [][]byte{fields[user], fields[system]} {
		n, err := strconv.Atoi(string(field))
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * tick
}

// residentMemory is the memory in bytes that this process holds; on systems
// without /proc, what Go has taken from the system.
func residentMemory() int64 {
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

// peakMemory is the most memory that this process ever held, as Linux counts
// it; elsewhere it is not known.
func peakMemory() string {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmHWM:" {
			var kilobytes int
			if _, err := fmt.Sscan(fields[1], &kilobytes); err == nil {
				return fmt.Sprintf("%d MB", kilobytes>>10)
			}
		}
	}
	return "?"
}
