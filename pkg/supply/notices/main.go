// Command notices prints the licences and notices of what the production build contains.
// It is run in the root of the repository:
//
//	go run ./pkg/supply/notices > THIRD-PARTY-NOTICES
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"ushuru/pkg/supply"
)

func main() {
	if err := write(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// write writes the notices.
func write(ctx context.Context) error {
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	out := bufio.NewWriter(os.Stdout)
	if err := supply.WriteNotices(ctx, out, ".", strings.TrimSpace(string(goroot))); err != nil {
		return err
	}
	return out.Flush()
}
