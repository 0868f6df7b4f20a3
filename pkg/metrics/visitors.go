package metrics

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/net/publicsuffix"
)

// Ask is what a visitor of the pages asks for.
type Ask struct {
	Network string // of the visitor, as a hash. It bounds what one network counts, and is not written anywhere
	Kind    string // of the page that answers: e for an estimate
	Host    string // of the listing; "" for none
}

// Viewed counts a page that was shown.
func (m *Metrics) Viewed(page, lang string) {
	if m == nil {
		return
	}
	m.Count("page_views_total", page, lang)
	if r := m.options.Recorder; r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.add(keyAsked(r.options.Now()), field(NoSite, viewed+"/"+page, lang), 1)
	}
}

// Asked counts what a visitor asks for, before anything is known of it.
func (m *Metrics) Asked(a Ask) {
	if m == nil {
		return
	}
	m.counters["page_asks_total"].WithLabelValues(a.Kind).Inc() // not the kind of a job
	m.options.Recorder.ask(a, true, func(hour, site string) {
		m.options.Recorder.add(hour, field(site, asked, a.Kind), 1)
	})
}

// Answered counts how that ended: with a result after some time, or with a code.
func (m *Metrics) Answered(a Ask, code string, took time.Duration) {
	if m == nil {
		return
	}
	outcome := cmp.Or(m.bound("code", code), OK)
	m.counters["page_answers_total"].WithLabelValues(outcome).Inc()
	if outcome == OK {
		m.observe("page_answer_duration_seconds", took)
	}
	m.options.Recorder.ask(a, false, func(hour, site string) {
		m.options.Recorder.add(hour, field(site, answered, outcome), 1)
		if outcome == OK {
			m.options.Recorder.add(hour, field(NoSite, answered, bucketOf(took)), 1)
		}
	})
}

// What is counted of the pages.
const (
	viewed   = "view"
	asked    = "ask"
	answered = "answer"
	networks = "networks"
)

// The visitors of one network name at most so many sites in an hour, and ask so often; all
// networks name so many sites that are not known, in one process. The rest counts as Other: no
// network can push out what others ask for.
const (
	maxSitesOfNetwork = 20
	maxAsksOfNetwork  = 60
	maxSitesAsked     = 200
	maxNetworks       = 10_000
)

// visitors are the visitors of the pages in an hour, by network.
type visitors struct {
	hour     string
	sites    map[string]bool // that are not known ones
	networks map[string]*visitor
}

type visitor struct {
	asks  int
	sites []string
}

// ask calls count with the site under which something is counted; asks says that it is asked for
// now. The sites that are asked for count the networks too.
func (r *Recorder) ask(a Ask, asks bool, count func(hour, site string)) {
	if r == nil {
		return
	}
	hour := keyAsked(r.options.Now())
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.visitors.hour != hour {
		r.visitors = visitors{hour, map[string]bool{}, map[string]*visitor{}}
	}
	site, first := r.askedSite(a)
	if site != NoSite && asks {
		if of := r.visitors.networks[a.Network]; of != nil {
			of.asks++
		}
	}
	if first {
		r.add(hour, field(site, networks, NoSite), 1)
	}
	count(hour, site)
}

// askedSite returns the name of a site, and whether the network names it for the first time in this
// hour. The caller holds the lock.
func (r *Recorder) askedSite(a Ask) (site string, first bool) {
	site = r.siteOf(a.Host)
	known := site != Other
	if !known {
		site = domainOf(a.Host)
	}
	if site == NoSite || site == Other {
		return site, false
	}
	of := r.visitors.networks[a.Network]
	if of == nil && len(r.visitors.networks) < maxNetworks {
		of = &visitor{}
		r.visitors.networks[a.Network] = of
	}
	switch {
	case of == nil || of.asks > maxAsksOfNetwork:
		return Other, false
	case slices.Contains(of.sites, site):
		return site, false
	case len(of.sites) == maxSitesOfNetwork, !known && !r.visitors.sites[site] && len(r.visitors.sites) == maxSitesAsked:
		return Other, false
	}
	site = strings.Clone(site) // without the address that it is a part of
	of.sites = append(of.sites, site)
	if !known {
		r.visitors.sites[site] = true
	}
	return site, true
}

// domainOf returns the registered domain of a host; Other for an address, and for what no registry
// has under it.
func domainOf(host string) string {
	const longest = 80
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	suffix, listed := publicsuffix.PublicSuffix(host)
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	strange := strings.ContainsFunc(domain, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '-'
	})
	if err != nil || !listed && !strings.Contains(suffix, ".") || len(domain) > longest || strange {
		return Other
	}
	return domain
}

// keyAsked is the hash of what visitors asked for in an hour.
func keyAsked(at time.Time) string { return keyHour(at) + suffixAsked }

const suffixAsked = ":asked"

// People are what visitors of the pages asked for in some hours.
type People struct {
	Pages     map[string]int64 `json:"pages"`     // shown, by template
	Languages map[string]int64 `json:"languages"` // of these
	Asked     map[string]int64 `json:"asked"`     // by the kind of the page that answers
	Answered  int64            `json:"answered"`
	Refused   map[string]int64 `json:"refused"` // by code

	Median time.Duration        `json:"-"` // until the number
	Sites  map[string]AskedSite `json:"-"` // by the registered domain, or Other
}

// AskedSite is a site that visitors asked for.
type AskedSite struct {
	Networks int64            `json:"networks"` // that asked for it, each once an hour
	Asked    int64            `json:"asked"`
	Answered int64            `json:"answered"`
	Refused  map[string]int64 `json:"refused,omitempty"` // by code
}

// ReadPeople returns what visitors asked for in the last hours.
func ReadPeople(ctx context.Context, client redis.UniversalClient, now time.Time, n int) (People, error) {
	hours, err := hoursOf(ctx, client, now, n, keyAsked)
	people := People{
		Pages: map[string]int64{}, Languages: map[string]int64{}, Asked: map[string]int64{}, Refused: map[string]int64{},
		Sites: map[string]AskedSite{},
	}
	counts := Sum(hours)
	for what, n := range counts.Ended {
		people.add(what, n)
	}
	people.Median = counts.Median(func(What) bool { return true })
	return people, err
}

func (p *People) add(what What, n int64) {
	site := p.Sites[what.Site]
	page, isView := strings.CutPrefix(what.Step, viewed+"/")
	switch {
	case isView:
		p.Pages[page] += n
		p.Languages[what.Code] += n
		return
	case what.Step == networks:
		site.Networks += n
	case what.Step == asked:
		p.Asked[what.Code] += n
		site.Asked += n
	case what.Code == OK:
		p.Answered += n
		site.Answered += n
	default:
		if site.Refused == nil {
			site.Refused = map[string]int64{}
		}
		p.Refused[what.Code] += n
		site.Refused[what.Code] += n
	}
	if what.Site != NoSite {
		p.Sites[what.Site] = site
	}
}
