package scale

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"ushuru/pkg/lab/rig"
)

const megabyte, kilobyte = 1 << 20, 1 << 10

func (f *figures) each(total time.Duration) float64 {
	return float64(total) / float64(time.Millisecond) / float64(f.rows)
}

// numbers say how the cost of a row grows from the fewest rows to the most, with the first
// number of workers.
func numbers(runs []figures) []rig.Number {
	if len(runs) == 0 {
		return nil
	}
	of := slices.DeleteFunc(slices.Clone(runs), func(f figures) bool { return f.workers != runs[0].workers })
	few, many := of[0], of[len(of)-1]
	const times, unit = 1.5, "KB"
	name := fmt.Sprintf("of a row, %d worker, %d rows: ", many.workers, many.rows)
	said := fmt.Sprintf("%d rows", few.rows)
	cost := func(f figures) rig.Value { return rig.Value{N: f.each(f.processor + f.inRedis), Unit: "ms"} }
	size := func(f figures) rig.Value {
		return rig.Value{N: float64(f.redis) / float64(f.rows) / kilobyte, Unit: unit}
	}
	trips := func(f figures) rig.Value { return rig.Value{N: f.reads / float64(f.rows)} }
	bounded := rig.Aim{AtMost: times, Ratio: true}
	return []rig.Number{
		{
			Name: "processor time " + name + "API, worker and Redis", Measured: cost(many), Baseline: cost(few).As(said),
			Aim: bounded,
		},
		{
			Name: "Redis memory " + name + "after the end", Measured: size(many), Baseline: size(few).As(said),
			Aim: bounded,
		},
		{
			Name: "round trips to Redis " + name + "with polls", Measured: trips(many), Baseline: trips(few).As(said),
			Aim: bounded,
		},
	}
}

func printed(out io.Writer, runs []figures) error {
	if len(runs) == 0 {
		return nil
	}
	const columns = 11
	var b strings.Builder
	b.WriteString("| rows | workers | rows/s | API and workers, CPU a row | Redis, CPU a row | API, MB idle → most " +
		"| a worker, most MB | Redis a row after the end | Redis, most MB | round trips a row, with polls | commands a row |\n" +
		strings.Repeat("|--:", columns) + "|\n")
	for _, f := range runs {
		fmt.Fprintf(&b, "| %d | %d | %.0f | %.2f ms | %.2f ms | %.0f → %.0f | %.0f | %.1f KB | %.1f | %.1f | %.1f |\n",
			f.rows, f.workers, f.perSecond(), f.each(f.processor), f.each(f.inRedis),
			float64(f.api)/megabyte, float64(f.apiMost)/megabyte, float64(f.worker)/megabyte,
			float64(f.redis)/float64(f.rows)/kilobyte, float64(f.most)/megabyte,
			f.reads/float64(f.rows), f.commands/float64(f.rows))
	}
	writeDecades(&b, runs)
	writeLeft(&b, runs)
	_, err := io.WriteString(out, b.String())
	return err
}

// writeDecades says by what the cost of a row is multiplied when there are more rows: 1
// means that it does not grow.
func writeDecades(b *strings.Builder, runs []figures) {
	fmt.Fprint(b, "\nGrowth of the cost of a row; 1.00 means that it does not grow with the rows:\n\n"+
		"| workers | rows | time | CPU | Redis bytes | round trips |\n|--:|---|--:|--:|--:|--:|\n")
	for i, f := range runs {
		before := slices.IndexFunc(runs[i+1:], func(g figures) bool { return g.workers == f.workers })
		if before < 0 {
			continue
		}
		g := runs[i+1+before]
		ratio := func(of func(figures) float64) float64 {
			return of(g) / float64(g.rows) / max(of(f)/float64(f.rows), 1e-9) //nolint:mnd // not zero
		}
		fmt.Fprintf(b, "| %d | %d → %d | %.2f | %.2f | %.2f | %.2f |\n", f.workers, f.rows, g.rows,
			ratio(func(f figures) float64 { return f.took.Seconds() }),
			ratio(func(f figures) float64 { return (f.processor + f.inRedis).Seconds() }),
			ratio(func(f figures) float64 { return float64(f.redis) }), ratio(func(f figures) float64 { return f.reads }))
	}
}

// writeLeft says what a row leaves in Redis, and for how long, by the run with the most
// rows.
func writeLeft(b *strings.Builder, runs []figures) {
	most := slices.MaxFunc(runs, func(a, b figures) int { return a.rows - b.rows })
	const share = 1000 // keys with less than a thousandth of the bytes are left out
	var total, held float64
	fmt.Fprintf(b, "\nWhat the %d rows have left in Redis:\n\n"+
		"| keys | keys a row | bytes a row | lifetime |\n|---|--:|--:|--:|\n", most.rows)
	for _, k := range most.left {
		if k.Lasting == 0 {
			total += float64(k.Bytes)
			held += float64(k.Bytes) * k.Longest.Hours() / 24 //nolint:mnd // in days
		}
	}
	for _, k := range most.left {
		if float64(k.Bytes)*share < total {
			continue
		}
		lifetime := fmt.Sprintf("%.1f h", k.Longest.Hours())
		if k.Lasting > 0 {
			lifetime = "none"
		}
		fmt.Fprintf(b, "| `%s` | %.3f | %.0f | %s |\n", k.Pattern, float64(k.Count)/float64(most.rows),
			float64(k.Bytes)/float64(most.rows), lifetime)
	}
	perRow := total / float64(most.rows)
	fmt.Fprintf(b, "\nAll keys with a lifetime together: %.0f bytes a row. "+
		"With the lifetimes, a thousand such rows a day hold %.1f MB.\n",
		perRow, held/float64(most.rows)*1000/megabyte) //nolint:mnd // a thousand rows
}
