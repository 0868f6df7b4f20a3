package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/keys"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/pace"
	"ushuru/pkg/testenv"
)

// One key repeats a request whose answer is cached, each time under another
// Idempotency-Key: what is kept of each is small and counts.
func TestAttackRepeatsOfACachedAnswer(t *testing.T) {
	testenv.Long(t)
	s := attacked(t, settings{})
	listing := map[string]string{"url": s.listings() + listingtest.Cars()[0].Path()}
	s.attack(attack{
		name: "repeats of a cached answer", maxAPI: 64, maxRedis: 16,
		run: func(ctx context.Context, attacker *caller) {
			attacker.post(ctx, "/v1/estimate", listing)
			atOnce(ctx, 32, func(ctx context.Context, i int) {
				attacker.post(ctx, "/v1/estimate", listing, "Idempotency-Key", strconv.Itoa(i))
			})
		},
	})
}

// tableOf is a batch of URLs whose paths cannot be packed.
func tableOf(rows, size int, site string) *strings.Reader {
	var table strings.Builder
	table.WriteString("url\n")
	random := make([]byte, size*3/4)
	for range rows {
		_, _ = rand.Read(random)
		fmt.Fprintf(&table, "%s/%s\n", site, base64.RawURLEncoding.EncodeToString(random))
	}
	return strings.NewReader(table.String())
}

// nowhere is a site that does not exist, forbidden an address of which no row is valid.
const nowhere, forbidden = "https://cars.invalid", "ftp://cars.invalid"

// invalidBut is a batch of which one row alone is valid.
func invalidBut(rows, size int) io.Reader {
	return io.MultiReader(tableOf(rows-1, size, forbidden), strings.NewReader(nowhere+"/"+rand.Text()+"\n"))
}

// One key sends its largest batches of long URLs, as many as it may have at once, and
// cancels them to send others, until nothing more is kept for it.
func TestAttackBatchesThatFillRedis(t *testing.T) {
	testenv.Long(t)
	limit := pick(288, 24) // MB; 288 is the default
	s := attacked(t, settings{api: []string{"--key-bytes", fmt.Sprintf("%dMB", limit)}})
	rows := pick(10_000, 1000)
	refused := false
	s.attack(attack{
		name: fmt.Sprintf("batches of %d long rows, cancelled", rows), maxAPI: 256, maxRedis: int64(limit) * 4 / 3,
		lead: pick(60*time.Second, 5*time.Second),
		run: func(ctx context.Context, attacker *caller) {
			for ctx.Err() == nil {
				got := attacker.request(ctx, http.MethodPost, "/v1/batches?onInvalid=skip", tableOf(rows, 760, nowhere),
					"Content-Type", "text/csv")
				switch {
				case got.status == http.StatusCreated:
					attacker.request(ctx, http.MethodDelete, got.header.Get("Location"), http.NoBody)
				case bytes.Contains(got.body, []byte("too_many_bytes")):
					refused = true
					sleep(ctx, time.Second)
				default:
					sleep(ctx, time.Second)
				}
			}
		},
	})
	if !refused {
		t.Error("no batch was refused because of its bytes")
	}
}

// One key has 30,000 rows that fail, and batches of which nearly all rows are invalid.
func TestAttackHostileRows(t *testing.T) {
	testenv.Long(t)
	s := attacked(t, settings{worker: []string{"--fetch-rate", "0"}})
	rows := pick(10_000, 2000)
	s.attack(attack{
		name: fmt.Sprintf("batches of %d rows that fail or are invalid", rows), maxAPI: 256, maxRedis: 256,
		lead: pick(10*time.Second, 2*time.Second),
		run: func(ctx context.Context, attacker *caller) {
			atOnce(ctx, 4, func(ctx context.Context, i int) {
				table := invalidBut(rows, 300)
				if i%2 > 0 {
					table = tableOf(rows, 300, nowhere)
				}
				attacker.request(ctx, http.MethodPost, "/v1/batches?onInvalid=skip", table, "Content-Type", "text/csv")
				sleep(ctx, time.Second)
			})
		},
	})
}

// What is kept because of a key takes at most a third more in Redis than is accounted
// for: 288 MB of an account are at most 384 MB.
func TestAttackBytesAreAccountedFor(t *testing.T) {
	testenv.Long(t)
	t.Parallel() // there is no victim whose waits count
	s := attacked(t, settings{
		api: []string{"--key-rate", "0", "--key-bytes", "0"}, worker: []string{"--fetch-rate", "0"},
	})
	site, car := s.listings(), listingtest.Cars()[0]
	accounts := pace.NewAccounts(s.conn.Client(), pace.KindBytes)
	s.batchOf(s.caller("the first"), 10) // Redis has TRA's catalogue now
	for name, use := range map[string]func(ctx context.Context, c *caller){
		"records of Idempotency-Keys": func(ctx context.Context, c *caller) {
			listing := map[string]string{"url": site + car.Path()}
			c.post(ctx, "/v1/estimate", listing)
			times(pick(20_000, 4000), 32, func(i int) {
				c.post(ctx, "/v1/estimate", listing, "Idempotency-Key", strconv.Itoa(i))
			})
		},
		"estimates": func(ctx context.Context, c *caller) {
			times(pick(1000, 100), 8, func(i int) {
				c.post(ctx, "/v1/estimate", map[string]any{"url": fmt.Sprintf("%s%s?n=%d", site, car.Path(), i), "explain": true})
			})
		},
		"pages that were sent": func(ctx context.Context, c *caller) {
			times(pick(100, 20), 4, func(i int) {
				page := fmt.Sprintf("<title>%d</title>%s", i, strings.Repeat("a car ", 10_000))
				c.post(ctx, "/v1/estimate", map[string]any{"url": site + car.Path(), "html": page})
			})
		},
		"batches of short rows": func(ctx context.Context, c *caller) {
			for range pick(5, 2) {
				got := c.request(ctx, http.MethodPost, "/v1/batches", tableOf(pick(10_000, 2000), 9, nowhere), "Content-Type", "text/csv")
				c.request(ctx, http.MethodDelete, got.header.Get("Location"), http.NoBody)
			}
		},
		"batches of long rows": func(ctx context.Context, c *caller) {
			for range pick(5, 2) {
				got := c.request(ctx, http.MethodPost, "/v1/batches", tableOf(pick(10_000, 2000), 760, nowhere), "Content-Type", "text/csv")
				c.request(ctx, http.MethodDelete, got.header.Get("Location"), http.NoBody)
			}
		},
		"results of a batch": func(_ context.Context, c *caller) { s.batchOf(c, pick(3000, 500)) }, //nolint:contextcheck // the site lives as long as the test
		"invalid rows": func(ctx context.Context, c *caller) {
			for range pick(5, 2) {
				c.request(ctx, http.MethodPost, "/v1/batches?onInvalid=skip", invalidBut(pick(10_000, 2000), 600), "Content-Type", "text/csv")
			}
		},
	} {
		c := s.caller(name)
		before := s.redisMemory(t.Context())
		use(t.Context(), c)
		sleep(t.Context(), 2*time.Second) // what has ended is trimmed
		account, err := accounts.Read(t.Context(), pace.Holder{Whole: s.idOf(c)})
		must(t, err)
		grown := s.redisMemory(t.Context()) - before
		t.Logf("%s: %s accounted for, %s in Redis", name, size(account.Used), size(grown))
		if grown > 1<<20 && grown*3 > account.Used*4 {
			t.Errorf("%s: %d bytes in Redis, and %d are accounted for", name, grown, account.Used)
		}
	}
}

// A key with the default limit has three lists of 10,000 rows at once, of which no row fails
// for want of room, and a fourth is refused. What is charged is what Redis keeps.
func TestThreeListsAreKeptAtOnce(t *testing.T) {
	testenv.Long(t)
	t.Parallel() // there is no victim whose waits count
	rows := pick(10_000, 300)
	s := attacked(t, settings{
		api:    []string{"--key-rate", "0", "--key-batch-items", "0", "--key-bytes", strconv.FormatInt(int64(288<<20)*int64(rows)/10_000, 10)},
		worker: []string{"--fetch-rate", "0", "--authority-rate", "0"},
	})
	s.batchOf(s.caller("the first"), 10) // Redis has TRA's catalogue now
	c, site, cars := s.caller("three lists"), s.listings(), listingtest.Cars()
	list := func(n int) response {
		var table strings.Builder
		table.WriteString("url,reference\n")
		for i := range rows {
			fmt.Fprintf(&table, "%s%s?lot=%d,row %d\n", site, cars[i%min(len(cars), 3)].Path(), n*rows+i, i)
		}
		return c.request(t.Context(), http.MethodPost, "/v1/batches", strings.NewReader(table.String()), "Content-Type", "text/csv")
	}
	before := s.redisMemory(t.Context())
	var made []string
	for n := range 3 {
		got := list(n)
		if got.status != http.StatusCreated {
			t.Fatalf("list %d: got %d %.500s, want it accepted", n+1, got.status, got.body)
		}
		made = append(made, got.header.Get("Location"))
	}
	if got := list(3); got.status != http.StatusTooManyRequests || !bytes.Contains(got.body, []byte("rows fit now")) {
		t.Errorf("a fourth list: got %d %.500s, want it refused with what fits", got.status, got.body)
	}
	for _, path := range made {
		testenv.AwaitFor(t, 10*time.Minute, "the end of a list", func() (any, bool) {
			got := c.request(t.Context(), http.MethodGet, path, http.NoBody)
			if bytes.Contains(got.body, []byte(`"state":"completed"`)) &&
				!bytes.Contains(got.body, fmt.Appendf(nil, `"succeeded":%d`, rows)) {
				t.Errorf("got %.500s, want %d rows that succeeded", got.body, rows)
			}
			return got.body, bytes.Contains(got.body, []byte(`"state":"completed"`))
		})
	}
	sleep(t.Context(), 2*time.Second) // what has ended is trimmed
	account, err := pace.NewAccounts(s.conn.Client(), pace.KindBytes).Read(t.Context(), pace.Holder{Whole: s.idOf(c)})
	must(t, err)
	kept := s.redisMemory(t.Context()) - before
	each := func(total int64) float64 { return float64(total) / float64(3*rows) / 1024 }
	t.Logf("a row: %.2f KB charged, %.2f KB in Redis", each(account.Used), each(kept))
	if charged := each(account.Used); charged > 9 || kept > account.Used*4/3 || account.Promised != 0 {
		t.Errorf("a row: got %.2f KB charged, %.2f KB in Redis, and %d bytes promised, want at most 9 KB, a third more, and none",
			charged, each(kept), account.Promised)
	}
}

// times calls do n times, some at once.
func times(n, atOnce int, do func(i int)) {
	work := make(chan int)
	done := make(chan struct{})
	for range atOnce {
		go func() {
			for i := range work {
				do(i)
			}
			done <- struct{}{}
		}()
	}
	for i := range n {
		work <- i
	}
	close(work)
	for range atOnce {
		<-done
	}
}

// idOf returns the id of a caller's key.
func (s *underAttack) idOf(c *caller) string {
	s.t.Helper()
	key, err := keys.NewStore(s.conn.Client()).Verify(s.t.Context(), c.key)
	must(s.t, err)
	return key.ID
}

// Redis is full: a key can be revoked, its work can be deleted, what is cached is still
// answered, the API says that it is not ready, and all is well once there is room.
func TestAttackFullRedis(t *testing.T) {
	testenv.Long(t)
	s := attacked(t, settings{worker: []string{"--fetch-rate", "0"}})
	site, slowSite, car := s.listings(), s.serve(drip()), listingtest.Cars()[0]
	attacker, victim := s.caller("attacker"), s.caller("victim")
	cached := map[string]string{"url": site + car.Path()}
	ctx := t.Context()
	want := func(what string, got response, status int) {
		t.Helper()
		if got.err != nil || got.status != status {
			t.Errorf("%s: %v %d %.300s, want %d", what, got.err, got.status, got.body, status)
		}
	}
	want("a listing", victim.post(ctx, "/v1/estimate", cached), http.StatusOK)
	job := attacker.post(ctx, "/v1/estimate", map[string]string{"url": slowSite}, "Prefer", "respond-async")
	want("a job", job, http.StatusAccepted)
	batch := attacker.request(ctx, http.MethodPost, "/v1/batches", tableOf(500, 20, slowSite), "Content-Type", "text/csv")
	want("a batch", batch, http.StatusCreated)

	must(t, s.conn.Client().ConfigSet(ctx, "maxmemory", strconv.FormatInt(s.redisMemory(ctx), 10)).Err())
	must(t, s.conn.Client().ConfigSet(ctx, "maxmemory-policy", "noeviction").Err())
	if err := s.conn.Client().Set(ctx, "more", strings.Repeat("x", 1<<20), time.Minute).Err(); err == nil {
		t.Fatal("Redis is not full")
	}
	want("readiness", victim.request(ctx, http.MethodGet, "/readyz", http.NoBody), http.StatusServiceUnavailable)
	want("a cached answer", victim.post(ctx, "/v1/estimate", cached), http.StatusOK)
	want("new work", victim.post(ctx, "/v1/estimate", map[string]string{"url": site + car.Path() + "?new"}), http.StatusServiceUnavailable)
	want("deleting the job", attacker.request(ctx, http.MethodDelete, job.header.Get("Location"), http.NoBody), http.StatusOK)
	want("deleting the batch", attacker.request(ctx, http.MethodDelete, batch.header.Get("Location"), http.NoBody), http.StatusOK)
	must(t, keys.NewStore(s.conn.Client()).Revoke(ctx, s.idOf(attacker)))
	sleep(ctx, time.Second)
	want("a revoked key", attacker.post(ctx, "/v1/estimate", cached), http.StatusUnauthorized)

	must(t, s.conn.Client().ConfigSet(ctx, "maxmemory", "0").Err())
	s.attack(attack{
		name: "after Redis was full", run: func(ctx context.Context, _ *caller) { <-ctx.Done() },
	})
	want("readiness", victim.request(ctx, http.MethodGet, "/readyz", http.NoBody), http.StatusOK)
}
