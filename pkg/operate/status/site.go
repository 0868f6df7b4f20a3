package status

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"ushuru/pkg/fetch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/listing"
	"ushuru/pkg/listing/sites"
	"ushuru/pkg/message"
	"ushuru/pkg/metrics"
	"ushuru/tasks"
)

// maxFailures is how many reasons are shown, the most frequent.
const maxFailures = 30

// sitesAsked is how many sites that visitors asked for are shown, the commonest.
const sitesAsked = 100

// The kinds of outcomes of reading a page.
const (
	read    = "read"
	blocked = "blocked"
	gone    = "gone"
	wrong   = "wrong"
)

// Site is how a site could be read in the last 24 hours.
type Site struct {
	Host    string `json:"host"` // of a known site, or other
	Read    int64  `json:"read"`
	Blocked int64  `json:"blocked"` // attempts that the site refused
	Gone    int64  `json:"gone"`    // cars that are no longer there
	Wrong   int64  `json:"wrong"`   // listings that could not be read for another reason
	// MedianMS is how long reading a page took.
	MedianMS int64      `json:"medianMs"`
	LastGood *time.Time `json:"lastGood"` // when a page was last read; null for not in the last 8 days
	// PausedUntil is when pages are requested again; null while they are.
	PausedUntil *time.Time `json:"pausedUntil"`
	Hours       []Hour     `json:"hours"` // the oldest first

	// Of this hour, with the hour before when there were less than enoughTries.
	tries, good int64
}

// kindOf sorts the outcomes of reading a page.
func kindOf(code string) string {
	switch code {
	case metrics.OK:
		return read
	case listing.Blocked, fetch.RobotsForbidden:
		return blocked
	case listing.Gone, listing.Sold:
		return gone
	}
	return wrong
}

func (r *reading) sites() []Site {
	hosts := make([]string, 0, len(r.day.Ended)+len(r.day.Marked)+len(r.marks.LastRead))
	for _, counts := range []map[metrics.What]int64{r.day.Ended, r.day.Marked} {
		for what := range counts {
			hosts = append(hosts, what.Site)
		}
	}
	for host := range r.marks.LastRead {
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	var all []Site
	for _, host := range slices.Compact(hosts) {
		if host == metrics.NoSite || !metrics.IsSite(host) {
			continue
		}
		site := r.site(host)
		if site.Read+site.Blocked+site.Gone+site.Wrong > 0 || site.LastGood != nil {
			all = append(all, site)
		}
	}
	slices.SortStableFunc(all, func(a, b Site) int { return cmp.Compare(b.Read+b.Blocked+b.Wrong, a.Read+a.Blocked+a.Wrong) })
	return all
}

func (r *reading) site(host string) Site {
	of := func(what metrics.What) bool { return what.Site == host && what.Step == tasks.TypeScrape }
	site := Site{
		Host:     host,
		MedianMS: r.day.Median(of).Milliseconds(),
		Hours:    r.byHour(func(what metrics.What) (bool, bool) { return isReadable(what.Code), of(what) }),
	}
	if at, read := r.marks.LastRead[host]; read {
		site.LastGood = &at
	}
	for what, n := range r.day.Ended {
		if of(what) {
			site.add(what.Code, n)
		}
	}
	for what, n := range r.day.Retried() {
		if of(what) && kindOf(what.Code) == blocked {
			site.Blocked += n
		}
	}
	for _, hour := range r.hours[:2] {
		if site.tries >= enoughTries {
			break
		}
		tries, good := triesOf(hour.Counts, of)
		site.tries, site.good = site.tries+tries, site.good+good
	}
	return site
}

// isReadable reports whether a site gave what was asked for, or rightly did not.
func isReadable(code string) bool {
	return code == metrics.OK || isCallers(code)
}

// isCallers reports whether an outcome is about the address that a caller gave, not about the site.
func isCallers(code string) bool { return kindOf(code) == gone || code == listing.NotAListing }

// triesOf returns how many pages were tried and how many could be read, those aside that
// are no listing.
func triesOf(counts metrics.Counts, of func(metrics.What) bool) (tries, good int64) {
	for what, n := range counts.Ended {
		switch {
		case !of(what) || isCallers(what.Code):
		case what.Code == metrics.OK:
			tries, good = tries+n, good+n
		default:
			tries += n
		}
	}
	for what, n := range counts.Retried() {
		if of(what) {
			tries += n
		}
	}
	return tries, good
}

func (s *Site) add(code string, n int64) {
	switch kindOf(code) {
	case read:
		s.Read += n
	case blocked:
		s.Blocked += n
	case gone:
		s.Gone += n
	default:
		s.Wrong += n
	}
}

// name returns what the site is called in a sentence.
func (s *Site) name() string {
	if s.Host == metrics.Other {
		return "the sites that are not known"
	}
	return s.Host
}

// unreadable reports whether no page of the site could be read.
func (s *Site) unreadable() bool { return s.tries >= enoughTries && s.good == 0 }

// pauses adds the pauses of the known sites.
func (r *reading) pauses(ctx context.Context, shown []Site) error {
	known := map[string][]string{}
	var hosts []string
	for _, info := range sites.All() {
		for _, host := range info.Hosts {
			known[info.Hosts[0]] = append(known[info.Hosts[0]], host, "www."+host)
			hosts = append(hosts, host, "www."+host)
		}
	}
	paces, err := fetch.PacesOf(ctx, r.redis, hosts...)
	if err != nil {
		return err
	}
	for i := range shown {
		for _, host := range known[shown[i].Host] {
			left := paces[host].Pause
			if until := r.now.Add(left).UTC().Truncate(time.Second); left > 0 &&
				(shown[i].PausedUntil == nil || until.After(*shown[i].PausedUntil)) {
				shown[i].PausedUntil = &until
			}
		}
	}
	return nil
}

// Failure is why steps failed.
type Failure struct {
	Step string `json:"step"` // type of the task: estimate:scrape
	Code string `json:"code"`
	Hour int64  `json:"hour"` // in the present hour
	Day  int64  `json:"day"`  // in the last 24 hours
	// Job is the last job that failed with this code, and Page its listing. Both are empty when the
	// job is no longer stored; Page is also empty when its URL carries a token.
	Job  string `json:"job,omitempty"`
	Page string `json:"page,omitempty"`
	// CanRetry says whether that job can be submitted again.
	CanRetry bool `json:"canRetry"`
}

func (r *reading) failures(ctx context.Context) ([]Failure, error) {
	byReason := map[metrics.What]*Failure{}
	for i, hour := range r.hours {
		for what, n := range hour.Ended {
			if what.Code == metrics.OK || !strings.Contains(what.Step, ":") || !metrics.IsSite(what.Site) {
				continue
			}
			reason := metrics.What{Step: what.Step, Code: what.Code}
			failure, known := byReason[reason]
			if !known {
				failure = &Failure{Step: what.Step, Code: what.Code}
				byReason[reason] = failure
			}
			failure.Day += n
			if i == 0 {
				failure.Hour += n
			}
		}
	}
	all := make([]Failure, 0, len(byReason))
	for _, failure := range byReason {
		all = append(all, *failure)
	}
	slices.SortFunc(all, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(a.Step, b.Step), cmp.Compare(a.Code, b.Code))
	})
	all = all[:min(len(all), maxFailures)]
	for i := range all {
		if err := r.addExample(ctx, &all[i]); err != nil {
			return all, err
		}
	}
	return all, nil
}

// addExample adds the last job that failed.
func (r *reading) addExample(ctx context.Context, failure *Failure) error {
	id := r.marks.Examples[metrics.ExampleName(failure.Step, failure.Code)]
	if id == "" {
		return nil
	}
	job, err := r.jobs.Get(ctx, id)
	if errors.Is(err, jobs.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	failure.Job, failure.Page = id, tasks.PagesOf(job)
	failure.CanRetry = job.State == jobs.Failed && !job.Attached && !message.IsDefinite(failure.Code)
	return nil
}

// hostOf returns scheme and host of a URL.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// People are what visitors of the pages asked for in the last 24 hours.
type People struct {
	metrics.People

	Left     int64       `json:"left"` // asked for, and no visitor has seen the end: some wait still
	MedianMS int64       `json:"medianMs"`
	Sites    []AskedSite `json:"sites"` // those first that most networks asked for
}

// AskedSite is a site that visitors asked for.
type AskedSite struct {
	metrics.AskedSite

	Host string `json:"host"` // the registered domain, or other
}

func (r *reading) people(ctx context.Context) (People, error) {
	read, err := metrics.ReadPeople(ctx, r.redis, r.now, hoursShown)
	people := People{
		People: read, Left: max(sum(read.Asked)-read.Answered-sum(read.Refused), 0), MedianMS: read.Median.Milliseconds(),
	}
	for host, site := range read.Sites {
		people.Sites = append(people.Sites, AskedSite{site, host})
	}
	slices.SortFunc(people.Sites, func(a, b AskedSite) int {
		return cmp.Or(cmp.Compare(b.Networks, a.Networks), cmp.Compare(b.Asked, a.Asked), cmp.Compare(a.Host, b.Host))
	})
	people.Sites = people.Sites[:min(len(people.Sites), sitesAsked)]
	return people, err
}

// Commonest returns the names of counts, the highest first.
func Commonest(counts map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

func sum(counts map[string]int64) (total int64) {
	for _, n := range counts {
		total += n
	}
	return total
}
