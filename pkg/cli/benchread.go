package cli

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/net/html"

	"ushuru/pkg/listing"
	"ushuru/pkg/listing/listingtest"
)

// benchRead compares reading a listing with the least that it needs.
type benchRead struct {
	Samples int    `default:"50" help:"How often to read the page."`
	Size    int    `default:"600000" help:"Bytes of the made page."`
	URL     string `name:"url" placeholder:"URL" help:"Where FILE was saved from."`
	File    string `arg:"" optional:"" type:"existingfile" name:"FILE" help:"A saved page; without one, a made one of --size bytes."`
}

// Run is called by kong.
func (c *benchRead) Run(r *run) error {
	body := listingtest.Large(c.Size)
	if c.File != "" {
		var err error
		if body, err = os.ReadFile(c.File); err != nil {
			return err
		}
	}
	page := listing.FromFile(body, c.URL)
	if _, err := listing.Read(page); err != nil {
		_, _ = fmt.Fprintf(r.Err, "the page is no readable listing, but takes time all the same: %v\n", err)
	}
	var parse, read measured
	for range max(c.Samples, 1) { // in turn, so that both see the same machine
		parse.time(func() { _, _ = html.Parse(bytes.NewReader(body)) })
		read.time(func() { _, _ = listing.Read(page) })
	}
	_, err := fmt.Fprintf(r.Out, `page of %d bytes, %d times each, median (fastest)
x/net/html  %s
listing     %s
ratio       %.2f (%.2f)
`, len(body), len(parse.took), &parse, &read,
		float64(read.median())/float64(parse.median()), float64(slices.Min(read.took))/float64(slices.Min(parse.took)))
	return err
}

// measured is what a function took, each time, and what it allocated in all.
type measured struct {
	took           []time.Duration
	objects, bytes uint64
}

func (m *measured) time(do func()) {
	var before, after runtime.MemStats
	runtime.GC() // what one leaves behind the other must not sweep up
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
