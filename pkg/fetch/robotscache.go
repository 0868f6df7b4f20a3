package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	robotsFresh   = 24 * time.Hour  // how long a robots.txt holds (RFC 9309, 2.4)
	robotsTimeout = 5 * time.Second // for one robots.txt, redirects included
	robotsMax     = 512 << 10       // bytes of it that are read; RFC 9309, 2.5 wants at least 500 KiB

	// A robots.txt that answers with 5xx or 429, or not at all, forbids
	// everything at first (RFC 9309, 2.3.1.4). The RFC lets a crawler go on
	// after "a reasonably long period", and thinks of 30 days. We are no
	// crawler: a person asks for one page and waits. So the page is tried
	// again later, as after any other failure, and read after robotsPatience
	// if robots.txt still fails; it is asked for again after robotsRetry. Rules
	// that were once read stay in force instead.
	robotsPatience = 10 * time.Second
	robotsRetry    = 10 * time.Minute
	robotsPause    = 500 * time.Millisecond // between two tries within robotsPatience

	// A robots.txt that fails is asked for again at once, so often, after a
	// moment that doubles: for one request that goes wrong, pages need not wait.
	robotsAgain  = 2
	robotsMoment = 100 * time.Millisecond

	// robotsKept bounds what all rules together take in memory, roughly.
	robotsKept = 16 << 20
)

// robots knows the robots.txt of the sites that were asked lately. Each
// process has its own: one small request a day for each site and process.
type robots struct {
	client *http.Client
	agent  string // User-Agent
	name   string // that groups are for
	now    func() time.Time
	moment time.Duration // robotsMoment

	asking singleflight.Group
	mu     sync.Mutex
	known  map[string]robotsEntry // by scheme and host
	size   int
}

// robotsEntry is what is known of one site.
type robotsEntry struct {
	rules   robotsRules
	until   time.Time // when to ask again
	failing time.Time // since when there is no answer; zero when there is
	read    bool      // there was an answer once
	size    int
}

func newRobots(transport http.RoundTripper, userAgent string) *robots {
	return &robots{
		client: &http.Client{Transport: transport, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return errRobotsCircle
			}
			return nil
		}},
		agent: userAgent, name: robotsName(userAgent), now: time.Now, moment: robotsMoment, known: map[string]robotsEntry{},
	}
}

// robotsName is the name that a robots.txt can call us by: Ushuru, unless the
// operator chose a User-Agent without it; then its first product.
func robotsName(userAgent string) string {
	if strings.Contains(strings.ToLower(userAgent), "ushuru") {
		return "ushuru"
	}
	return productToken(userAgent)
}

// check returns nil when the site lets us read the page; else a
// robots_forbidden error, or a temporary one while robots.txt cannot be read.
func (r *robots) check(ctx context.Context, u *url.URL) error {
	site := u.Scheme + "://" + u.Host
	entry, found := r.lookUp(site)
	if !found {
		asked := r.asking.DoChan(site, func() (any, error) {
			// For all who wait, so it ends with none of them.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), robotsTimeout)
			defer cancel()
			return r.ask(ctx, site), nil
		})
		select {
		case <-ctx.Done():
			return classify(ctx.Err())
		case answer := <-asked:
			entry, _ = answer.Val.(robotsEntry)
		}
	}
	switch {
	case !entry.failing.IsZero() && !entry.read && r.now().Sub(entry.failing) < robotsPatience:
		return &Error{
			Code: FetchFailed, Retryable: true, Wait: robotsPause,
			Message: "The site's rules for automatic readers (robots.txt) could not be read.",
		}
	case !entry.rules.allows(u):
		return &Error{Code: RobotsForbidden, Message: "The site forbids automatic readers on this page (robots.txt)."}
	}
	return nil
}

func (r *robots) lookUp(site string) (robotsEntry, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	entry, found := r.known[site]
	return entry, found && r.now().Before(entry.until)
}

// ask fetches a robots.txt and keeps what it says.
func (r *robots) ask(ctx context.Context, site string) robotsEntry {
	rules, size, err := r.fetchPatiently(ctx, site)
	r.mu.Lock()
	defer r.mu.Unlock()
	entry, now := r.known[site], r.now()
	r.size -= entry.size
	switch {
	case err == nil:
		entry = robotsEntry{rules: rules, until: now.Add(robotsFresh), read: true, size: size}
	case entry.failing.IsZero() || now.Sub(entry.failing) > 2*robotsRetry: // an old failure says nothing of this one
		entry.failing, entry.until = now, now.Add(robotsPause)
	case now.Sub(entry.failing) < robotsPatience:
		entry.until = now.Add(robotsPause)
	default:
		entry.until = now.Add(robotsRetry)
	}
	r.size += entry.size
	r.known[site] = entry
	for other, old := range r.known { // in random order
		if r.size <= robotsKept && len(r.known) <= robotsKept>>10 {
			break
		}
		if other != site {
			delete(r.known, other)
			r.size -= old.size
		}
	}
	return entry
}

var (
	errRobotsCircle = errors.New("fetch: robots.txt redirects in circles")
	errRobotsAway   = errors.New("fetch: robots.txt is away")
	errRobotsBusy   = errors.New("fetch: robots.txt was asked for too often")
)

// fetchPatiently is fetch, again when it fails, but for sites that want to be
// asked less.
func (r *robots) fetchPatiently(ctx context.Context, site string) (rules robotsRules, size int, err error) {
	for tried := 0; ; tried++ {
		rules, size, err = r.fetch(ctx, site)
		if err == nil || errors.Is(err, errRobotsBusy) || tried == robotsAgain {
			return rules, size, err
		}
		select {
		case <-ctx.Done():
			return rules, size, err
		case <-time.After(r.moment << tried):
		}
	}
}

// fetch returns the rules of a site and about how many bytes they take. An
// error means that the site may answer later; a site that answers without
// giving a robots.txt has no rules.
func (r *robots) fetch(ctx context.Context, site string) (robotsRules, int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, site+"/robots.txt", http.NoBody) //nolint:gosec // see guarded
	if err != nil {
		return nil, 0, nil // then the page has no address either
	}
	request.Header.Set("User-Agent", r.agent)
	response, err := r.client.Do(request) //nolint:gosec // guarded looks at it
	if err != nil {
		failure, own := errors.AsType[*Error](classify(err))
		if errors.Is(err, errRobotsCircle) || own && !failure.Retryable {
			return nil, 0, nil // the page says better what is wrong
		}
		return nil, 0, err
	}
	defer func() { _ = response.Body.Close() }()
	switch {
	case response.StatusCode == http.StatusTooManyRequests:
		return nil, 0, errRobotsBusy
	case response.StatusCode >= http.StatusInternalServerError:
		return nil, 0, errRobotsAway
	case response.StatusCode != http.StatusOK:
		return nil, 0, nil
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, robotsMax))
	if err != nil {
		return nil, 0, err
	}
	if len(body) == robotsMax { // the last line may be half a line
		body = body[:bytes.LastIndexByte(body, '\n')+1]
	}
	rules := parseRobots(body, r.name)
	size := 0
	for _, rule := range rules {
		size += 32 + len(rule.pattern)
	}
	return rules, size, nil
}
