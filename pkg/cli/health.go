package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"ushuru/pkg/cli/console"
)

// healthCommand asks the processes beside it: in a container that has no other program the only
// one, else those that listen at the default addresses.
type healthCommand struct {
	adminConfig
	console.Format

	Alive   bool          `help:"Ask only whether the process answers, not whether it can serve."`
	Timeout time.Duration `default:"3s" help:"Maximum time for the answer."`
}

// maxReason is how much is shown of why a process is not ready, in bytes.
const maxReason = 1 << 10

// Run is called by kong.
func (c *healthCommand) Run(r *run) error {
	path := "/readyz"
	if c.Alive {
		path = "/healthz"
	}
	ctx, cancel := context.WithTimeout(r.ctx, c.Timeout)
	defer cancel()
	var none error
	var ready []string
	for _, address := range c.addresses() {
		err := askHealth(ctx, "http://"+address+path)
		if _, silent := errors.AsType[*net.OpError](err); silent {
			none = err
		} else if err != nil {
			return err
		} else {
			ready = append(ready, address)
		}
	}
	if len(ready) == 0 {
		return none
	}
	said := console.Said(map[string]any{"status": "ok", "addresses": ready}, "ok: %s", strings.Join(ready, ", "))
	return said(r.Streams, c.Format)
}

// addresses returns where the process may listen for operators.
func (c *healthCommand) addresses() []string {
	address := string(c.AdminAddr)
	if address == "" {
		return defaultAdmin
	}
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		address = net.JoinHostPort("127.0.0.1", port)
	}
	return []string{address}
}

// askHealth returns nil when an address answers 200.
func askHealth(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Transport: &http.Transport{}}).Do(request) // no proxy of the environment
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	defer response.Body.Close()
	reason, _ := io.ReadAll(io.LimitReader(response.Body, maxReason))
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("health: %s: %s", response.Status, strings.TrimSpace(string(reason)))
	}
	return nil
}
