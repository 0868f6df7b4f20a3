package e2e

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/testenv"
)

// largeBody is a request that is large and good for nothing.
type largeBody struct{ name, path, contentType, body string }

// fill repeats a part up to a size in bytes.
func fill(begin, part, end string, size int) string {
	return begin + strings.Repeat(part, (size-len(begin)-len(end))/len(part)) + end
}

func largeBodies() []largeBody {
	const (
		json, table = "application/json", "text/csv"
		batch       = 8<<20 - 1
		file        = 12 << 20
	)
	var names strings.Builder
	for i := 0; names.Len() < batch-100; i++ {
		fmt.Fprintf(&names, `,"%d":0`, i)
	}
	const car = `{"url":"https://www.beforward.jp/toyota/corolla/cb123456/id/1234567/"`
	return []largeBody{
		{"rows that are zeros", "/v1/batches", json, fill(`{"urls":[0`, `,0`, `]}`, batch)},
		{"deep lists", "/v1/batches", json, fill(`{"a":`, `[`, ``, batch)},
		{"rows of empty objects", "/v1/batches", json, fill(`{"items":[{}`, `,{}`, `]}`, batch)},
		{"options of zeros", "/v1/batches", json, fill(`{"options":{"a":[0`, `,0`, `]}}`, batch)},
		{"a table of separators", "/v1/batches", table, fill("url\n", ",", "\n", batch)},
		{"a table of line ends", "/v1/batches", table, fill("url\n", "x\n", "", batch)},
		{"a page of escapes", "/v1/estimate", json, fill(car+`,"html":"`, `\n`, `"}`, batch)},
		{"a page and zeros", "/v1/estimate", json, fill(car+`,"html":"x","a":[0`, `,0`, `]}`, batch)},
		{"unknown fields", "/v1/estimate", json, car + names.String() + "}"},
		{"a file", "/v1/condition-report", "multipart/form-data; boundary=b", fill(
			"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"sheet.jpg\"\r\n\r\n", "\xff\xd8", "\r\n--b--\r\n", file)},
		{"many parts", "/v1/condition-report", "multipart/form-data; boundary=b", fill(
			"", "--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n\r\n", "\r\n--b--\r\n", file)},
	}
}

func (b largeBody) send(ctx context.Context, c *caller) response {
	return c.request(ctx, http.MethodPost, b.path, strings.NewReader(b.body), "Content-Type", b.contentType, "Prefer", "respond-async")
}

// One key sends large bodies that are refused, or good for nothing. One of them takes
// at most 64 MB, and a hundred at most 256.
func TestAttackLargeBodies(t *testing.T) {
	testenv.Long(t)
	bodies := largeBodies()
	s := attacked(t, settings{})
	first := s.caller("first")
	for _, body := range bodies {
		memory := s.watchMemory()
		got := body.send(t.Context(), first)
		peak := memory()
		t.Logf("one %s: %d %.80s; API %d → %d MB", body.name, got.status, got.body, peak.api>>20, peak.mostAPI>>20)
		// By the contract a page that is blocked is a 500 too, once its job has ended.
		if got.err != nil || got.status == http.StatusInternalServerError && !bytes.Contains(got.body, []byte(`"listing_blocked"`)) {
			t.Errorf("%s: %v %d %s", body.name, got.err, got.status, got.body)
		}
		if over := (peak.mostAPI - peak.api) >> 20; over > 64 {
			t.Errorf("one request with %s takes %d MB over idle", body.name, over)
		}
	}
	if !inFull() {
		bodies = []largeBody{{name: "large bodies of all kinds"}}
	}
	for _, body := range bodies {
		kinds := []largeBody{body}
		if !inFull() {
			kinds = largeBodies()
		}
		{
			n := pick(100, 10)
			s.attack(attack{
				name: fmt.Sprintf("%d at once: %s", n, body.name), maxAPI: 256, maxRedis: 256,
				run: func(ctx context.Context, attacker *caller) {
					atOnce(ctx, n, func(ctx context.Context, i int) { kinds[i%len(kinds)].send(ctx, attacker) })
				},
			})
		}
	}
}

// One key exports the results of its largest batch, many times at once, as XLSX and as
// tables that it does not read.
func TestAttackExports(t *testing.T) {
	testenv.Long(t)
	s := attacked(t, settings{worker: []string{"--fetch-rate", "0"}})
	attacker, rows := s.caller("owner of the batch"), pick(10_000, 1000)
	large := s.batchOf(attacker, rows)
	small := map[*caller]string{}
	s.attack(attack{
		name: fmt.Sprintf("10 exports of %d rows", rows), maxAPI: 256,
		run: func(ctx context.Context, cost *caller) {
			cost.key = attacker.key
			atOnce(ctx, 10, func(ctx context.Context, i int) {
				path := large + "/results?format=" + []string{"xlsx", "xlsx", "csv", "json"}[i%4]
				if i%5 > 0 {
					cost.request(ctx, http.MethodGet, path, http.NoBody)
					return
				}
				conn, err := cost.connect(ctx, cost.from, cost.head(http.MethodGet, path)) // and reads nothing
				if err == nil {
					sleep(ctx, 10*time.Second)
					_ = conn.Close()
				}
			})
		},
		victim: func(ctx context.Context, victim *caller, i int) response {
			if small[victim] == "" {
				small[victim] = s.batchOf(victim, 50) //nolint:contextcheck // the site lives as long as the test
			}
			return victim.request(ctx, http.MethodGet, small[victim]+"/results?format="+[]string{"xlsx", "csv"}[i%2], http.NoBody)
		},
	})
}

// batchOf has a caller create a batch of a few listings, each with many rows, and
// returns its path once it has ended.
func (s *underAttack) batchOf(c *caller, rows int) (path string) {
	s.t.Helper()
	site, cars := s.listings(), listingtest.Cars()
	var table bytes.Buffer
	table.WriteString("url,reference\n")
	for i := range rows {
		fmt.Fprintf(&table, "%s%s,row %d\n", site, cars[i%min(len(cars), 3)].Path(), i)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	got := c.request(ctx, http.MethodPost, "/v1/batches", &table, "Content-Type", "text/csv")
	if got.status != http.StatusCreated {
		s.t.Fatalf("a batch of %d rows: %v %d %s", rows, got.err, got.status, got.body)
	}
	path = got.header.Get("Location")
	for {
		state := c.request(ctx, http.MethodGet, path, http.NoBody)
		if bytes.Contains(state.body, []byte(`"state":"completed"`)) {
			return path
		}
		if !sleep(ctx, 200*time.Millisecond) {
			s.t.Fatalf("the batch did not end: %s", state.body)
		}
	}
}
