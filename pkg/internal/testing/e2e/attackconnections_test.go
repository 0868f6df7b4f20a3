package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/testenv"
)

// afresh opens a connection for each request, as callers do who come by.
func afresh(ask func(context.Context, *caller, int) response) func(context.Context, *caller, int) response {
	return func(ctx context.Context, victim *caller, i int) response {
		victim.client.CloseIdleConnections()
		return ask(ctx, victim, i)
	}
}

// lives are how long the connections of each kind lived until the server closed them.
type lives struct {
	mu      sync.Mutex
	longest map[string]time.Duration
	answers map[string]string // the last ones that came before the end
}

func (l *lives) add(kind string, lived time.Duration, answer string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.longest == nil {
		l.longest, l.answers = map[string]time.Duration{}, map[string]string{}
	}
	l.longest[kind] = max(l.longest[kind], lived)
	if answer != "" {
		l.answers[kind] = answer
	}
}

// hold keeps a connection until the server closes it, sends a byte each second if it
// drips, and returns what the server answered.
func hold(ctx context.Context, conn net.Conn, drips bool) (answer string, lived time.Duration) {
	begun := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer cancel()
	if drips {
		go func() {
			for sleep(ctx, time.Second) {
				if _, err := io.WriteString(conn, "x"); err != nil {
					return
				}
			}
		}()
	}
	data, _ := io.ReadAll(conn)
	return string(data), time.Since(begun)
}

// One address opens all the connections that it can, and sends nothing, headers or a
// body a byte a second, or nothing after a request.
func TestAttackIdleConnections(t *testing.T) {
	testenv.Long(t)
	s := attacked(t, settings{})
	kinds := []struct {
		name, sent string
		drips      bool
		limit      time.Duration
		answer     string
	}{
		{"nothing", "", false, 5 * time.Second, ""},
		{"slow headers", "GET /healthz HTTP/1.1\r\nHost: attack\r\nX-A: ", true, 5 * time.Second, ""},
		{"after a request", "GET /healthz HTTP/1.1\r\nHost: attack\r\n\r\n", false, 30 * time.Second, "HTTP/1.1 200"},
		{"slow body", "", true, 15 * time.Second, "HTTP/1.1 408"},
		{"slow large body", "", true, 10 * time.Second, "HTTP/1.1 408"},
	}
	const tolerance = 2 * time.Second
	var ended lives
	s.attack(attack{
		name: "800 idle and slow connections", maxAPI: 64, maxRedis: 16,
		lead: kinds[2].limit + tolerance, victim: afresh(s.usual()),
		run: func(ctx context.Context, attacker *caller) {
			kinds[3].sent = attacker.head(http.MethodPost, "/v1/quote", "Content-Length: 60000")
			kinds[4].sent = attacker.head(http.MethodPost, "/v1/estimate", "Content-Length: 600000")
			atOnce(ctx, 800, func(ctx context.Context, i int) {
				kind := kinds[i%4]
				if i < 2 { // more would wait for a place
					kind = kinds[4]
				}
				conn, err := attacker.connect(ctx, attacker.from, kind.sent)
				if err != nil {
					sleep(ctx, time.Second)
					return
				}
				answer, lived := hold(ctx, conn, kind.drips)
				if ctx.Err() != nil {
					return
				}
				if strings.HasPrefix(answer, "HTTP/1.1 503") || lived < time.Second { // refused
					ended.add("refused", lived, answer)
					sleep(ctx, 5*time.Second)
					return
				}
				ended.add(kind.name, lived, answer)
			})
		},
	})
	for _, kind := range kinds {
		lived, answer := ended.longest[kind.name], ended.answers[kind.name]
		if lived < kind.limit-tolerance || lived > kind.limit+tolerance || !strings.HasPrefix(answer, kind.answer) {
			t.Errorf("%s: a connection lived %v, want %v; answered %.200q, want %q", kind.name, lived, kind.limit, answer, kind.answer)
		}
	}
	if !strings.Contains(ended.answers["refused"], `"too_many_connections"`) {
		t.Errorf("no connection was refused: %v", ended.longest)
	}
}

// Many addresses together open more connections than the API takes: those that wait
// for nothing make room for a caller who comes.
func TestAttackConnectionsOfManyAddresses(t *testing.T) {
	testenv.Long(t)
	const each = 500
	s := attacked(t, settings{})
	s.attack(attack{
		name: fmt.Sprintf("%d connections of 12 addresses", 12*each), maxAPI: 256, maxRedis: 16,
		lead: 3 * time.Second, victim: afresh(s.usual()),
		run: func(ctx context.Context, attacker *caller) {
			addresses := s.addresses(12)
			atOnce(ctx, 12*each, func(ctx context.Context, i int) {
				kind := []string{"", "GET /healthz HTTP/1.1\r\nHost: attack\r\n\r\n", "GET / HTTP/1.1\r\nX-A: "}[i/len(addresses)%3]
				if conn, err := attacker.connect(ctx, addresses[i%len(addresses)], kind); err == nil {
					hold(ctx, conn, i%2 == 0)
				}
				sleep(ctx, time.Second)
			})
		},
	})
}

// One key has many requests wait for pages that never come: some of its requests wait,
// the others are answered at once.
func TestAttackWaiters(t *testing.T) {
	testenv.Long(t)
	s := attacked(t, settings{api: []string{"--key-jobs", "400"}, worker: []string{"--fetch-rate", "0"}})
	site := s.serve(drip())
	var waiting lives
	const atMost = 200 // of one key
	s.attack(attack{
		name: "300 requests that wait", maxAPI: 64, maxRedis: 16, lead: 3 * time.Second,
		run: func(ctx context.Context, attacker *caller) {
			var all sync.WaitGroup
			for i := range 300 {
				all.Go(func() {
					begun := time.Now()
					got := attacker.post(ctx, "/v1/estimate", map[string]string{"url": fmt.Sprintf("%s/%d", site, i%90)})
					if got.status == http.StatusGatewayTimeout && time.Since(begun) < 3*time.Second {
						waiting.add(strconv.Itoa(i), time.Since(begun), "")
					}
				})
			}
			all.Wait()
			<-ctx.Done()
		},
	})
	if n := len(waiting.longest); n != 300-atMost {
		t.Errorf("%d requests were answered at once, want %d", n, 300-atMost)
	}
}

// Many addresses guess the operator's password as fast as they can, while the operator
// looks at the page.
func TestAttackGuessesOfThePassword(t *testing.T) {
	testenv.Long(t)
	const password = "the right one of this test"
	s := attacked(t, settings{env: []string{"OPERATOR_PASSWORD=" + password}})
	login := func(ctx context.Context, c *caller, client *http.Client, password string) response {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/monitoring/", http.NoBody)
		if err != nil {
			return response{err: err}
		}
		r.SetBasicAuth("operator", password)
		c.requests.Add(1)
		got, err := client.Do(r)
		if err != nil {
			return response{err: err}
		}
		defer func() { _ = got.Body.Close() }()
		data, err := io.ReadAll(got.Body)
		return response{got.StatusCode, got.Header, data, err}
	}
	var guesses struct {
		sync.Mutex

		by   map[int]int // statuses
		took time.Duration
	}
	guesses.by = map[int]int{}
	usual, page := s.usual(), false
	s.attack(attack{
		name: "guesses of the operator's password", maxAPI: 64,
		run: func(ctx context.Context, attacker *caller) {
			var clients []*http.Client
			for _, address := range s.addresses(20) {
				clients = append(clients, attacker.clientFrom(address))
			}
			begun := time.Now()
			atOnce(ctx, pick(40, 8), func(ctx context.Context, i int) {
				for range 5 {
					got := login(ctx, attacker, clients[i%len(clients)], strconv.Itoa(i))
					guesses.Lock()
					guesses.by[got.status]++
					guesses.Unlock()
				}
			})
			guesses.took = time.Since(begun)
		},
		victim: func(ctx context.Context, victim *caller, i int) response {
			if page = !page; page {
				return login(ctx, victim, victim.client, password)
			}
			return usual(ctx, victim, i)
		},
	})
	const burst = 30
	if seen := guesses.by[http.StatusUnauthorized]; seen > burst+1+int(guesses.took/time.Second) || guesses.by[http.StatusOK] > 0 {
		t.Errorf("the password was looked at %d times in %v: %v", seen, guesses.took, guesses.by)
	}
	if guesses.by[http.StatusTooManyRequests] == 0 {
		t.Errorf("no guess was refused: %v", guesses.by)
	}
}

// One address sends requests whose head or body a proxy may read differently, and
// requests that are cut: each connection is closed, and nothing follows it.
func TestAttackSmuggledRequests(t *testing.T) {
	testenv.Long(t)
	s := attacked(t, settings{})
	car := listingtest.Cars()[0]
	s.attack(attack{
		name: "smuggled and cut requests", maxAPI: 64, maxRedis: 16, victim: afresh(s.usual()),
		run: func(ctx context.Context, attacker *caller) {
			inner := attacker.head(http.MethodGet, "/v1/sites")
			heads := []string{
				attacker.head(http.MethodPost, "/v1/quote", "Content-Length: 5", "Transfer-Encoding: chunked") + "0\r\n\r\n" + inner,
				attacker.head(http.MethodPost, "/v1/quote", "Content-Length: 5", "Content-Length: 6") + "{}\r\n\r\n" + inner,
				attacker.head(http.MethodPost, "/v1/estimate", "Content-Length: 400") + `{"url":"` + car.Path(),
			}
			atOnce(ctx, 20, func(ctx context.Context, i int) {
				conn, err := attacker.connect(ctx, attacker.from, heads[i%len(heads)])
				if err != nil {
					return
				}
				if i%len(heads) == len(heads)-1 {
					_ = conn.Close()
					return
				}
				defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
				answers := bufio.NewReader(conn)
				first, err := http.ReadResponse(answers, nil)
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, first.Body)
				_ = first.Body.Close()
				rest, _ := io.ReadAll(answers)
				if first.StatusCode < http.StatusBadRequest || len(rest) > 0 {
					t.Errorf("%q was answered %d, and then %.100q", heads[i%len(heads)], first.StatusCode, rest)
				}
				_ = conn.Close()
			})
		},
	})
}
