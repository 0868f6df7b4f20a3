package tra_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/tra/tratest"
	"ushuru/pkg/vehicle"
)

// fixture is an Authority before a simulator, with a clock that stands still.
type fixture struct {
	*tra.Authority
	server *tratest.Server
	store  *tra.Store
	clock  *clock
	toyota catalogue.Make
}

func newFixture(t *testing.T, conn *redisx.Conn, o tratest.Options, a tra.AuthorityOptions) *fixture {
	t.Helper()
	f := &fixture{clock: &clock{time.Date(2025, 11, 15, 12, 0, 0, 0, time.UTC)}}
	o.Date = f.clock.now
	server, client := simulated(t, o)
	f.server, f.toyota = server, catalogue.Make{ID: server.MakeID("TOYOTA"), Name: "TOYOTA"}
	f.store = tra.NewStore(conn.Client(), tra.StoreOptions{Now: f.clock.Now, Implausible: tiny})
	f.Authority = tra.NewAuthority(client, f.store, a)
	if _, err := f.store.WorkerAlive(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f
}

// resolve makes the five calls of one estimate.
func (f *fixture) resolve(ctx context.Context) (tax vehicle.Tax, warnings []vehicle.Warning, err error) {
	v, part := fielderOf(0), catalogue.Vehicle{ModelBody: fielder}
	for _, value := range []string{strconv.Itoa(v.YOM), v.Country, v.FuelType, v.EngineCapacity} {
		if _, err = f.List(ctx, f.toyota, part); err != nil {
			return tax, nil, err
		}
		part = part.With(value)
	}
	got, err := f.Details(ctx, f.toyota, v)
	return got.Tax, got.Warnings, err
}

// calls counts all calls that the simulator got.
func (f *fixture) calls() (n int) {
	for _, count := range f.server.Counts().Calls {
		n += count
	}
	return n
}

func TestAnswersAreCachedUntilTheQuarterEnds(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		f := newFixture(t, conn, tratest.Options{}, tra.AuthorityOptions{})
		first, _, err := f.resolve(t.Context())
		if err != nil || f.calls() != 5 {
			t.Fatalf("first: %v, %d calls", err, f.calls())
		}
		f.toyota.ID = 999 // ids change; the name is what answers are kept under
		f.clock.now = tra.QuarterEnd(f.clock.now).Add(-time.Second)
		again, warnings, err := f.resolve(t.Context())
		if err != nil || again.ReferenceNumber != first.ReferenceNumber || len(warnings) != 0 || f.calls() != 5 {
			t.Fatalf("in the quarter: %v, %s, %d calls", err, again.ReferenceNumber, f.calls())
		}
		if first.TotalTaxesInTZS.String() != again.TotalTaxesInTZS.String() || again.CIFInUSD.String() != "3,199.00" {
			t.Errorf("cached %+v, asked %+v", again, first)
		}
		f.toyota.ID = f.server.MakeID("TOYOTA")
		f.clock.now = f.clock.now.Add(time.Second)
		later, _, err := f.resolve(t.Context())
		if err != nil || later.ReferenceNumber == first.ReferenceNumber || f.calls() != 10 {
			t.Fatalf("in the next quarter: %v, %s, %d calls", err, later.ReferenceNumber, f.calls())
		}
	})
}

// Who watches the authority's figures hears of each once, with what was asked.
func TestOnAnswerIsCalledOncePerAnswer(t *testing.T) {
	t.Parallel()
	conn := redistest.Embedded(t)
	var heard []string
	f := newFixture(t, conn, tratest.Options{}, tra.AuthorityOptions{
		OnAnswer: func(ctx context.Context, asked tra.Request, tax vehicle.Tax) {
			var kept []string
			for _, key := range conn.Client().Keys(ctx, "tra:answer:*").Val() {
				kept = append(kept, storedText(t, conn.Client().Get(ctx, key).Val()))
			}
			if !strings.Contains(strings.Join(kept, "\n"), tax.ReferenceNumber) {
				t.Errorf("OnAnswer was called before the answer was stored: %q", kept)
			}
			heard = append(heard, asked.Make+" "+asked.ModelBody+" "+tax.ReferenceNumber)
		},
	})
	for range 2 { // the second is from the cache
		tax, _, err := f.resolve(t.Context())
		if want := "TOYOTA " + tax.ModelBody + " " + tax.ReferenceNumber; err != nil || len(heard) != 1 || heard[0] != want {
			t.Fatalf("%q, %v, want %q", heard, err, want)
		}
	}
}

func TestDifferentVehiclesAreDifferentAnswers(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		f := newFixture(t, conn, tratest.Options{}, tra.AuthorityOptions{})
		v := fielderOf(0)
		older, err1 := f.Details(t.Context(), f.toyota, v)
		v.YOM = 2019
		newer, err2 := f.Details(t.Context(), f.toyota, v)
		if err1 != nil || err2 != nil || older.Tax.YOM != 2015 || newer.Tax.YOM != 2019 {
			t.Errorf("%v %v: %d and %d", err1, err2, older.Tax.YOM, newer.Tax.YOM)
		}
	})
}

func TestALaterQuarterOfTheAuthoritysOutdatesEveryAnswer(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		f := newFixture(t, conn, tratest.Options{Quarter: 3, Year: 2025}, tra.AuthorityOptions{})
		v := fielderOf(0)
		v.YOM = 2018
		_, err1 := f.Details(t.Context(), f.toyota, v)
		if _, _, err := f.resolve(t.Context()); err != nil || err1 != nil {
			t.Fatal(err, err1)
		}
		revised, client := simulated(t, tratest.Options{Date: f.clock.now, Quarter: 4, Year: 2025})
		f.Authority = tra.NewAuthority(client, f.store, tra.AuthorityOptions{})
		f.server, f.toyota.ID = revised, revised.MakeID("TOYOTA")
		if _, _, err := f.resolve(t.Context()); err != nil || f.calls() != 0 {
			t.Fatalf("the answer cannot be known yet: %v, %d calls", err, f.calls())
		}
		v.YOM = 2019
		if _, err := f.Details(t.Context(), f.toyota, v); err != nil {
			t.Fatal(err)
		}
		tax, _, err := f.resolve(t.Context())
		if err != nil || tax.Quarter != 4 || f.calls() != 6 {
			t.Errorf("after a calculation of the new quarter: %v, quarter %d, %d calls", err, tax.Quarter, f.calls())
		}
		if _, _, err := f.resolve(t.Context()); err != nil || f.calls() != 6 {
			t.Errorf("the new answers are not kept: %v, %d calls", err, f.calls())
		}
	})
}

func TestAnEmptyListIsNotBelievedLong(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		f := newFixture(t, conn, tratest.Options{Faults: tratest.Faults{EmptyLists: true}}, tra.AuthorityOptions{})
		years := func() []string {
			t.Helper()
			years, err := f.List(t.Context(), f.toyota, catalogue.Vehicle{ModelBody: fielder})
			if err != nil {
				t.Fatal(err)
			}
			return years
		}
		years()
		f.server.SetFaults(tratest.Faults{})
		f.clock.now = f.clock.now.Add(10*time.Minute - time.Second)
		if got := years(); len(got) != 0 {
			t.Errorf("asked again after less than ten minutes: %v", got)
		}
		f.clock.now = f.clock.now.Add(time.Second)
		if got := years(); !slices.Contains(got, "2019") {
			t.Errorf("not asked again after ten minutes: %v", got)
		}
	})
}

func TestManyCallersAtOnceCostOneCall(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		f := newFixture(t, conn, tratest.Options{Faults: tratest.Faults{Latency: tratest.Duration(50 * time.Millisecond)}}, tra.AuthorityOptions{})
		var group sync.WaitGroup
		for range 4 { // as many processes
			process := f.process(t)
			for range 25 {
				group.Go(func() {
					if _, _, err := process.resolve(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
		}
		group.Wait()
		for call, n := range f.server.Counts().Calls {
			if n != 1 {
				t.Errorf("%d times %s", n, call)
			}
		}
		if f.calls() != 5 {
			t.Errorf("%d calls", f.calls())
		}
	})
}

// process returns the same as another process has it.
func (f *fixture) process(t *testing.T) *fixture {
	other := *f
	client := newClient(t, tra.Options{BaseURL: f.server.URL})
	other.Authority = tra.NewAuthority(client, f.store, tra.AuthorityOptions{})
	return &other
}

func TestWhoWaitsAsksWhenTheFirstFails(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		f := newFixture(t, conn, tratest.Options{Faults: tratest.Faults{
			Latency: tratest.Duration(50 * time.Millisecond), Status: 503, Next: 1,
		}}, tra.AuthorityOptions{})
		errs := make(chan error, 4)
		for range cap(errs) {
			process := f.process(t)
			go func() {
				_, err := process.Details(t.Context(), f.toyota, fielderOf(0))
				errs <- err
			}()
		}
		failed := 0
		for range cap(errs) {
			if err := <-errs; err != nil {
				failed++
			}
		}
		if failed != 1 || f.calls() != 2 {
			t.Errorf("%d failed, %d calls", failed, f.calls())
		}
	})
}

// A process that dies while it asks lets the others ask a little later.
func TestWhoWaitsAsksWhenTheFirstDies(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		asked := make(chan struct{}, 2)
		f := newFixture(t, conn, tratest.Options{}, tra.AuthorityOptions{})
		hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			asked <- struct{}{}
			<-r.Context().Done()
		}))
		defer hangs.Close()
		defer hangs.CloseClientConnections()
		dying := tra.NewAuthority(newClient(t, tra.Options{BaseURL: hangs.URL}), f.store, tra.AuthorityOptions{})
		go func() { _, _ = dying.Details(t.Context(), f.toyota, fielderOf(0)) }()
		<-asked
		var leases []string
		err := eachNode(t.Context(), conn.Client(), func(ctx context.Context, node scanner) error {
			keys, _, err := node.Scan(ctx, 0, "{tra:answer:*:asking", 1000).Result()
			leases = append(leases, keys...)
			return err
		})
		if err != nil || len(leases) != 1 {
			t.Fatal(leases, err)
		}
		// To its renewals the lease is now another's: as if no process renewed it.
		const left = 300 * time.Millisecond
		begun := time.Now()
		if err := conn.Client().Set(t.Context(), leases[0], "dead", left).Err(); err != nil {
			t.Fatal(err)
		}
		_, err = f.Details(t.Context(), f.toyota, fielderOf(0))
		if took := time.Since(begun); err != nil || f.calls() != 1 || took < left/2 {
			t.Errorf("%v, %d calls after %v", err, f.calls(), took)
		}
	})
}

func TestWhoAskedFirstMayLeave(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		asked := make(chan struct{})
		answer := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			close(asked) // a second request panics
			select {
			case <-answer:
			case <-r.Context().Done():
			}
			_, _ = w.Write([]byte(`[{"yom":2019}]`))
		}))
		defer server.Close()
		client := newClient(t, tra.Options{BaseURL: server.URL})
		authority := tra.NewAuthority(client, tra.NewStore(conn.Client(), tra.StoreOptions{}), tra.AuthorityOptions{})
		years := func(ctx context.Context) <-chan error {
			done := make(chan error, 1)
			go func() {
				_, err := authority.List(ctx, catalogue.Make{ID: 1, Name: "TOYOTA"}, catalogue.Vehicle{ModelBody: fielder})
				done <- err
			}()
			return done
		}
		ctx, leave := context.WithCancel(t.Context())
		first := years(ctx)
		<-asked
		second := years(t.Context())
		leave()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("who left: %v", err)
		}
		close(answer)
		if err := <-second; err != nil {
			t.Errorf("who stayed: %v", err)
		}
	})
}

func kind(err error) tra.Kind {
	if failure, ok := errors.AsType[*tra.Error](err); ok {
		return failure.Kind
	}
	return ""
}

func TestTheBreakerOpensAfterOutagesInARow(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		const pause = 2 * time.Second // longer than a busy machine takes for a question
		for name, c := range map[string]struct {
			faults tratest.Faults
			opens  bool
		}{
			"unavailable":           {tratest.Faults{Status: 503}, true},
			"an unreadable answer":  {tratest.Faults{Status: 404}, false},
			"outages, not in a row": {tratest.Faults{Status: 503, Next: 2}, false},
		} {
			f := newFixture(t, conn, tratest.Options{Faults: c.faults}, tra.AuthorityOptions{BreakerFailures: 3, BreakerTimeout: pause})
			for range 3 {
				_, _ = f.Makes(t.Context())
			}
			_, err := f.Makes(t.Context())
			gate, closed := errors.AsType[*tra.ThrottleError](err)
			if closed != c.opens {
				t.Errorf("%s: %v", name, err)
			}
			if !closed {
				continue
			}
			if gate.Reason != tra.BreakerOpen || gate.RetryAfter <= 0 || gate.RetryAfter > pause || f.calls() != 3 {
				t.Errorf("%s: %+v after %d calls", name, gate, f.calls())
			}
			f.server.SetFaults(tratest.Faults{})
			for closed {
				<-time.After(gate.RetryAfter)
				_, err = f.Makes(t.Context())
				gate, closed = errors.AsType[*tra.ThrottleError](err)
			}
			if err != nil {
				t.Errorf("%s, after the pause: %v", name, err)
			}
		}
	})
}

func TestTheBreakerCountsNeitherMissingVehiclesNorLostCallers(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		f := newFixture(t, conn, tratest.Options{}, tra.AuthorityOptions{BreakerFailures: 1, BreakerTimeout: time.Hour})
		v := fielderOf(0)
		v.YOM = 1971
		gone, leave := context.WithCancel(t.Context())
		leave()
		for range 3 {
			if _, err := f.Details(t.Context(), f.toyota, v); kind(err) != tra.NoSuchVehicle {
				t.Fatalf("missing vehicle: %v", err)
			}
			if _, err := f.Makes(gone); !errors.Is(err, context.Canceled) {
				t.Fatalf("lost caller: %v", err)
			}
		}
		if _, err := f.Makes(t.Context()); err != nil {
			t.Errorf("the breaker opened: %v", err)
		}
	})
}

func TestTheRateLimitIsShared(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		f := newFixture(t, conn, tratest.Options{}, tra.AuthorityOptions{PerSecond: 2, BreakerFailures: 1})
		client, err := tra.NewClient(tra.Options{BaseURL: f.server.URL})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		other := tra.NewAuthority(client, f.store, tra.AuthorityOptions{PerSecond: 2})
		var gates []*tra.ThrottleError
		for range 3 {
			for _, authority := range []*tra.Authority{f.Authority, other} {
				_, err := authority.Makes(t.Context())
				if gate, closed := errors.AsType[*tra.ThrottleError](err); closed {
					gates = append(gates, gate)
				} else if err != nil {
					t.Fatal(err)
				}
			}
		}
		if len(gates) == 0 || f.calls() > 4 {
			t.Fatalf("%d of 6 calls went out at 2 a second", f.calls())
		}
		if gate := gates[0]; gate.Reason != tra.RateUsedUp || gate.RetryAfter <= 0 || gate.RetryAfter > time.Second {
			t.Errorf("gate %+v", gate)
		}
	})
}

// However much one key asks, and however long a batch is, calls are left for others.
func TestKeysAndBatchesLeaveCallsForOthers(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		f := newFixture(t, conn, tratest.Options{}, tra.AuthorityOptions{PerSecond: 12})
		// atOnce is how many of the calls go out, without those that came back while they were asked for.
		calls := func(ctx context.Context, asked int) (atOnce int) {
			t.Helper()
			began, made := time.Now(), 0
			for range asked {
				_, err := f.Makes(ctx)
				if gate, closed := errors.AsType[*tra.ThrottleError](err); !closed {
					made++
				} else if gate.Reason != tra.RateUsedUp {
					t.Fatalf("gate %+v", gate)
				}
			}
			return made - min(made-1, int(time.Since(began).Seconds()*12))
		}
		person := func(owner string) context.Context { return pace.WithOwner(t.Context(), owner) }
		if made := calls(person("a"), 24); made < 7 || made > 9 {
			t.Errorf("one key makes %d of 12 calls at once, want two thirds", made)
		}
		if made := calls(person("b"), 1); made != 1 {
			t.Error("another key waits")
		}
		testenv.AwaitTrue(t, "all calls of a second are left again", func() bool {
			left, err := conn.Client().Exists(t.Context(), "rate:{tra}").Result()
			return err == nil && left == 0
		})
		if made := calls(tra.ForBatch(t.Context()), 24); made < 9 || made > 12 {
			t.Errorf("a batch makes %d of 12 calls at once, want nine tenths", made)
		}
		if made := calls(person("c"), 1); made != 1 {
			t.Error("a person waits for a batch")
		}
	})
}

func TestStoredAnswersHoldTimeQuestionAndAnswer(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		f := newFixture(t, conn, tratest.Options{}, tra.AuthorityOptions{})
		if _, err := f.Details(t.Context(), f.toyota, fielderOf(0)); err != nil {
			t.Fatal(err)
		}
		var record struct {
			At       time.Time `json:"at"`
			Question struct {
				Make      string `json:"make"`
				ModelBody string `json:"modelBody"`
				YOM       int    `json:"yom"`
			} `json:"question"`
			Answer struct {
				Tax vehicle.Tax `json:"tax"`
			} `json:"answer"`
		}
		value := find(t, conn, "tra:answer:")
		if err := json.Unmarshal([]byte(storedText(t, value)), &record); err != nil {
			t.Fatalf("%s: %v", value, err)
		}
		if !record.At.Equal(f.clock.now) || record.Question.Make != "TOYOTA" || record.Question.ModelBody != fielder ||
			record.Question.YOM != 2015 || record.Answer.Tax.Quarter != 4 || record.Answer.Tax.Year != 2025 {
			t.Errorf("stored %s", value)
		}
	})
}

// storedText returns the JSON of a stored answer.
func storedText(t *testing.T, value string) string {
	t.Helper()
	_, packed, _ := strings.Cut(strings.TrimPrefix(value, "1|"), "|") // fresh until
	_, packed, _ = strings.Cut(packed, "|")                           // period
	text, err := redisx.Unpack([]byte(packed))
	if err != nil {
		t.Fatalf("not a stored answer: %q: %v", value, err)
	}
	return string(text)
}

// find returns the value of the one key with a prefix.
func find(t *testing.T, conn *redisx.Conn, prefix string) (value string) {
	t.Helper()
	scan := func(ctx context.Context, client scanner) error {
		keys := client.Scan(ctx, 0, prefix+"*", 1000).Iterator()
		for keys.Next(ctx) {
			value = conn.Client().Get(ctx, keys.Val()).Val()
		}
		return keys.Err()
	}
	if err := eachNode(t.Context(), conn.Client(), scan); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestARefusalPausesThisProcessAndNoOther(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		const pause = 2 * time.Second // longer than a busy machine takes for these calls
		var log bytes.Buffer
		f := newFixture(t, conn, tratest.Options{Faults: tratest.Faults{RefuseRegion: true}},
			tra.AuthorityOptions{BreakerTimeout: pause, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if _, err := f.Makes(t.Context()); kind(err) != tra.Refused {
			t.Fatalf("the first call: %v", err)
		}
		for range 3 {
			_, err := f.Makes(t.Context())
			paused, ok := errors.AsType[*tra.ThrottleError](err)
			if !ok || paused.Reason != tra.JustRefused || paused.RetryAfter <= 0 || paused.RetryAfter > pause {
				t.Errorf("after the refusal: %v", err)
			}
		}
		if lines := strings.Count(log.String(), "level=ERROR"); lines != 1 || f.calls() != 1 {
			t.Errorf("%d errors logged, %d calls:\n%s", lines, f.calls(), log.String())
		}
		_, elsewhere := simulated(t, tratest.Options{})
		other := tra.NewAuthority(elsewhere, f.store, tra.AuthorityOptions{})
		if _, err := other.Makes(t.Context()); err != nil {
			t.Errorf("a worker elsewhere: %v", err)
		}
		f.server.SetFaults(tratest.Faults{})
		testenv.Await(t, "the end of the pause", func() (any, bool) {
			_, err := f.Makes(t.Context())
			return err, err == nil
		})
	})
}

func TestAProbeThatIsAnsweredEndsThePause(t *testing.T) {
	t.Parallel()
	conn := redistest.Embedded(t)
	f := newFixture(t, conn, tratest.Options{Faults: tratest.Faults{RefuseRegion: true, Next: 1}}, tra.AuthorityOptions{})
	if _, err := f.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Makes(t.Context()); err == nil {
		t.Error("a refused probe pauses nothing")
	}
	if _, err := f.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Makes(t.Context()); err != nil {
		t.Errorf("after a probe that was answered: %v", err)
	}
}

// scanner is one Redis server.
type scanner interface {
	Scan(ctx context.Context, cursor uint64, match string, count int64) *redis.ScanCmd
}

// eachNode visits every server that holds keys, one at a time.
func eachNode(ctx context.Context, client redis.UniversalClient, visit func(context.Context, scanner) error) error {
	cluster, ok := client.(*redis.ClusterClient)
	if !ok {
		return visit(ctx, client)
	}
	var one sync.Mutex
	return cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		one.Lock()
		defer one.Unlock()
		return visit(ctx, node)
	})
}
