package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/app"
	"ushuru/pkg/keys"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/logs"
	operation "ushuru/pkg/operate/status"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra/tratest"
)

var (
	hostileMessages = flag.Int("hostile.messages", testenv.Pick(500, 60), "messages on each channel")
	hostileValues   = flag.Int("hostile.values", testenv.Pick(250, 40), "values in Redis that are changed")
)

// text is a log that a test reads while it is written.
type text struct {
	mu   sync.Mutex
	data bytes.Buffer
}

func (l *text) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.data.Write(line)
}

func (l *text) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.data.String()
}

// besieged is a process with API and workers, and a caller.
type besieged struct {
	t         *testing.T
	client    redis.UniversalClient // of the attacker
	base, key string
	site      string
	log       *text
	random    *rand.Rand
}

func besiege(t *testing.T) *besieged {
	t.Helper()
	server := redistest.Start(t)
	o := on(t, options(t), server.URL)
	log := &text{}
	o.Log, o.AllowLoopback, o.Admin.Addr = logs.New(log, logs.Options{Level: "debug"}), true, "127.0.0.1:0"
	o.API.Page.Enabled = true
	o.Worker.Authority.BaseURL = tratest.Start(t, tratest.Options{}).URL
	o.Worker.Authority.Timeout, o.Worker.Fetch.Timeout = 10*time.Second, 10*time.Second
	site := httptest.NewServer(listingtest.New())
	t.Cleanup(site.Close)
	b := &besieged{
		t: t, client: redistest.Open(t, server.URL).Client(), base: "http://" + o.API.Listener.Addr().String(), site: site.URL, log: log,
		random: rand.New(rand.NewPCG(1, 2)),
	}
	var err error
	b.key, _, err = keys.NewStore(b.client).Create(t.Context(), "besieged")
	must(t, err)
	service, err := app.New(o)
	must(t, err)
	t.Cleanup(service.Stop)
	must(t, service.Start(t.Context()))
	return b
}

// do sends a request and returns status and body; it must be answered in time.
func (b *besieged) do(method, path string, body any) (int, []byte) {
	b.t.Helper()
	data, err := json.Marshal(body)
	must(b.t, err)
	ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, b.base+path, bytes.NewReader(data))
	must(b.t, err)
	request.Header.Set("X-Api-Key", b.key)
	request.Header.Set("Prefer", "wait=5")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.t.Errorf("%s %s: %v", method, path, err)
		return 0, nil
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Errorf("%s %s: %v", method, path, err)
	}
	return response.StatusCode, answer
}

func (b *besieged) estimate(i int) (int, []byte) {
	b.t.Helper()
	return b.do(http.MethodPost, "/v1/estimate", map[string]string{"url": b.site + listingtest.Cars()[i].Path()})
}

var panicked = regexp.MustCompile(`(?i).*(?:panic|runtime error|out of range|nil pointer).*`)

// survives fails when something has panicked, and when a new car is not estimated.
func (b *besieged) survives(car int) {
	b.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		code, answer := b.estimate(car)
		if code == http.StatusOK {
			break
		}
		if time.Now().After(end) {
			b.t.Errorf("POST /v1/estimate: %d %s", code, answer)
			break
		}
	}
	for _, line := range panicked.FindAllString(b.log.String(), 3) {
		if !strings.Contains(line, "redisx: panic") {
			b.t.Errorf("the log says %.400s", line)
		}
	}
}

// mutated returns a text as an attacker would change it.
func (b *besieged) mutated(value string) string {
	r := b.random
	switch r.IntN(12) {
	case 0:
		return ""
	case 1:
		return value[:r.IntN(len(value)+1)]
	case 2:
		return "{}"
	case 3:
		return strings.Repeat("[", 20_000)
	case 4:
		return "null"
	case 5:
		return strings.Repeat("x", 100_000)
	case 6: // numbers that nobody can calculate with
		return regexp.MustCompile(`-?\d+(\.\d+)?`).ReplaceAllStringFunc(value, func(n string) string {
			if r.IntN(3) > 0 {
				return n
			}
			return []string{"1e40000000", "-1", "99999999999999999999999", "0", "1e-40000000"}[r.IntN(5)]
		})
	case 7: // another type
		return regexp.MustCompile(`"[^"]*"`).ReplaceAllStringFunc(value, func(s string) string {
			if r.IntN(3) > 0 {
				return s
			}
			return []string{"null", "7", "{}", "[]", `"\u0000"`, `""`}[r.IntN(6)]
		})
	case 8: // without separators
		return strings.NewReplacer(":", "", "|", "", "#", "", "/", "").Replace(value)
	default:
		data := []byte(value)
		for range 1 + r.IntN(4) {
			if len(data) > 0 {
				data[r.IntN(len(data))] = byte(r.IntN(256))
			}
		}
		return string(data)
	}
}

// No message on any channel ends a process or stops its listening.
func TestHostileMessagesAreRefused(t *testing.T) {
	t.Parallel()
	b := besiege(t)
	valid := map[string][]string{
		"tasks:enqueued": {"authority", "authority_bulk", "any"}, "jobs:ended": {"01JABCDEFGHJKMNPQRSTVWXYZ0", ":", "{"},
		"keys:changed": {"abc"}, "asynq:cancel": {"01J.calculate.1"},
	}
	for channel, messages := range valid {
		for _, message := range messages {
			must(t, b.client.Publish(t.Context(), channel, message).Err())
		}
		for range *hostileMessages {
			must(t, b.client.Publish(t.Context(), channel, b.mutated(messages[b.random.IntN(len(messages))])).Err())
		}
	}
	b.survives(0)
	if !strings.Contains(b.log.String(), "tasks:enqueued") || strings.Count(b.log.String(), "a message on a channel of Redis was refused") > len(valid) {
		t.Errorf("the refused messages are not logged once for each channel: %.2000s", b.log)
	}
	must(t, b.client.Publish(t.Context(), "tasks:enqueued", strings.Repeat(" ", 1<<20)).Err())
	b.survives(1)
}

// A value in Redis that somebody has changed gives an error and no panic, at once.
func TestChangedValuesAreErrors(t *testing.T) {
	t.Parallel()
	b := besiege(t)
	paths := []string{"/v1/tra-status", "/v1/sites", "/v1/webhooks", "/v1/vehicles?make=TOYOTA", "/readyz"}
	for i := range 4 {
		if code, answer := b.estimate(i); code != http.StatusOK {
			t.Fatalf("%d %s", code, answer)
		}
	}
	cars := listingtest.Cars()
	compare := map[string]string{"url1": b.site + cars[0].Path(), "url2": b.site + cars[1].Path()}
	b.do(http.MethodPost, "/v1/compare", compare)
	_, answer := b.do(http.MethodPost, "/v1/batches", map[string]any{"items": []map[string]string{{"url": b.site + cars[0].Path()}, {"url": b.site + cars[5].Path()}}})
	var made struct {
		ID string `json:"id"`
	}
	must(t, json.Unmarshal(answer, &made))
	paths = append(paths, "/v1/batches/"+made.ID, "/v1/batches/"+made.ID+"/results", "/v1/batches/"+made.ID+"/results?format=xlsx")
	paths = append(paths, b.visit(4))
	b.do(http.MethodPost, "/v1/quote", map[string]any{"make": "TOYOTA", "modelBody": "IST", "year": 2010, "fuel": "PETROL", "fobPriceUSD": 3000})
	all, err := b.client.Keys(t.Context(), "*").Result()
	must(t, err)
	for _, key := range all {
		if strings.HasPrefix(key, "job:") {
			paths = append(paths, "/v1/jobs/"+key[strings.LastIndex(key, ":")+1:])
		}
	}
	for _, path := range paths {
		if code, answer := b.do(http.MethodGet, path, nil); code != http.StatusOK {
			t.Fatalf("GET %s: %d %.300s", path, code, answer)
		}
	}
	reader := operation.New(operation.Options{Redis: b.client})
	kinds := map[string][]string{} // keys by what they hold
	for _, key := range all {
		if kind := numbered.ReplaceAllString(key, ""); !strings.HasPrefix(key, "key:") && !strings.HasPrefix(key, "keys:") {
			kinds[kind] = append(kinds[kind], key) // whoever writes the others lets himself in
		}
	}
	names := slices.Sorted(maps.Keys(kinds))
	t.Logf("%d kinds of values: %q", len(names), names)
	for n := range max(*hostileValues, len(names)) {
		keys := kinds[names[n%len(names)]]
		key := keys[b.random.IntN(len(keys))]
		dump, err := b.client.Dump(t.Context(), key).Result()
		if err != nil {
			continue // it has expired
		}
		how := b.change(key)
		began := time.Now()
		b.do(http.MethodGet, paths[b.random.IntN(len(paths))], nil)
		b.do(http.MethodGet, paths[b.random.IntN(len(paths))], nil)
		switch n % 8 {
		case 0:
			b.do(http.MethodPost, "/v1/compare", compare)
		case 1:
			_, _ = reader.Read(t.Context())
		case 2, 3:
			b.estimate(n % 4)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("with %s changed to %.80s the requests took %v", key, how, took)
		}
		must(t, b.client.RestoreReplace(t.Context(), key, 0, dump).Err())
	}
	b.survives(6)
}

// numbered is what differs in the keys of things of one kind.
var numbered = regexp.MustCompile(`[0-9A-Z]{10,}|[0-9a-f]{12,}|[0-9.]+`)

// visit asks for a car at the pages, and returns the address of the answer.
func (b *besieged) visit(car int) string {
	b.t.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	form := url.Values{"u": {b.site + listingtest.Cars()[car].Path()}, "price": {"3000"}}
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.base+"/go", strings.NewReader(form.Encode()))
	must(b.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := client.Do(r)
	must(b.t, err)
	must(b.t, response.Body.Close())
	at := response.Header.Get("Location")
	if response.StatusCode != http.StatusSeeOther || at == "" {
		b.t.Fatalf("POST /go: %d", response.StatusCode)
	}
	return at
}

// change changes the value of a key, or one of its fields, and says how.
func (b *besieged) change(key string) string {
	b.t.Helper()
	ctx := b.t.Context()
	pick := func(fields []string) string { return fields[b.random.IntN(len(fields))] }
	switch kind := b.client.Type(ctx, key).Val(); {
	case b.random.IntN(12) == 0: // another type
		b.client.Del(ctx, key)
		b.client.RPush(ctx, key, "x", "{}")
		return "a list"
	case kind == "string":
		value := b.mutated(b.client.Get(ctx, key).Val())
		b.client.Set(ctx, key, value, redis.KeepTTL)
		return value
	case kind == "hash":
		fields := b.client.HKeys(ctx, key).Val()
		field := pick(fields)
		value := b.mutated(b.client.HGet(ctx, key, field).Val())
		b.client.HSet(ctx, key, field, value)
		return fmt.Sprintf("%s = %s", field, value)
	case kind == "list":
		value := b.mutated(b.client.LIndex(ctx, key, 0).Val())
		b.client.LSet(ctx, key, 0, value)
		return value
	case kind == "set":
		value := b.mutated(pick(b.client.SMembers(ctx, key).Val()))
		b.client.SAdd(ctx, key, value)
		return value
	default:
		value := b.mutated(pick(b.client.ZRange(ctx, key, 0, -1).Val()))
		b.client.ZAdd(ctx, key, redis.Z{Score: float64(b.random.IntN(2_000_000_000)), Member: value})
		return value
	}
}

// A token in a link is in no log and in no record but that of the job that was asked for:
// not when the site drops the connection, redirects, refuses or has no such name.
func TestTokensOfLinksStayInTheirJob(t *testing.T) {
	t.Parallel()
	const token = "tok3nOfACaller"
	b := besiege(t)
	var mu sync.Mutex
	asked := map[string]int{}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.Path]++
		mu.Unlock()
		switch r.URL.Path {
		case "/robots.txt":
			http.NotFound(w, r)
		case "/away":
			http.Redirect(w, r, "/drops?next="+token, http.StatusFound)
		case "/refuses":
			http.Error(w, "no session "+r.URL.String(), http.StatusServiceUnavailable)
		default: // drops the connection
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = conn.Close()
			}
		}
	}))
	t.Cleanup(site.Close)
	var requests sync.WaitGroup
	post := func(path, link string) {
		requests.Go(func() { b.do(http.MethodPost, path, map[string]string{"url": link}) })
	}
	for _, link := range []string{
		site.URL + "/drops?token=" + token, site.URL + "/drops2?a=b#" + token, site.URL + "/away?session=" + token, site.URL + "/refuses?key=" + token,
		"http://no.such.host.invalid/car?token=" + token, "http://127.0.0.1:1/car?token=" + token,
	} {
		post("/v1/estimate", link)
	}
	post("/v1/condition-report", site.URL+"/drops?token="+token)
	requests.Wait()
	testenv.Await(t, "the pages of a site that is asked at its pace", func() (any, bool) {
		mu.Lock()
		defer mu.Unlock()
		return len(asked), asked["/drops"] > 0 && asked["/refuses"] > 0
	})
	mu.Lock()
	defer mu.Unlock()
	if asked["/drops"] == 0 || asked["/refuses"] == 0 || !strings.Contains(b.log.String(), "EOF") {
		t.Errorf("the site was not asked: %v\n%s", asked, b.log)
	}
	for line := range strings.Lines(b.log.String()) {
		if strings.Contains(line, token) {
			t.Errorf("the log says %s", line)
		}
	}
	keysOfAsynq, err := b.client.Keys(t.Context(), "asynq:*").Result()
	must(t, err)
	for _, key := range keysOfAsynq {
		// A dump is compressed; a task is read as it is.
		held := b.client.Dump(t.Context(), key).Val() + fmt.Sprint(b.client.HGetAll(t.Context(), key).Val())
		if strings.Contains(held, token) {
			t.Errorf("%s has the token: %q", key, held)
		}
	}
}
