package report

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
)

// Machine is where the numbers were measured.
type Machine struct {
	Processor, Redis, Commit string
	LoadBefore, LoadAfter    string // average of a minute; "" is not known
}

// ThisMachine returns what is known of this machine.
func ThisMachine(ctx context.Context, commit string) Machine {
	return Machine{Processor: processor(), Redis: redisVersion(ctx), Commit: commit, LoadBefore: Load()}
}

// Load returns the load average of the last minute; "" where it is not known.
func Load() string {
	data, _ := os.ReadFile("/proc/loadavg")
	one, _, _ := strings.Cut(string(data), " ")
	return one
}

// processor returns the name of this machine's processor.
func processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	_, rest, _ := strings.Cut(string(info), "model name")
	name, _, _ := strings.Cut(strings.TrimLeft(rest, "\t :"), "\n")
	return name
}

func redisVersion(ctx context.Context) string {
	out, _ := exec.CommandContext(ctx, "redis-server", "--version").Output()
	return string(regexp.MustCompile(`[0-9]+\.[0-9.]+`).Find(out))
}

func (m Machine) markdown() string {
	or := func(s string) string {
		if s == "" {
			return "unknown"
		}
		return s
	}
	return fmt.Sprintf("Machine: %d cores of %s, %s/%s, %s, Redis %s (append-only file, fsync every second, on this machine). "+
		"Commit: %s. Load average of the machine: %s before, %s after; a load before that is above 0.5 means that other "+
		"programs ran, and the absolute figures are worse than those of a quiet machine.\n",
		runtime.NumCPU(), or(m.Processor), runtime.GOOS, runtime.GOARCH, runtime.Version(), or(m.Redis), or(m.Commit),
		or(m.LoadBefore), or(m.LoadAfter))
}
