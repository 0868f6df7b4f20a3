package e2e

import (
	"bufio"
	"bytes"
	"context"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"ushuru/pkg/cli"
	"ushuru/pkg/cli/clitest"
	"ushuru/pkg/client"
	"ushuru/pkg/keys"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

// simulator starts a simulator as a process of its own and returns what it prints
// first.
func simulator(t *testing.T, args ...string) (firstLines string) {
	t.Helper()
	path, err := exec.LookPath("ushuru")
	must(t, err)
	command := exec.CommandContext(t.Context(), path, append([]string{"simulate"}, args...)...)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		firstLines += lines.Text() + "\n"
		if strings.Contains(firstLines, "http://") {
			return firstLines
		}
	}
	t.Fatalf("simulate %v ended: %s", args, firstLines)
	return ""
}

// TestRealProcessesReadTheSimulatedSite does what docs/operating.md shows: Redis,
// both simulators, API and worker, each a process of its own, with ALLOW_LOOPBACK.
func TestRealProcessesReadTheSimulatedSite(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	server := redistest.Start(t)
	_, authority, _ := strings.Cut(simulator(t, "authority", "--listen", "127.0.0.1:0"), "AUTHORITY_URL=")
	_, page, _ := strings.Cut(simulator(t, "site", "--listen", "127.0.0.1:0"), "http://")
	page = "http://" + strings.Fields(page)[0]
	env := []string{
		"REDIS_URL=" + server.URL, "ALLOW_LOOPBACK=true", "AUTHORITY_URL=" + strings.TrimSpace(authority), "DRAIN_DELAY=0s",
	}
	api, err := clitest.StartProgram(t, "ushuru", env, "API listening", "api", "--listen", "127.0.0.1:0")
	must(t, err)
	_, err = clitest.StartProgram(t, "ushuru", env, "worker started", "worker")
	must(t, err)
	key, _, err := keys.NewStore(redistest.Open(t, server.URL).Client()).Create(t.Context(), "newcomer")
	must(t, err)
	caller, err := client.New(client.Options{URL: "http://" + api.Started.Address, Key: key})
	must(t, err)
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	estimate, err := caller.Estimate(ctx, client.EstimateRequest{URL: page})
	must(t, err)
	if estimate.Car.Make != listingtest.Cars()[0].Make || !strings.HasPrefix(estimate.Tax.ReferenceNumber, "SIM") {
		t.Errorf("%s", estimate.JSON)
	}
}

// Without the setting, or in production, no page of this machine is read.
func TestLoopbackIsRefusedInProduction(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"api", "worker", "serve"} {
		var out bytes.Buffer
		status := cli.Main(t.Context(), []string{command, "--env", "production", "--allow-loopback"}, cli.Streams{Out: &out, Err: &out})
		if status == 0 || !strings.Contains(out.String(), "ALLOW_LOOPBACK") {
			t.Errorf("%s: status %d, %s", command, status, out.String())
		}
	}
}
