package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/webhook/webhooktest"
)

// One key asks for many pages that never end: they take the places that one key may
// have, and no others.
func TestAttackDrippingPages(t *testing.T) {
	testenv.Long(t)
	s := attacked(t, settings{worker: []string{"--fetch-rate", "0"}})
	site := s.serve(drip())
	s.attack(attack{
		name: "100 dripping pages",
		run: func(ctx context.Context, attacker *caller) {
			atOnce(ctx, 4, func(ctx context.Context, i int) { attacker.submit(ctx, fmt.Sprintf("%s/%d", site, i)) })
		},
	})
}

// One key asks for many cars that TRA's calculator must be asked for.
func TestAttackUnknownQuotes(t *testing.T) {
	testenv.Long(t)
	s := attacked(t, settings{})
	unknown := unknownCars(t)
	s.attack(attack{
		name: "100 unknown quotes",
		run: func(ctx context.Context, attacker *caller) {
			atOnce(ctx, 4, func(ctx context.Context, i int) {
				attacker.post(ctx, "/v1/quote", unknown(10_000+i), "Prefer", "respond-async")
			})
		},
	})
}

// One key sends many forms, a byte a second: they take the places for forms that one
// key may have, and no others.
func TestAttackSlowUploads(t *testing.T) {
	testenv.Long(t)
	s := attacked(t, settings{})
	form := func(file io.Reader) (body io.Reader, contentType string) {
		const head = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"sheet.jpg\"\r\n\r\n"
		return io.MultiReader(strings.NewReader(head), file, strings.NewReader("\r\n--b--\r\n")), "multipart/form-data; boundary=b"
	}
	s.attack(attack{
		name: "40 slow uploads",
		run: func(ctx context.Context, attacker *caller) {
			atOnce(ctx, 40, func(ctx context.Context, _ int) {
				body, contentType := form(slow{ctx})
				attacker.request(ctx, http.MethodPost, "/v1/condition-report", body, "Content-Type", contentType)
			})
		},
		victim: func(ctx context.Context, victim *caller, i int) response {
			body, contentType := form(strings.NewReader(fmt.Sprintf("sheet %d", i)))
			got := victim.request(ctx, http.MethodPost, "/v1/condition-report", body, "Content-Type", contentType)
			if bytes.Contains(got.body, []byte(`"no_ai"`)) { // it was received; nothing reads it here
				got.status = http.StatusOK
			}
			return got
		},
	})
}

// slow is a file that comes a byte a second, without an end.
type slow struct{ ctx context.Context } //nolint:containedctx // a Reader has no other way to learn of its end

func (s slow) Read(p []byte) (int, error) {
	if !sleep(s.ctx, time.Second) {
		return 0, s.ctx.Err()
	}
	p[0] = 'x'
	return 1, nil
}

// One key has ten webhooks that take their challenge and then answer nothing: they
// take the places for deliveries that one key may have, and no others.
func TestAttackTarpitWebhooks(t *testing.T) {
	testenv.Long(t)
	s := attacked(t, settings{worker: []string{"--fetch-rate", "0"}})
	pit := s.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, challenged := webhooktest.Answer(w, r); !challenged {
			<-r.Context().Done()
		}
	}))
	came := make(chan struct{}, 1000)
	hook := s.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, challenged := webhooktest.Answer(w, r); !challenged {
			came <- struct{}{}
		}
	}))
	site, cars := s.listings(), listingtest.Cars()
	register := func(ctx context.Context, c *caller, url string) {
		c.post(ctx, "/v1/webhooks", map[string]any{"url": url, "events": []string{"job.completed"}})
	}
	s.attack(attack{
		name: "10 tarpit webhooks",
		lead: pick(20*time.Second, 5*time.Second),
		run: func(ctx context.Context, attacker *caller) {
			for i := range 10 {
				register(ctx, attacker, fmt.Sprintf("%s/%d", pit, i))
			}
			atOnce(ctx, 4, func(ctx context.Context, i int) {
				attacker.submit(ctx, fmt.Sprintf("%s%s?a=%d", site, cars[0].Path(), i))
			})
		},
		victim: func(ctx context.Context, victim *caller, i int) response {
			if i == 0 {
				register(ctx, victim, hook)
			}
			got := victim.post(ctx, "/v1/estimate", map[string]string{"url": fmt.Sprintf("%s%s?v=%d", site, cars[1].Path(), i)})
			select {
			case <-came:
			case <-ctx.Done():
				got.err = ctx.Err()
			}
			return got
		},
	})
}

// One key has a batch of pages that never end: the batch of another key ends as it
// would without it.
func TestAttackDrippingBatch(t *testing.T) {
	testenv.Long(t)
	s := attacked(t, settings{worker: []string{"--fetch-rate", "0"}})
	slow := s.serve(drip())
	site, cars := s.listings(), listingtest.Cars()
	rows := pick(10_000, 1000)
	s.attack(attack{
		name: fmt.Sprintf("3 batches of %d dripping pages", rows), maxAPI: 256, maxWorker: 256, maxRedis: 256,
		lead: pick(15*time.Second, 4*time.Second),
		run: func(ctx context.Context, attacker *caller) {
			for range 3 {
				attacker.request(ctx, http.MethodPost, "/v1/batches", tableOf(rows, 30, slow), "Content-Type", "text/csv")
			}
			<-ctx.Done()
		},
		victim: func(ctx context.Context, victim *caller, i int) response {
			var table strings.Builder
			table.WriteString("url\n")
			for row := range 10 {
				fmt.Fprintf(&table, "%s%s?v=%d.%d\n", site, cars[row%2].Path(), i, row)
			}
			got := victim.request(ctx, http.MethodPost, "/v1/batches", strings.NewReader(table.String()), "Content-Type", "text/csv")
			for path := got.header.Get("Location"); got.err == nil && ctx.Err() == nil; {
				got = victim.request(ctx, http.MethodGet, path, http.NoBody)
				if bytes.Contains(got.body, []byte(`"state":"completed"`)) {
					break
				}
				sleep(ctx, 20*time.Millisecond)
			}
			return got
		},
	})
}
