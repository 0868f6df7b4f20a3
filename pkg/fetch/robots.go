package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"

	"ushuru/pkg/message"
	"ushuru/pkg/pace"
)

const (
	robotsTTL     = 24 * time.Hour  // how long a robots.txt holds (RFC 9309, 2.4)
	robotsTimeout = 5 * time.Second // for one robots.txt, redirects included
	maxRobotsSize = 512 << 10       // bytes of it that are read; RFC 9309, 2.5 wants at least 500 KiB

	// A robots.txt that answers 5xx or 429, or not at all, forbids everything at
	// first (RFC 9309, 2.3.1.4). The RFC lets a crawler continue after "a
	// reasonably long period", for example 30 days. This program is not a
	// crawler: a person waits for one page. The page is therefore retried as
	// after any other failure, and read after robotsTotalTimeout even if
	// robots.txt still fails; robots.txt is requested again after
	// robotsRetryInterval. Rules that were read earlier stay in force instead.
	robotsTotalTimeout  = 10 * time.Second
	robotsRetryInterval = 10 * time.Minute
	robotsRetryDelay    = 500 * time.Millisecond // between two tries within robotsTotalTimeout

	// A robots.txt that fails is requested again at once, robotsRetries times, with
	// a backoff that doubles, so that one failed request does not delay a page.
	robotsRetries = 2
	robotsBackoff = 100 * time.Millisecond

	// maxRobotsMemory bounds the memory of all rules, approximately, in bytes, and maxRobots
	// the number of sites.
	maxRobotsMemory = 16 << 20
	maxRobots       = 16 << 10
)

// robots caches the robots.txt of recently fetched sites. Each process has its
// own cache, which costs one small request per day, site and process.
type robots struct {
	client  *http.Client
	agent   string // User-Agent
	name    string // that groups are for
	now     func() time.Time
	backoff time.Duration // robotsBackoff
	isKnown func(host string) bool

	requests singleflight.Group
	mu       sync.Mutex
	known    *simplelru.LRU[string, robotsEntry] // by scheme and host
	size     int                                 // of the rules, in bytes
}

// robotsEntry is the state of one site.
type robotsEntry struct {
	rules   robotsRules
	until   time.Time // when to request it again
	failing time.Time // since when there has been no response; zero when there is one
	read    bool      // a response was read at least once
	size    int
	busy    *Error // why it was not requested at all; it is not cached
}

func newRobots(transport http.RoundTripper, userAgent string, isKnown func(host string) bool) *robots {
	r := &robots{
		client: &http.Client{Transport: transport, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return errRobotsLoop
			}
			return nil
		}},
		agent: userAgent, name: robotsName(userAgent), now: time.Now, backoff: robotsBackoff, isKnown: isKnown,
	}
	// The only error is a size below one.
	r.known, _ = simplelru.NewLRU(maxRobots, func(_ string, old robotsEntry) { r.size -= old.size })
	return r
}

// robotsName returns the name by which a robots.txt can address this program:
// Ushuru, unless the operator chose a User-Agent without it; then the first
// product of the User-Agent.
func robotsName(userAgent string) string {
	if strings.Contains(strings.ToLower(userAgent), "ushuru") {
		return "ushuru"
	}
	return productToken(userAgent)
}

// check returns nil when the site allows the page to be read; else a
// robots_forbidden error, or a temporary error while robots.txt cannot be read.
func (r *robots) check(ctx context.Context, u *url.URL) error {
	site := u.Scheme + "://" + u.Host
	entry, found := r.lookUp(site)
	if !found {
		asked := r.requests.DoChan(site, func() (any, error) {
			// Several callers can wait for this request, so the cancellation of
			// one must not end it.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), robotsTimeout)
			defer cancel()
			return r.load(ctx, site), nil
		})
		select {
		case <-ctx.Done():
			return classify(ctx.Err(), nil)
		case answer := <-asked:
			entry, _ = answer.Val.(robotsEntry)
		}
	}
	switch {
	case entry.busy != nil:
		return entry.busy
	case !entry.failing.IsZero() && !entry.read && r.now().Sub(entry.failing) < robotsTotalTimeout:
		return &Error{
			Notice: message.New("error/fetch_failed.robots", nil), Retryable: true, Wait: robotsRetryDelay,
		}
	case !entry.rules.allows(u):
		return Fail("error/robots_forbidden", nil)
	}
	return nil
}

func (r *robots) lookUp(site string) (robotsEntry, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	entry, found := r.known.Get(site)
	return entry, found && r.now().Before(entry.until)
}

// load fetches a robots.txt and caches its rules.
func (r *robots) load(ctx context.Context, site string) robotsEntry {
	rules, size, err := r.fetchWithRetry(ctx, site)
	if errors.Is(err, errRobotsRefused) { // it says nothing about the site's rules, so nothing is cached
		return robotsEntry{}
	}
	if busy, own := errors.AsType[*Error](err); own && busy.Code == HostBusy {
		return robotsEntry{busy: busy}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	entry, _ := r.known.Peek(site)
	now := r.now()
	r.known.Remove(site)
	switch {
	case err == nil:
		entry = robotsEntry{rules: rules, until: now.Add(robotsTTL), read: true, size: size}
	case isLookupFailure(err): // no page can be read meanwhile, so that there is nothing to unblock
		entry.failing, entry.until = now, now.Add(robotsRetryDelay)
	case entry.failing.IsZero() || now.Sub(entry.failing) > 2*robotsRetryInterval: // an old failure is not related to this one
		entry.failing, entry.until = now, now.Add(robotsRetryDelay)
	case now.Sub(entry.failing) < robotsTotalTimeout:
		entry.until = now.Add(robotsRetryDelay)
	default:
		entry.until = now.Add(robotsRetryInterval)
	}
	r.size += entry.size
	r.known.Add(site, entry)
	for r.size > maxRobotsMemory && r.known.Len() > 1 {
		r.known.RemoveOldest()
	}
	return entry
}

// isLookupFailure reports whether the name of a host could not be resolved.
func isLookupFailure(err error) bool {
	_, lookup := errors.AsType[*net.DNSError](err)
	return lookup
}

var (
	errRobotsLoop        = errors.New("fetch: robots.txt redirects in a loop")
	errRobotsUnavailable = errors.New("fetch: robots.txt is unavailable")
	errRobotsBusy        = errors.New("fetch: robots.txt was requested too often")
	// errRobotsRefused means that the request for the page will fail too, and
	// report the reason.
	errRobotsRefused = errors.New("fetch: robots.txt cannot be requested")
)

// fetchWithRetry calls fetch, and calls it again after a failure other than 429.
func (r *robots) fetchWithRetry(ctx context.Context, site string) (rules robotsRules, size int, err error) {
	err = pace.Retry(ctx, pace.Backoff{
		InitialDelay: r.backoff, MaxAttempts: robotsRetries + 1,
		IsPermanent: func(err error) bool {
			own, isOwn := errors.AsType[*Error](err)
			return errors.Is(err, errRobotsBusy) || errors.Is(err, errRobotsRefused) || isOwn && own.Code == HostBusy
		},
	}, func() (err error) {
		rules, size, err = r.fetch(ctx, site)
		return err
	})
	return rules, size, err
}

// fetch returns the rules of a site and their approximate size in bytes. An error
// means that the site may answer later. A site that answers without a robots.txt
// has no rules.
func (r *robots) fetch(ctx context.Context, site string) (robotsRules, int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, site+"/robots.txt", http.NoBody) //nolint:gosec // see guarded
	if err != nil {
		return nil, 0, nil // the request for the page then fails too
	}
	request.Header.Set("User-Agent", r.agent)
	response, err := r.client.Do(request) //nolint:gosec // guarded checks the URL
	if err != nil {
		if errors.Is(err, errRobotsLoop) {
			return nil, 0, nil
		}
		failure, own := errors.AsType[*Error](classify(err, r.isKnown))
		if own && !failure.Retryable {
			return nil, 0, errRobotsRefused
		}
		if own && failure.Code == HostBusy {
			return nil, 0, failure
		}
		return nil, 0, err
	}
	defer func() { _ = response.Body.Close() }()
	switch {
	case response.StatusCode == http.StatusTooManyRequests:
		return nil, 0, errRobotsBusy
	case response.StatusCode >= http.StatusInternalServerError:
		return nil, 0, errRobotsUnavailable
	case response.StatusCode != http.StatusOK:
		return nil, 0, nil
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxRobotsSize))
	if err != nil {
		return nil, 0, err
	}
	if len(body) == maxRobotsSize { // the last line may be incomplete
		body = body[:bytes.LastIndexByte(body, '\n')+1]
	}
	rules := parseRobots(body, r.name)
	size := 0
	for _, rule := range rules {
		size += 32 + len(rule.pattern)
	}
	return rules, size, nil
}

// robotsRules are the rules of one robots.txt that apply to this program
// (RFC 9309).
//
// No library is used: temoto/robotstxt applies a group for "u" to Ushuru and
// ignores a whole file because of one bad line; jimsmart/grobotstxt needs time
// proportional to the product of the lengths of path and patterns, which is a
// second for a hostile file of half a megabyte.
type robotsRules []robotsRule

type robotsRule struct {
	allow   bool
	pattern string // normalize
}

// parseRobots returns the rules for the robot of a name: those of all groups
// that name it, else of all groups for "*". Lines that cannot be parsed are
// skipped.
func parseRobots(body []byte, name string) robotsRules {
	var ours, anyone robotsRules
	var isOurs, isForAll, named, inRules bool
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	for line := range bytes.FieldsFuncSeq(body, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line, _, _ = bytes.Cut(line, []byte("#"))
		key, value, found := strings.Cut(string(line), ":")
		if !found {
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "user-agent":
			if inRules { // a new group begins
				isOurs, isForAll, inRules = false, false, false
			}
			isOurs = isOurs || strings.EqualFold(productToken(value), name)
			isForAll = isForAll || value == "*"
			named = named || isOurs
		case "allow", "disallow":
			inRules = true
			if !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "*") {
				continue // an empty pattern forbids nothing
			}
			rule := robotsRule{len(strings.TrimSpace(key)) == len("allow"), normalize(value)}
			if isOurs {
				ours = append(ours, rule)
			}
			if isForAll {
				anyone = append(anyone, rule)
			}
		}
	}
	if named {
		return ours
	}
	return anyone
}

// productToken is the name in front of a version or a comment.
func productToken(value string) string {
	end := strings.IndexFunc(value, func(r rune) bool {
		return r != '-' && r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if end < 0 {
		return value
	}
	return value[:end]
}

// allows reports whether a page may be read. The longest matching pattern
// decides; of two patterns of the same length, the one that allows.
func (r robotsRules) allows(u *url.URL) bool {
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	path = normalize(path)
	if path == "/robots.txt" {
		return true
	}
	allowed, longest := true, 0
	for _, rule := range r {
		size := len(rule.pattern)
		if size < longest || size == longest && (allowed || !rule.allow) || !fits(rule.pattern, path) {
			continue
		}
		allowed, longest = rule.allow, size
	}
	return allowed
}

// fits reports whether a pattern matches the beginning of a path. "*" matches any
// characters and a final "$" matches the end. Matching each piece at its first
// occurrence is sufficient, so the time is linear.
func fits(pattern, path string) bool {
	pattern, anchored := strings.CutSuffix(pattern, "$")
	first, rest, wild := strings.Cut(pattern, "*")
	if !strings.HasPrefix(path, first) {
		return false
	}
	path = path[len(first):]
	if !wild {
		return !anchored || path == ""
	}
	for {
		piece, after, more := strings.Cut(rest, "*")
		if !more {
			if anchored {
				return strings.HasSuffix(path, piece)
			}
			return strings.Contains(path, piece)
		}
		at := strings.Index(path, piece)
		if at < 0 {
			return false
		}
		path, rest = path[at+len(piece):], after
	}
}

// normalize returns a form of a path in which equal paths have equal bytes: only
// characters that must be escaped are escaped, in upper case.
func normalize(path string) string {
	const hex = "0123456789ABCDEF"
	out := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		c := path[i]
		escaped := false
		if c == '%' && i+2 < len(path) {
			if octet, err := strconv.ParseUint(path[i+1:i+3], 16, 8); err == nil {
				c, escaped = byte(octet), true
				i += 2
			}
		}
		if c >= 0x80 || escaped && !unreserved(c) {
			out = append(out, '%', hex[c>>4], hex[c&15])
			continue
		}
		out = append(out, c)
	}
	return string(out)
}

func unreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
