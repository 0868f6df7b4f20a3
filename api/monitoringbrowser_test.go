package api_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

// browser starts Chromium for the time of the test.
func browser(t *testing.T, flags ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	binary := testenv.Browser(t)
	all := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(binary), chromedp.Flag("allow-pre-commit-input", true), // see browsertest.Open
		chromedp.Flag("no-sandbox", os.Getuid() == 0)) // root has no sandbox
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), append(all, flags...)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// TestMonitoringWorksInABrowser opens the page under its content security
// policy: it must draw a queue and its task, and miss nothing but the fonts of
// Google.
func TestMonitoringWorksInABrowser(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	a := newApp(t, redistest.Open(t, redistest.Start(t).URL), monitored)
	id := a.submit(t, "/seen")

	ctx := browser(t)
	var (
		mu         sync.Mutex
		complaints []string
		shown      string
	)
	chromedp.ListenTarget(ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *log.EventEntryAdded:
			complaints = append(complaints, e.Entry.Text)
		case *runtime.EventExceptionThrown:
			complaints = append(complaints, e.ExceptionDetails.Error())
		}
	})
	err := chromedp.Run(ctx,
		network.Enable(), log.Enable(), runtime.Enable(),
		network.SetExtraHTTPHeaders(network.Headers{"Authorization": basic(operator, password)}),
		chromedp.Navigate(a.URL+"/monitoring/queues/any?status=pending"),
		chromedp.Poll(`document.body.innerText.includes("estimate:scrape")`, nil),
		chromedp.Text("body", &shown),
	)
	mu.Lock()
	defer mu.Unlock()
	if err != nil {
		t.Fatalf("%v\n%s\n%q", err, shown, complaints)
	}
	if !strings.Contains(shown, "/seen") || !strings.Contains(shown, id) {
		t.Errorf("the page does not show the payload:\n%s", shown)
	}
	for _, complaint := range complaints {
		if !strings.Contains(complaint, "https://fonts.googleapis.com/") {
			t.Errorf("the page complains: %s", complaint)
		}
	}
}
