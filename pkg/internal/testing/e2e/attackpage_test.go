package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/testenv"
)

// visit asks for a listing as a visitor of the pages does.
func (c *caller) visit(ctx context.Context, link string) response {
	form := url.Values{"u": {link}}
	return c.request(ctx, http.MethodPost, "/go", strings.NewReader(form.Encode()),
		"Content-Type", "application/x-www-form-urlencoded")
}

// Visitors without a key or a cookie ask for pages that never end: they are
// at their cap, which is half of the jobs of their network, and a key is answered as fast as before.
func TestAttackVisitorsAtTheCapOfThePages(t *testing.T) {
	testenv.Long(t)
	s := attacked(t, settings{api: []string{"--page"}, worker: []string{"--fetch-rate", "0"}})
	site := s.serve(drip())
	var admitted, refused atomic.Int64
	s.attack(attack{
		name: "visitors at the cap of the pages", factor: 1.5, lead: pick(10*time.Second, 4*time.Second),
		run: func(ctx context.Context, visitors *caller) {
			visitors.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			atOnce(ctx, 32, func(ctx context.Context, i int) {
				switch got := visitors.visit(ctx, fmt.Sprintf("%s/%d", site, i)); got.status {
				case http.StatusSeeOther:
					admitted.Add(1)
				case http.StatusTooManyRequests:
					refused.Add(1)
				}
			})
		},
	})
	t.Logf("%d estimates of visitors were started, %d requests beyond the cap were answered with 429", admitted.Load(), refused.Load())
	if admitted.Load() < 20 || refused.Load() == 0 {
		t.Errorf("the pages were not at their cap: %d started, %d refused", admitted.Load(), refused.Load())
	}
}

// A visitor of one network sends all that a visitor can: other targets, prices and years for a car
// that is known, comparisons, bills, cars by hand, and reads pages. What Redis keeps of it is
// bounded, and people of twenty other networks are not refused.
func TestAttackVisitorsOfOneNetwork(t *testing.T) {
	testenv.Long(t)
	s := attacked(t, settings{api: []string{"--page"}, worker: []string{"--fetch-rate", "0"}})
	site, cars, drips := s.listings(), listingtest.Cars(), s.serve(drip())
	link := func(i int) string { return site + cars[i%len(cars)].Path() }
	forms := func(i int) (path string, form url.Values) {
		target, price := strconv.Itoa(20_000_000+i), strconv.Itoa(3000+i)
		switch i % 8 {
		case 0, 1:
			return "/bid", url.Values{"u": {link(0)}, "target": {target}}
		case 2:
			return "/go", url.Values{"u": {link(1)}, "price": {price}}
		case 3:
			return "/go", url.Values{"u": {link(i)}, "year": {strconv.Itoa(2000 + i%25)}, "cc": {strconv.Itoa(600 + i)}}
		case 4:
			return "/c", url.Values{"u1": {link(i)}, "u2": {link(i + 1)}}
		case 5:
			return "/bill", url.Values{"u": {link(0)}, "text": {"Agency fee TZS " + price + "\n" + strings.Repeat("Wharfage TZS 100000\n", 400)}}
		case 6:
			return "/hand", url.Values{"make": {"TOYOTA"}, "modelBody": {"IST"}, "year": {"2010"}, "cc": {price}}
		}
		return "/go", url.Values{"u": {fmt.Sprintf("%s/%d", drips, i)}}
	}
	send := func(ctx context.Context, c *caller, client *http.Client, method, path string, form url.Values) (status int, at string) {
		r, err := http.NewRequestWithContext(ctx, method, s.base+path, strings.NewReader(form.Encode()))
		if err != nil {
			return 0, ""
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		c.requests.Add(1)
		got, err := client.Do(r)
		if err != nil {
			return 0, ""
		}
		defer func() { _ = got.Body.Close() }()
		_, _ = io.Copy(io.Discard, got.Body)
		return got.StatusCode, got.Header.Get("Location")
	}
	var others []*http.Client
	var refused, kept atomic.Int64
	s.attack(attack{
		name: "all that a visitor can send", maxAPI: 128, maxRedis: 16, lead: pick(60*time.Second, 6*time.Second),
		run: func(ctx context.Context, visitor *caller) {
			visitor.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			atOnce(ctx, 16, func(ctx context.Context, i int) {
				path, form := forms(i)
				switch status, at := send(ctx, visitor, visitor.client, http.MethodPost, path, form); status {
				case http.StatusSeeOther:
					kept.Add(1)
					send(ctx, visitor, visitor.client, http.MethodGet, at, nil)
				case http.StatusTooManyRequests:
					refused.Add(1)
				}
			})
		},
		victim: func(ctx context.Context, victim *caller, i int) response {
			for len(others) < 20 { // each of a network of its own
				client := victim.clientFrom(net.IPv4(127, 0, byte(10+len(others)), 1))
				others = append(others, client)
			}
			status, _ := send(ctx, victim, others[i%20], http.MethodPost, "/go", url.Values{"u": {link(i)}})
			return response{status: status} // of the page that the answer is on
		},
	})
	t.Logf("%d requests led to a page, %d were refused", kept.Load(), refused.Load())
	if kept.Load() == 0 || refused.Load() == 0 {
		t.Errorf("got %d requests with a page and %d refused, want some of each", kept.Load(), refused.Load())
	}
}

// A visitor of one network sends all that holds something back from others: forty links to pages that
// never end, twenty-five sheets, ten files a byte a second. People of twenty other networks ask for
// cars, and have sheets read, as before.
func TestAttackVisitorsOfOneNetworkHoldNothing(t *testing.T) {
	testenv.Long(t)
	o := withAI(t, 0, "AI_DAILY_TOKENS=200000")
	o.api, o.worker = []string{"--page"}, []string{"--fetch-rate", "0"}
	s := attacked(t, o)
	next, site, cars := sheets(t), s.listings(), listingtest.Cars()
	people := s.caller("people")
	networks := make([]*http.Client, 20)
	for i := range networks {
		networks[i] = people.clientFrom(net.IPv4(127, 0, byte(10+i), 1))
		networks[i].CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	var refused, read atomic.Int64
	s.attack(attack{
		name: "dripping links, sheets and slow files of one network", lead: pick(20*time.Second, 6*time.Second),
		run: func(ctx context.Context, visitor *caller) {
			visitor.client.CheckRedirect = networks[0].CheckRedirect
			drips := s.serve(drip()) //nolint:contextcheck // it serves until the test ends
			var all sync.WaitGroup
			all.Go(func() {
				atOnce(ctx, 4, func(ctx context.Context, i int) {
					if visitor.visit(ctx, fmt.Sprintf("%s/%d", drips, i)).status == http.StatusTooManyRequests {
						refused.Add(1)
						sleep(ctx, 100*time.Millisecond)
					}
				})
			})
			all.Go(func() {
				atOnce(ctx, 5, func(ctx context.Context, _ int) { visitor.sheet(ctx, bytes.NewReader(next())) })
			})
			all.Go(func() { atOnce(ctx, 10, func(ctx context.Context, _ int) { visitor.sheet(ctx, slow{ctx}) }) })
			all.Wait()
		},
		victim: func(ctx context.Context, _ *caller, i int) response {
			person := &caller{s: s, client: networks[i%len(networks)]}
			var got response
			if i%3 == 0 {
				got = person.sheet(ctx, bytes.NewReader(next()))
			} else {
				got = person.visit(ctx, fmt.Sprintf("%s%s?n=%d", site, cars[i%2].Path(), i))
			}
			if got.status != http.StatusSeeOther {
				return got
			}
			for at := got.header.Get("Location"); ctx.Err() == nil; sleep(ctx, 20*time.Millisecond) {
				got = person.request(ctx, http.MethodGet, at, http.NoBody, "Accept", "application/json")
				if got.status != http.StatusOK || bytes.Contains(got.body, []byte(`"summary"`)) || bytes.Contains(got.body, []byte(`"tax"`)) {
					read.Add(1)
					return got
				}
			}
			return response{err: ctx.Err()}
		},
	})
	t.Logf("%d requests of the network were refused, %d answers of people were read", refused.Load(), read.Load())
	if refused.Load() == 0 || read.Load() == 0 {
		t.Errorf("got %d refused and %d read, want some of each", refused.Load(), read.Load())
	}
}

// sheet sends a file as a visitor does.
func (c *caller) sheet(ctx context.Context, file io.Reader) response {
	const head = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"sheet.jpg\"\r\n\r\n"
	return c.request(ctx, http.MethodPost, "/s", io.MultiReader(strings.NewReader(head), file, strings.NewReader("\r\n--b--\r\n")),
		"Content-Type", "multipart/form-data; boundary=b")
}

// processorTime returns what a process has used of the processors, in hundredths of a second.
func (s *underAttack) processorTime(pid int) (ticks int) {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(data), ") ")
	if fields := strings.Fields(rest); len(fields) > 12 {
		user, _ := strconv.Atoi(fields[11])
		system, _ := strconv.Atoi(fields[12])
		ticks = user + system
	}
	return ticks
}

// A visitor of one network reads a page a hundred times a second: most are refused, and the API
// uses a fraction of a processor.
func TestAttackReader(t *testing.T) {
	testenv.Long(t)
	t.Parallel() // there is no victim whose waits count
	s := attacked(t, settings{api: []string{"--page"}})
	reader := s.caller("reader")
	reader.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	link := s.listings() + listingtest.Cars()[0].Path()
	at := reader.visit(t.Context(), link).header.Get("Location")
	if at == "" {
		t.Fatal("no page")
	}
	testenv.Await(t, "the answer", func() (any, bool) {
		got := reader.request(t.Context(), http.MethodGet, at, http.NoBody, "Accept", "text/html")
		return got.status, bytes.Contains(got.body, []byte(`id="number"`))
	})
	read := map[int]int{}
	ask := func() int {
		return reader.request(t.Context(), http.MethodGet, at, http.NoBody, "Accept", "text/html", "Accept-Encoding", "gzip").status
	}
	times(800, 8, func(int) { ask() }) // until what may be used at once is gone
	ticks, begun := s.processorTime(s.api.PID()), time.Now()
	for range 1000 {
		read[ask()]++
		sleep(t.Context(), 9*time.Millisecond)
	}
	took := time.Since(begun)
	used := float64(s.processorTime(s.api.PID())-ticks) / 100 / took.Seconds()
	t.Logf("%v; %.0f requests a second use %.2f of a processor", read, 1000/took.Seconds(), used)
	if used > 0.25 || read[http.StatusTooManyRequests] == 0 {
		t.Errorf("got %.2f of a processor and %v, want at most 0.25, some read and the rest refused", used, read)
	}
	// On a busy machine each page took longer, which is paid back for longer.
	testenv.Await(t, "a page that is read", func() (any, bool) {
		if read[http.StatusOK] == 0 {
			read[ask()]++
		}
		return read, read[http.StatusOK] > 0
	})
}
