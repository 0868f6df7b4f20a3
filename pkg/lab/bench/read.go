package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/net/html"

	"ushuru/pkg/lab/rig"
	"ushuru/pkg/listing"
	"ushuru/pkg/listing/listingtest"
)

// ReadOptions of Read.
type ReadOptions struct {
	Samples int    // how often the page is read; at least 1
	Size    int    // bytes of the generated page, without File
	File    string // a saved page; "" generates one
	URL     string // where File was saved from
}

// Read measures reading a listing page, compared with what it needs at least:
// x/net/html parsing the page. A page that is not a readable listing is
// measured too, and reported on warn.
func Read(ctx context.Context, out, warn io.Writer, o ReadOptions) ([]rig.Number, error) {
	body := listingtest.Large(o.Size)
	if o.File != "" {
		var err error
		if body, err = os.ReadFile(o.File); err != nil {
			return nil, err
		}
	}
	page := listing.FromFile(body, o.URL)
	if _, err := listing.Read(ctx, page); err != nil {
		_, _ = fmt.Fprintf(warn, "the page is not a readable listing; it is measured nevertheless: %v\n", err)
	}
	var parse, read measured
	for range max(o.Samples, 1) { // by turns, so that both see the same machine
		parse.time(func() { _, _ = html.Parse(bytes.NewReader(body)) })
		read.time(func() { _, _ = listing.Read(ctx, page) })
	}
	_, err := fmt.Fprintf(out, `page of %d bytes, %d times each, median (fastest)
x/net/html  %s
listing     %s
ratio       %.2f (%.2f)
`, len(body), len(parse.took), &parse, &read,
		float64(read.median())/float64(parse.median()), float64(slices.Min(read.took))/float64(slices.Min(parse.took)))
	const times, thousand = 1.3, 1000
	return []rig.Number{{
		Name:     fmt.Sprintf("reading a listing page of %d KB, median", len(body)/thousand),
		Measured: rig.Millis(read.median()),
		Baseline: rig.Millis(parse.median()).As("x/net/html parsing alone"),
		Aim:      rig.Aim{AtMost: times, Ratio: true},
	}}, err
}

// measured is how long a function took, each time, and what it allocated in
// total.
type measured struct {
	took           []time.Duration
	objects, bytes uint64
}

func (m *measured) time(do func()) {
	var before, after runtime.MemStats
	runtime.GC() // so that no function collects the garbage of the other
	runtime.ReadMemStats(&before)
	started := time.Now()
	do()
	m.took = append(m.took, time.Since(started))
	runtime.ReadMemStats(&after)
	m.objects += after.Mallocs - before.Mallocs
	m.bytes += after.TotalAlloc - before.TotalAlloc
}

func (m *measured) median() time.Duration {
	return slices.Sorted(slices.Values(m.took))[len(m.took)/2]
}

func (m *measured) String() string {
	n := uint64(len(m.took))
	return fmt.Sprintf("%8s (%s)  %d allocations, %d KB", m.median().Round(10*time.Microsecond),
		slices.Min(m.took).Round(10*time.Microsecond), m.objects/n, m.bytes/n>>10)
}
