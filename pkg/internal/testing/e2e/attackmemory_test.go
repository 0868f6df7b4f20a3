package e2e

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/cli/clitest"
)

// memory is what the service used before the attack, and the most during it, in
// bytes.
type memory struct {
	api, worker, redis          int64
	mostAPI, mostWorker, mostDB int64
}

// String returns the most MB of the API, of the worker with the most, and of Redis.
func (m memory) String() string {
	return fmt.Sprintf("%d, %d, %d", m.mostAPI>>20, m.mostWorker>>20, m.mostDB>>20)
}

func (m memory) check(t *testing.T, a attack) {
	t.Helper()
	for name, over := range map[string][2]int64{
		"API": {m.mostAPI - m.api, a.maxAPI}, "worker": {m.mostWorker - m.worker, a.maxWorker},
		"Redis": {m.mostDB - m.redis, a.maxRedis},
	} {
		if over[1] > 0 && over[0] > over[1]<<20 {
			t.Errorf("%s: %s uses %d MB over idle, more than %d", a.name, name, over[0]>>20, over[1])
		}
	}
}

// watchMemory measures from now until the function that it returns is called.
func (s *underAttack) watchMemory() (end func() memory) {
	s.t.Helper()
	s.resetPeak(s.api)
	m := memory{api: s.resident(s.api, "VmRSS:"), redis: s.redisMemory(s.t.Context())}
	for _, worker := range s.workers {
		s.resetPeak(worker)
		m.worker = max(m.worker, s.resident(worker, "VmRSS:"))
	}
	ctx, stop := context.WithCancel(s.t.Context())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for sleep(ctx, 100*time.Millisecond) {
			m.mostDB = max(m.mostDB, s.redisMemory(ctx))
		}
	}()
	return func() memory {
		stop()
		<-watched
		m.mostDB = max(m.mostDB, s.redisMemory(ctx))
		m.mostAPI = s.resident(s.api, "VmHWM:")
		for _, worker := range s.workers {
			m.mostWorker = max(m.mostWorker, s.resident(worker, "VmHWM:"))
		}
		return m
	}
}

// resetPeak makes Linux forget the most memory that a process has used.
func (s *underAttack) resetPeak(p *clitest.Process) {
	s.t.Helper()
	const peak = "5" // proc(5)
	must(s.t, os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.PID()), []byte(peak), 0))
}

// resident returns a field of /proc/PID/status in bytes; 0 when the process has
// ended.
func (s *underAttack) resident(p *clitest.Process, field string) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), field)
	kilobytes, _ := strconv.ParseInt(strings.Fields(rest + " 0")[0], 10, 64)
	return kilobytes << 10
}

func (s *underAttack) redisMemory(ctx context.Context) int64 {
	info, err := s.conn.Client().Info(context.WithoutCancel(ctx), "memory").Result()
	if err != nil {
		return 0 // Redis may be what is attacked
	}
	_, rest, _ := strings.Cut(info, "\nused_memory:")
	value, _, _ := strings.Cut(rest, "\r\n")
	bytes, _ := strconv.ParseInt(value, 10, 64)
	return bytes
}
