// Package report runs every benchmark and writes one document of them.
package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"ushuru/pkg/lab/rig"
)

// Part is one benchmark.
type Part struct {
	Name string // as a command: "bench batch"
	// Run writes the text of the benchmark and returns its numbers.
	Run func(ctx context.Context, out io.Writer) ([]rig.Number, error)
}

// Section is what a part has said.
type Section struct {
	Part

	Numbers []rig.Number
	Text    string
	Took    time.Duration
	Err     error
}

// Run runs the parts one after the other, each in a machine that the one before has left.
// It writes a line for each to progress and calls after with what there is so far. A part
// that fails does not end the others; the end of ctx does. The error joins those of the
// parts.
func Run(ctx context.Context, progress io.Writer, parts []Part, after func([]Section) error) ([]Section, error) {
	sections := make([]Section, 0, len(parts))
	var failed []error
	for i, part := range parts {
		if ctx.Err() != nil {
			return sections, ctx.Err()
		}
		_, _ = fmt.Fprintf(progress, "%2d of %d  %s\n", i+1, len(parts), part.Name)
		debug.FreeOSMemory()
		var text bytes.Buffer
		s := Section{Part: part}
		started := time.Now()
		s.Numbers, s.Err = run(ctx, part, &text)
		s.Took, s.Text = time.Since(started), text.String()
		verdict := "done"
		if s.Err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", part.Name, s.Err))
			verdict = "failed: " + s.Err.Error()
		}
		_, _ = fmt.Fprintf(progress, "%2d of %d  %s: %s after %s\n",
			i+1, len(parts), part.Name, verdict, s.Took.Round(time.Second))
		sections = append(sections, s)
		if err := after(sections); err != nil {
			return sections, err
		}
	}
	return sections, errors.Join(failed...)
}

// run makes a panic of a part an error: the others run, and what it started is stopped.
func run(ctx context.Context, part Part, out io.Writer) (numbers []rig.Number, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return part.Run(ctx, out)
}

// Heading is what stands above the numbers.
type Heading struct {
	Sizes   Sizes
	Note    string // one more sentence; "" is none
	Machine Machine
	Began   time.Time
	Took    time.Duration
	Command string // that wrote the document
}

// Markdown writes the document.
func Markdown(w io.Writer, h Heading, sections []Section) error {
	var b strings.Builder
	b.WriteString("# Benchmarks\n\n")
	if h.Sizes.Words != "" {
		fmt.Fprintf(&b, "**%s**\n\n", h.Sizes.Words)
	}
	fmt.Fprintf(&b, "Written by `%s` on %s in %s; rows without an aim are left out. Pages and TRA's calculator are SIMULATED "+
		"and, unless a row says otherwise, answer at once. "+
		"Each baseline was measured in the same run as the number beside it.\n\n",
		h.Command, h.Began.UTC().Format("2006-01-02 15:04 UTC"), h.Took.Round(time.Second))
	b.WriteString(h.Machine.markdown())
	if h.Note != "" {
		fmt.Fprintf(&b, "\n%s\n", h.Note)
	}
	b.WriteString("\n## Numbers and aims\n\n| number | aim | measured | baseline of the same run | ratio | verdict " +
		"|\n|---|---|---|---|---|---|\n")
	for _, s := range sections {
		for _, n := range s.rows() {
			if n.Aim != (rig.Aim{}) || n.Reason != "" {
				writeRow(&b, n)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// rows are the numbers of a part; one that failed has a row that says so.
func (s Section) rows() []rig.Number {
	if s.Err == nil {
		return s.Numbers
	}
	return append(s.Numbers, rig.Number{
		Name: s.Name, Reason: "the part failed: " + s.Err.Error(),
	})
}

func writeRow(b *strings.Builder, n rig.Number) {
	ratio, measured, baseline := "–", n.Measured.String(), "–"
	if n.Baseline != (rig.Value{}) {
		baseline = n.Baseline.String()
	}
	if n.Ratio() > 0 {
		ratio = fmt.Sprintf("%.2f", n.Ratio())
	}
	if n.Reason != "" {
		measured = "–"
	}
	cells := []string{n.Name, n.Bound(), measured, baseline, ratio, n.Verdict()}
	for i, cell := range cells {
		cells[i] = strings.NewReplacer("|", "\\|", "\n", " ").Replace(cell)
	}
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}
