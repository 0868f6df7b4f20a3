package redistest

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
)

// reaper is a shell that waits for the end of this process, also by a signal, and
// then ends the shared servers and removes their directory. Servers of one test
// do not need it: t.Cleanup ends them.
type reaper struct {
	dir   string
	stdin *os.File // its other end sees when we are gone
}

const reap = `pids=
while read -r pid; do pids="$pids $pid"; done
[ -z "$pids" ] || kill -9 $pids 2>/dev/null
rm -rf "$1"`

var startReaper = sync.OnceValues(func() (*reaper, error) {
	dir, err := os.MkdirTemp("", "redistest-")
	if err != nil {
		return nil, fmt.Errorf("directory of the shared servers: %w", err)
	}
	reading, writing, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("reaper: %w", err)
	}
	defer reading.Close()
	// dir was created here, and only the end of this process ends the reaper.
	cmd := exec.CommandContext(context.Background(), "/bin/sh", "-c", reap, "reaper", dir) //nolint:gosec // see above
	cmd.Stdin = reading
	cmd.SysProcAttr = ownGroup()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("reaper: %w", err)
	}
	return &reaper{dir: dir, stdin: writing}, nil
})

func (r *reaper) adopt(daemons ...*daemon) error {
	for _, d := range daemons {
		if _, err := io.WriteString(r.stdin, fmt.Sprintln(d.cmd.Process.Pid)); err != nil {
			return fmt.Errorf("reaper: %w", err)
		}
	}
	return nil
}
