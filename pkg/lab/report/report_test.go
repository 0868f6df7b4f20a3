package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"ushuru/pkg/lab/rig"
)

// A part that fails or panics is in the table, and the others run.
func TestAPartThatFailsIsNamed(t *testing.T) {
	t.Parallel()
	parts := []Part{
		{"bench bad", func(context.Context, io.Writer) ([]rig.Number, error) { return nil, errors.New("no server | none") }},
		{"bench worse", func(context.Context, io.Writer) ([]rig.Number, error) { panic("oh") }},
		{"bench good", func(_ context.Context, out io.Writer) ([]rig.Number, error) {
			_, err := fmt.Fprintln(out, "it said so")
			return []rig.Number{
				{
					Name: "speed", Measured: rig.Value{N: 1234.4, Unit: "/s"}, Baseline: rig.Value{N: 2000, Unit: "/s", Of: "bare"},
					Aim: rig.Aim{AtLeast: 0.7, Ratio: true},
				},
				{Name: "lost", Aim: rig.Aim{AtMost: 0.5}},
			}, err
		}},
	}
	var progress, document bytes.Buffer
	var soFar []int
	sections, err := Run(t.Context(), &progress, parts, func(s []Section) error {
		soFar = append(soFar, len(s))
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "bench bad") || !strings.Contains(err.Error(), "panic: oh") {
		t.Error(err)
	}
	if err := Markdown(&document, Heading{Sizes: Short()}, sections); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(soFar) != "[1 2 3]" {
		t.Error(soFar)
	}
	for _, want := range []string{
		"The short form", "| bench bad | – | – | – | – | not measured: the part failed: no server \\| none |",
		"panic: oh", "| speed | ≥ 0.70 × baseline | 1,234 /s | 2,000 /s, bare | 0.62 | **missed** |",
		"| lost | ≤ 0.50 | 0 | – | – | met |",
	} {
		if !strings.Contains(document.String(), want) {
			t.Errorf("%q is missing in\n%s", want, document.String())
		}
	}
	if strings.Count(progress.String(), "failed: ") != 2 || !strings.Contains(progress.String(), " 3 of 3  bench good: done") {
		t.Error(progress.String())
	}
}

// The end of the context ends the run, and no part begins any more.
func TestTheRunEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	parts := []Part{
		{"bench first", func(ctx context.Context, _ io.Writer) ([]rig.Number, error) {
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		}},
		{"bench second", func(context.Context, io.Writer) ([]rig.Number, error) {
			t.Error("it began")
			return nil, nil
		}},
	}
	if _, err := Run(ctx, io.Discard, parts, func([]Section) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestOnlyNamesParts(t *testing.T) {
	t.Parallel()
	all := Parts(Short(), nil)
	some, err := Only(all, []string{"match", "read"})
	if err != nil || len(some) != 2 || some[0].Name != "bench match" {
		t.Error(some, err)
	}
	if _, err := Only(all, []string{"matches"}); err == nil {
		t.Error("an unknown part")
	}
}
