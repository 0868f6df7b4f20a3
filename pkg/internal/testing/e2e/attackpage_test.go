package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ushuru/pkg/testenv"
)

// visit asks for a listing as a visitor of the pages does.
func (c *caller) visit(ctx context.Context, link string) response {
	form := url.Values{"u": {link}}
	return c.request(ctx, http.MethodPost, "/go", strings.NewReader(form.Encode()),
		"Content-Type", "application/x-www-form-urlencoded")
}

// Visitors without a key ask for pages that never end: their network
// is at its cap of jobs, and a key is answered as fast as before.
func TestAttackVisitorsAtTheCapOfThePages(t *testing.T) {
	testenv.Long(t)
	s := attacked(t, settings{api: []string{"--page"}, worker: []string{"--fetch-rate", "0"}})
	site := s.serve(drip())
	var admitted, refused atomic.Int64
	s.attack(attack{
		name: "visitors at the cap of the pages", factor: 1.5, lead: pick(10*time.Second, 4*time.Second),
		run: func(ctx context.Context, visitors *caller) {
			visitors.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			atOnce(ctx, 4, func(ctx context.Context, i int) {
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
	if admitted.Load() < 40 || refused.Load() == 0 {
		t.Errorf("the pages were not at their cap: %d started, %d refused", admitted.Load(), refused.Load())
	}
}
