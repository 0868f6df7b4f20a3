// Package sheets draws SIMULATED inspection sheets, and measures what loading sheets
// costs, most of them hostile.
package sheets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"ushuru/pkg/fetch"
	"ushuru/pkg/lab/rig"
	"ushuru/pkg/sheet/scan"
)

// SheetOptions of Sheet.
type SheetOptions struct {
	CacheDir string   // of the compiled PDF reader; "" compiles it each time
	Files    []string // sheets to load; without any, generated ones, most of them hostile
	// LoadAlone returns the arguments of this program that make it call
	// LoadSheet for one file.
	LoadAlone func(cacheDir, file string) []string
}

// Sheet loads sheets as a worker does, each in a process of its own, and prints
// the memory and time that each took.
func Sheet(ctx context.Context, out, warn io.Writer, o SheetOptions) error {
	files := o.Files
	if len(files) == 0 {
		dir, err := os.MkdirTemp("", "ushuru-bench-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if files, err = writeSheetCases(dir); err != nil {
			return err
		}
		if o.CacheDir == "" {
			o.CacheDir = filepath.Join(dir, "cache") // so that the first PDF finds an empty cache
		}
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "%-34s %10s %9s %9s  %s\n", "file", "size", "took", "peak RSS", "outcome")
	for _, file := range append([]string{os.DevNull}, files...) {
		child := exec.CommandContext(ctx, program, o.LoadAlone(o.CacheDir, file)...) //nolint:gosec // this program
		child.Stdout, child.Stderr = out, warn
		if err := child.Run(); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// LoadSheet loads one file in this process and prints its line of Sheet.
func LoadSheet(ctx context.Context, out io.Writer, cacheDir, file string) error {
	data, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return err
	}
	loader, err := scan.NewLoader(scan.Options{CacheDir: cacheDir, Timeout: 10 * time.Minute})
	if err != nil {
		return err
	}
	started := time.Now()
	outcome := loadOutcome(ctx, loader, data)
	took := time.Since(started)
	if err := loader.Close(); err != nil { //nolint:contextcheck // it closes after ctx, too
		return err
	}
	name := filepath.Base(file)
	if file == os.DevNull {
		name, outcome = "(no file: the program alone)", ""
	}
	_, err = fmt.Fprintf(out, "%-34s %7d KB %9s %9s  %s\n",
		name, len(data)>>10, took.Round(time.Millisecond), peak(), outcome)
	return err
}

func loadOutcome(ctx context.Context, loader *scan.Loader, data []byte) string {
	loaded, err := loader.Load(ctx, data)
	if failure, ok := errors.AsType[*fetch.Error](err); ok {
		return failure.Code
	}
	if err != nil {
		return err.Error()
	}
	first := loaded.Images[0]
	return fmt.Sprintf("%s, %d pages, first %d x %d in %d KB",
		loaded.Kind, len(loaded.Images), first.Width, first.Height, len(first.JPEG)>>10)
}

// peak is the most memory that this process ever held.
func peak() string {
	if bytes := rig.PeakMemory(); bytes > 0 {
		return fmt.Sprintf("%d MB", bytes>>20)
	}
	return "?"
}
