package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"ushuru/pkg/sheet"
)

// benchSheet loads sheets as a worker does, each in a process of its own, and
// says what that took at its peak.
type benchSheet struct {
	CacheDir string   `placeholder:"DIR" help:"Where the PDF reader is kept as machine code; empty is nowhere: it is translated each time."`
	Alone    bool     `hidden:"" help:"Load one FILE in this process."`
	Files    []string `arg:"" optional:"" name:"FILE" type:"existingfile" help:"Sheets to load; without any, made ones, most of them hostile."`
}

// Run is called by kong.
func (c *benchSheet) Run(r *run) error {
	if c.Alone {
		return c.load(r)
	}
	files := c.Files
	if len(files) == 0 {
		dir, err := os.MkdirTemp("", "ushuru-bench-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if files, err = writeSheetCases(dir); err != nil {
			return err
		}
		if c.CacheDir == "" {
			c.CacheDir = filepath.Join(dir, "cache") // so that the first PDF is a cold one
		}
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(r.Out, "%-34s %10s %9s %9s  %s\n", "file", "size", "took", "peak RSS", "outcome")
	for _, file := range append([]string{os.DevNull}, files...) {
		var out bytes.Buffer
		arguments := []string{"bench", "sheet", "--alone", "--cache-dir", c.CacheDir, file}
		child := exec.CommandContext(r.ctx, program, arguments...) //nolint:gosec // ourselves
		child.Stdout, child.Stderr = &out, r.Err
		if err := child.Run(); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if _, err := r.Out.Write(out.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// load loads one file and prints its line.
func (c *benchSheet) load(r *run) error {
	data, err := os.ReadFile(c.Files[0])
	if err != nil {
		return err
	}
	loader, err := sheet.NewLoader(sheet.Options{CacheDir: c.CacheDir, Timeout: 10 * time.Minute})
	if err != nil {
		return err
	}
	started := time.Now()
	outcome := loadOutcome(r.ctx, loader, data)
	took := time.Since(started)
	if err := loader.Close(); err != nil {
		return err
	}
	name := filepath.Base(c.Files[0])
	if c.Files[0] == os.DevNull {
		name, outcome = "(nothing: the program itself)", ""
	}
	_, err = fmt.Fprintf(r.Out, "%-34s %7d KB %9s %9s  %s\n",
		name, len(data)>>10, took.Round(time.Millisecond), peakMemory(), outcome)
	return err
}

func loadOutcome(ctx context.Context, loader *sheet.Loader, data []byte) string {
	loaded, err := loader.Load(ctx, data)
	if failure, ok := errors.AsType[*sheet.Error](err); ok {
		return failure.Code
	}
	if err != nil {
		return err.Error()
	}
	first := loaded.Pictures[0]
	return fmt.Sprintf("%s, %d pages, first %d x %d in %d KB",
		loaded.Kind, len(loaded.Pictures), first.Width, first.Height, len(first.JPEG)>>10)
}

// peakMemory is the most memory that this process ever had, as Linux counts it;
// elsewhere it is not known.
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
