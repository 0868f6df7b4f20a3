// Package browsertest drives a real Chromium, and records what pages complain of and load.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"ushuru/pkg/testenv"
)

const (
	lifetime = 8 * time.Minute  // of a tab
	timeout  = 30 * time.Second // of a wait
	pause    = 50 * time.Millisecond
	height   = 640 // of the window
	narrow   = 600 // below this width it is a phone
)

// Tab is a tab of Chromium.
type Tab struct {
	context.Context //nolint:containedctx // chromedp keeps the tab in it

	t  testing.TB
	mu sync.Mutex
	// complaints are the messages of the console and of the content security policy.
	complaints []string
	asked      []string
	allowed    []string // how the addresses begin that the pages may ask
	sizes      map[network.RequestID]float64
	requests   map[network.RequestID]string
}

// Open starts Chromium with an empty tab, and with more flags than a test usually needs.
// It ends with the test.
func Open(t testing.TB, more ...chromedp.ExecAllocatorOption) *Tab {
	t.Helper()
	flags := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(testenv.Browser(t)),
		// Else Chromium drops keys and clicks that come before the first picture of a page.
		chromedp.Flag("allow-pre-commit-input", true),
		chromedp.Flag("no-sandbox", os.Getuid() == 0)) // root has no sandbox
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), append(flags, more...)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, lifetime)
	t.Cleanup(cancel)
	return tabOf(t, ctx)
}

// Another returns another tab of the same browser: a new one, or with
// chromedp.WithTargetID one that a page has opened.
func (b *Tab) Another(options ...chromedp.ContextOption) *Tab {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.Context, options...)
	b.t.Cleanup(cancel)
	return tabOf(b.t, ctx)
}

// tabOf returns the tab of a context.
func tabOf(t testing.TB, ctx context.Context) *Tab { //nolint:revive // a test is always the first argument
	t.Helper()
	tab := &Tab{
		Context: ctx, t: t, sizes: map[network.RequestID]float64{}, requests: map[network.RequestID]string{},
		allowed: []string{"about:", "data:"},
	}
	chromedp.ListenTarget(ctx, tab.record)
	enable := func() error { return chromedp.Run(ctx, network.Enable(), log.Enable(), runtime.Enable()) }
	err := enable()
	if err != nil && strings.Contains(err.Error(), "navigated or closed") { // the tab was on the way to its first page
		err = enable()
	}
	if err != nil {
		t.Fatalf("a tab cannot be watched: %v", err)
	}
	return tab
}

func (b *Tab) record(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		// A form that the server refuses is a page like any other, and Chromium logs its status.
		if e.Entry.Source == log.SourceNetwork && strings.Contains(e.Entry.Text, "a status of 422") {
			return
		}
		b.complaints = append(b.complaints, e.Entry.Text+" "+e.Entry.URL)
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError {
			for _, argument := range e.Args {
				b.complaints = append(b.complaints, string(argument.Value)+argument.Description)
			}
		}
	case *network.EventRequestWillBeSent:
		b.asked = append(b.asked, e.Request.URL)
		b.requests[e.RequestID] = e.Request.URL
	case *network.EventLoadingFinished:
		b.sizes[e.RequestID] = e.EncodedDataLength
	}
}

// Run runs actions; they must succeed.
func (b *Tab) Run(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b, actions...); err != nil {
		b.t.Fatalf("%v\n%s", err, b.complaints)
	}
}

// Text returns what a JavaScript expression gives as text.
func (b *Tab) Text(expression string) (found string) {
	b.t.Helper()
	b.Run(chromedp.Evaluate("String("+expression+")", &found))
	return found
}

// View sets the width of the window, which is 640 px high, and the scheme: light or dark.
func (b *Tab) View(width int64, scheme string) {
	b.t.Helper()
	b.Run(emulation.SetDeviceMetricsOverride(width, height, 1, width < narrow),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

// Await waits until a JavaScript expression is true, over the pages that come and go.
func (b *Tab) Await(expression string) {
	b.t.Helper()
	for end := time.Now().Add(timeout); time.Now().Before(end); time.Sleep(pause) {
		var is bool
		if err := chromedp.Run(b, chromedp.Evaluate("!!("+expression+")", &is)); err == nil && is {
			return
		}
	}
	b.t.Fatalf("never true: %s\n%s", expression, b.describe())
}

// describe returns where the tab is, what is typed and what the page says, and what it
// asked and complained of last.
func (b *Tab) describe() string {
	ctx, cancel := context.WithTimeout(b, timeout)
	defer cancel()
	var shown string
	err := chromedp.Run(ctx, chromedp.Evaluate(`[location.href, document.readyState,
		...[...document.querySelectorAll("input")].map(field => field.name + "=" + field.value.slice(0, 100)),
		document.body.innerText.slice(0, 2000)].join("\n")`, &shown))
	b.mu.Lock()
	defer b.mu.Unlock()
	const last = 10
	return fmt.Sprintf("%s (%v)\nasked: %q\ncomplaints: %q", shown, err, b.asked[max(0, len(b.asked)-last):], b.complaints)
}

// Shoot writes a picture of the whole page into a folder, for people to look at; none when
// the folder is "".
func (b *Tab) Shoot(folder, name string) {
	b.t.Helper()
	if folder == "" {
		return
	}
	var picture []byte
	b.Run(chromedp.FullScreenshot(&picture, 100))
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// Check reports what no page may do: complain, ask another host, scroll sideways.
func (b *Tab) Check(home string) {
	b.t.Helper()
	if wide := b.Text(`document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide != "0" {
		b.t.Errorf("%s scrolls sideways by %s px", b.Text("location.pathname"), wide)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, complaint := range b.complaints {
		b.t.Errorf("the page complains: %s", complaint)
	}
	// Chromium may ask the server of an earlier page for its icon after the tab has left it.
	b.allowed = append(b.allowed, home)
	for _, asked := range b.asked {
		if !slices.ContainsFunc(b.allowed, func(begin string) bool { return strings.HasPrefix(asked, begin) }) {
			b.t.Errorf("the page asks %s", asked)
		}
	}
	b.complaints, b.asked = nil, nil
}

// Load is what a request brought, in bytes as they came over the line, headers included.
type Load struct {
	URL   string
	Bytes float64
}

// Loads returns what the tab has loaded so far.
func (b *Tab) Loads() (loads []Load) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, size := range b.sizes {
		loads = append(loads, Load{b.requests[id], size})
	}
	return loads
}
