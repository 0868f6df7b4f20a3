package freight

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/shopspring/decimal"

	"ushuru/pkg/cost"
	"ushuru/pkg/localtime"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// The bounds of the store: what is beyond them pushes out what is oldest.
const (
	maxEntries = 1000 // of a site and origin, or of a model
	maxLists   = 3000 // of all
	maxWaiting = 1000 // observations that are not written yet
)

// flushInterval is how often observations are written. Those of a process that is
// killed are lost, and the next listings replace them.
const flushInterval = 5 * time.Second

// freshness is how long an estimate is used before Redis is asked again.
const freshness = time.Minute

// Store keeps observations in Redis and makes estimates of them. It is safe for
// concurrent use.
type Store struct {
	client redis.UniversalClient
	siteOf func(host string) string
	log    *slog.Logger
	now    func() time.Time

	mu      sync.Mutex
	waiting []Observation
	known   map[string]knownEstimate
}

type knownEstimate struct {
	Estimate
	ok bool
	at time.Time
}

// New returns a Store. Run writes what it observes. siteOf returns the name of the
// site of a host, "" for an unknown one.
func New(client redis.UniversalClient, siteOf func(host string) string, log *slog.Logger) *Store {
	return &Store{client: client, siteOf: siteOf, log: log, now: time.Now, known: map[string]knownEstimate{}}
}

// Keys in Redis. A list is a hash of entries by id with their order in a sorted set
// by day; the index has every list by the day of its last entry.
const (
	prefix   = "freight:"
	indexKey = prefix + "lists"
)

// shippingList names the list of a site and an origin: the rate per cubic metre.
func shippingList(site, origin string) string { return "rate|" + site + "|" + origin }

// volumeList names the list of a model: its volume at all sites.
func volumeList(mk, model, body string) string { return "m3|" + mk + "|" + model + "|" + body }

func entriesKey(list string) string  { return prefix + "{" + digest(list) + "}:entries" }
func daysKey(list string) string     { return prefix + "{" + digest(list) + "}:days" }
func estimateKey(list string) string { return prefix + "{" + digest(list) + "}:estimate" }

// add adds an entry to a list and removes the oldest beyond the bound.
// KEYS: entries, days. ARGV: id, entry, day, most entries, lifetime in seconds.
var add = redis.NewScript(`
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
local over = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[4])
if over > 0 then
  local old = redis.call('ZRANGE', KEYS[2], 0, over - 1)
  redis.call('ZREM', KEYS[2], unpack(old))
  redis.call('HDEL', KEYS[1], unpack(old))
end
redis.call('EXPIRE', KEYS[1], ARGV[5])
redis.call('EXPIRE', KEYS[2], ARGV[5])
return 1
`)

// ObserveListing takes what a listing says that we fetched ourselves. It never blocks
// and never fails: when Redis is away, observations beyond the bound are dropped.
func (s *Store) ObserveListing(link string, car vehicle.Car) {
	if o, ok := ObservationOf(s.site(link), car, s.now()); ok {
		s.observe(o)
	}
}

// site returns the name of the site of a URL, "" for an unknown one.
func (s *Store) site(link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	return s.siteOf(strings.ToLower(u.Hostname()))
}

func (s *Store) observe(o Observation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) < maxWaiting {
		s.waiting = append(s.waiting, o)
	}
}

// Run writes observations until ctx ends, and then what is left.
func (s *Store) Run(ctx context.Context) {
	ticker := time.NewTicker(flushInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			final, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			s.flush(final)
			cancel()
			return
		case <-ticker.C:
			s.flush(ctx)
		}
	}
}

// flush writes the observations that wait. They wait on when Redis is away.
func (s *Store) flush(ctx context.Context) {
	s.mu.Lock()
	batch := s.waiting
	s.waiting = nil
	s.mu.Unlock()
	if len(batch) == 0 {
		return
	}
	if err := s.write(ctx, batch); err != nil {
		s.log.DebugContext(ctx, "observations of freight are not written yet", "error", err)
		s.mu.Lock()
		s.waiting = append(batch, s.waiting...)
		s.waiting = s.waiting[:min(len(s.waiting), maxWaiting)]
		s.mu.Unlock()
	}
}

func (s *Store) write(ctx context.Context, batch []Observation) error {
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, o := range batch {
			if o.USD.IsPositive() {
				s.addTo(ctx, p, shippingList(o.Site, o.Origin), o, o.USD.Div(o.M3).Round(4))
			}
			if o.Make != "" && o.Model != "" {
				s.addTo(ctx, p, volumeList(o.Make, o.Model, o.Body), o, o.M3)
			}
		}
		p.ZRemRangeByRank(ctx, indexKey, 0, -maxLists-1)
		p.Expire(ctx, indexKey, window)
		return nil
	})
	if err != nil {
		return fmt.Errorf("freight: writing observations: %w", err)
	}
	return nil
}

func (s *Store) addTo(ctx context.Context, p redis.Pipeliner, list string, o Observation, value decimal.Decimal) {
	text := strings.Join([]string{value.String(), o.Day.UTC().Format(time.DateOnly), o.Site}, "|")
	add.Eval(ctx, p, []string{entriesKey(list), daysKey(list)}, o.id(), text, o.Day.Unix(), maxEntries, int(window.Seconds()))
	p.ZAdd(ctx, indexKey, redis.Z{Score: float64(o.Day.Unix()), Member: list})
}

// Shipping returns what a site charges for a cubic metre from an origin, in dollars,
// freight and insurance together; false when too little is known.
func (s *Store) Shipping(ctx context.Context, site, origin string) (Estimate, bool) {
	if site == "" {
		return Estimate{}, false
	}
	list := shippingList(site, origin)
	return s.remembered(list, func() (Estimate, bool, error) { return s.shipping(ctx, list) })
}

// askTimeout is how long a calculation waits for Redis before it uses the tables.
const askTimeout = 250 * time.Millisecond

// Learned returns what listings say of shipping the car of an estimate.
func (s *Store) Learned(e vehicle.Estimate) (learned cost.Learned) {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	site := s.site(e.Input.URL)
	if rate, known := s.Shipping(ctx, site, OriginOf(e.Car)); known {
		learned.Freight = rate.Value(site)
	}
	if e.Car.M3 != nil {
		return learned
	}
	if m3, known := s.Volume(ctx, site, e.Car.Make, e.Car.Model, e.Car.BodyType); known {
		learned.Volume = m3.Value("")
	}
	return learned
}

// Value returns the estimate as package cost uses it.
func (e Estimate) Value(site string) *cost.LearnedValue {
	return &cost.LearnedValue{
		Low: e.Low, Median: e.Median, High: e.High, Count: e.Count, Site: site, From: e.From, To: e.To,
	}
}

// Volume returns the volume of a model in cubic metres, as a site states it or as
// several others do; false when too little is known.
func (s *Store) Volume(ctx context.Context, site, mk, model, body string) (Estimate, bool) {
	if mk == "" || model == "" {
		return Estimate{}, false
	}
	list := volumeList(mk, model, body)
	return s.remembered(site+"|"+list, func() (Estimate, bool, error) {
		entries, err := s.entries(ctx, list)
		if err != nil {
			return Estimate{}, false, err
		}
		e, known := volume(entries, site, s.now())
		return e, known, nil
	})
}

// remembered returns an estimate that is less than a minute old, or makes it. An
// estimate that Redis does not give counts as not known.
func (s *Store) remembered(key string, estimate func() (Estimate, bool, error)) (Estimate, bool) {
	s.mu.Lock()
	k, has := s.known[key]
	s.mu.Unlock()
	if has && s.now().Sub(k.at) < freshness {
		return k.Estimate, k.ok
	}
	e, ok, err := estimate()
	if err != nil {
		s.log.Debug("no estimate of freight", "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) > maxLists {
		clear(s.known)
	}
	s.known[key] = knownEstimate{e, ok && err == nil, s.now()}
	return e, ok && err == nil
}

// shipping returns the estimate of a list. It is made once a day and then kept, so
// that it can move by its spread only.
func (s *Store) shipping(ctx context.Context, list string) (Estimate, bool, error) {
	kept, has, err := s.kept(ctx, list)
	if err != nil || has && kept.On == dateOf(s.now()) {
		return kept, has, err
	}
	entries, err := s.entries(ctx, list)
	if err != nil {
		return Estimate{}, false, err
	}
	next, known := estimate(entries, s.now())
	if !known {
		return Estimate{}, false, nil
	}
	if has {
		next = kept.towards(next)
	}
	data, err := json.Marshal(next)
	if err != nil {
		return Estimate{}, false, fmt.Errorf("freight: %w", err)
	}
	if err := s.client.Set(ctx, estimateKey(list), data, window).Err(); err != nil {
		return Estimate{}, false, fmt.Errorf("freight: keeping an estimate: %w", err)
	}
	return next, true, nil
}

func (s *Store) kept(ctx context.Context, list string) (e Estimate, has bool, err error) {
	data, err := s.client.Get(ctx, estimateKey(list)).Bytes()
	if errors.Is(err, redis.Nil) {
		return e, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	if err == nil && !money.IsBounded(e.Low, e.Median, e.High) {
		err = money.ErrInvalid
	}
	if err != nil {
		return e, false, fmt.Errorf("freight: reading an estimate: %w", err)
	}
	return e, true, nil
}

// entries returns the entries of a list. One that cannot be read is left out.
func (s *Store) entries(ctx context.Context, list string) ([]entry, error) {
	all, err := s.client.HGetAll(ctx, entriesKey(list)).Result()
	if err != nil {
		return nil, fmt.Errorf("freight: reading observations: %w", err)
	}
	entries := make([]entry, 0, len(all))
	for _, text := range all {
		parts := strings.SplitN(text, "|", 3)
		if len(parts) < 3 {
			continue
		}
		value, err := money.ParseDecimal(parts[0])
		day, dayErr := time.Parse(time.DateOnly, parts[1])
		if err == nil && dayErr == nil {
			entries = append(entries, entry{parts[2], value, day})
		}
	}
	return entries, nil
}

// Learned is an estimate and what it is of.
type Learned struct {
	Site     string `json:"site,omitempty"`   // of a rate
	Origin   string `json:"origin,omitempty"` // of a rate
	Make     string `json:"make,omitempty"`   // of a volume
	Model    string `json:"model,omitempty"`
	Body     string `json:"body,omitempty"`
	Estimate        //nolint:embeddedstructfieldcheck // what it is of comes first; USD per m³ of a rate, m³ of a volume
}

// List returns every estimate there is: rates of sites, then volumes of models.
func (s *Store) List(ctx context.Context) (rates, volumes []Learned, err error) {
	lists, err := s.client.ZRange(ctx, indexKey, 0, -1).Result()
	if err != nil {
		return nil, nil, fmt.Errorf("freight: listing: %w", err)
	}
	slices.Sort(lists)
	for _, list := range lists {
		parts := strings.Split(list, "|")
		switch {
		case len(parts) == 3 && parts[0] == "rate":
			e, known, err := s.shipping(ctx, list)
			if err != nil {
				return nil, nil, err
			}
			if known {
				rates = append(rates, Learned{Site: parts[1], Origin: parts[2], Estimate: e})
			}
		case len(parts) == 4 && parts[0] == "m3":
			entries, err := s.entries(ctx, list)
			if err != nil {
				return nil, nil, err
			}
			if e, known := volume(entries, "", s.now()); known {
				volumes = append(volumes, Learned{Make: parts[1], Model: parts[2], Body: parts[3], Estimate: e})
			}
		}
	}
	return rates, volumes, nil
}

func dateOf(day time.Time) string { return day.In(localtime.Zone).Format(time.DateOnly) }
