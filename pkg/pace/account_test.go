package pace_test

import (
	"crypto/rand"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

func TestBytesOnEveryRedis(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		bytes, key1 := pace.NewAccounts(conn.Client(), pace.KindBytes), pace.Holder{Whole: "key1"}
		take := func(limit int64, things ...pace.Kept) (pace.Account, bool) {
			t.Helper()
			account, ok, err := bytes.Take(t.Context(), "key1", limit, things...)
			if err != nil {
				t.Fatal(err)
			}
			return account, ok
		}
		if got, ok := take(1000, pace.Kept{Size: 600, TTL: time.Hour}); !ok || got.Used != 600 || got.Limit != 1000 {
			t.Errorf("the first: %+v, %t", got, ok)
		}
		if got, ok := take(1000, pace.Kept{Size: 300, TTL: time.Hour}, pace.Kept{Size: 101, TTL: time.Hour}); ok || got.Used != 600 {
			t.Errorf("above the limit: %+v, %t", got, ok)
		}
		if _, ok := take(0, pace.Kept{Name: "huge", Size: 1 << 40, TTL: time.Hour}); !ok {
			t.Error("without a limit")
		}
		must(t, bytes.Forget(t.Context(), key1, "huge"))
		// A name counts once, whatever its size was.
		for _, size := range []int64{100, 400, 250} {
			if got, ok := take(1000, pace.Kept{Name: "batch:1", Size: size, TTL: 40 * 24 * time.Hour}); size < 400 && !ok {
				t.Errorf("%d under a name: %+v", size, got)
			}
			must(t, bytes.Expire(t.Context(), "key1", "batch:1", time.Hour)) // keeps the size
			if got, err := bytes.Read(t.Context(), key1); err != nil || got.Used != 600+size {
				t.Errorf("with %d under a name: got %+v, %v, want %d bytes", size, got, err, 600+size)
			}
			must(t, bytes.Forget(t.Context(), key1, "batch:1"))
		}
		must(t, bytes.Forget(t.Context(), key1, "batch:1"))
		_, err := bytes.Settle(t.Context(), key1, pace.Kept{Size: 1000, TTL: 30 * 24 * time.Hour})
		must(t, err)
		got, err := bytes.Read(t.Context(), key1)
		if err != nil || got.Used != 1600 || !got.Full() || got.Limit != 1000 {
			t.Errorf("with what workers add: %+v, %v", got, err)
		}
		if left := time.Until(got.Free); left < time.Hour || left > 2*time.Hour {
			t.Errorf("the next bytes expire in %v", left)
		}
		if got, err := bytes.Read(t.Context(), pace.Holder{Whole: "key2"}); err != nil || got.Used != 0 || got.Full() || !got.Free.IsZero() {
			t.Errorf("another key: %+v, %v", got, err)
		}
	})
}

// TestPromisedRoomIsUsedOnce: it counts until something is kept in it, and what is kept may be
// more or less.
func TestPromisedRoomIsUsedOnce(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		bytes := pace.NewAccounts(conn.Client(), pace.KindBytes)
		const promise = pace.Promised + "1"
		list := pace.Holder{Whole: "list"}
		promised := func(size int64) (pace.Account, bool) {
			t.Helper()
			account, ok, err := bytes.Take(t.Context(), "list", 1000, pace.Kept{Name: promise, Size: size, TTL: time.Hour})
			must(t, err)
			return account, ok
		}
		if got, ok := promised(1000); !ok || got.Full() {
			t.Errorf("all room: got %+v, %t, want it, and no more", got, ok)
		}
		settled := func(size int64, want pace.Account) {
			t.Helper()
			_, err := bytes.Settle(t.Context(), list, pace.Kept{Size: size, TTL: time.Hour}, pace.Kept{Name: promise, Size: -400})
			must(t, err)
			got, err := bytes.Read(t.Context(), list)
			got.Free = time.Time{}
			if err != nil || got != want {
				t.Errorf("after %d bytes: got %+v, %v, want %+v", size, got, err, want)
			}
		}
		settled(300, pace.Account{Used: 900, Limit: 1000, Promised: 600})
		if got, ok := promised(701); ok || got.Used != 900 {
			t.Errorf("more than is left: got %+v, %t", got, ok)
		}
		if _, ok := promised(700); !ok {
			t.Error("a promise may grow as long as it fits")
		}
		settled(450, pace.Account{Used: 1050, Limit: 1000, Promised: 300})
		settled(350, pace.Account{Used: 1100, Limit: 1000, Promised: 0})
		if got, _ := bytes.Read(t.Context(), list); !got.Full() {
			t.Errorf("more is kept than the limit: got %+v", got)
		}
	})
}

// TestNobodyTakesWhatIsLeft: whoever has something gets more only up to as much as is left for others
// then; who has nothing gets the last of it, and nobody more than there is.
func TestNobodyTakesWhatIsLeft(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		places := pace.NewAccounts(conn.Client(), pace.KindJobs)
		take := func(part string) bool {
			t.Helper()
			name := pace.Kept{Name: rand.Text(), Size: 1, TTL: time.Hour}
			got, err := places.TakeFor(t.Context(), pace.Holder{Whole: "network", Part: part}, pace.Within{Whole: 40, Half: true}, name)
			must(t, err)
			return !got.Refused
		}
		for part, want := range []int{20, 10, 5, 2, 1, 1, 1, 0} {
			got := 0
			for got < 41 && take(strconv.Itoa(part)) {
				got++
			}
			if got != want {
				t.Errorf("visitor %d: got %d places, want %d", part, got, want)
			}
		}
	})
}

// TestAThousandAtOnceTakeNoMoreThanThereIs, of the whole and of each part.
func TestAThousandAtOnceTakeNoMoreThanThereIs(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		tokens := pace.NewAccounts(conn.Client(), pace.KindTokens)
		var got [10]atomic.Int64
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() {
				of := pace.Holder{Whole: "day", Part: strconv.Itoa(i % len(got))}
				b, err := tokens.TakeFor(t.Context(), of, pace.Within{Whole: 650, Part: 100}, pace.Kept{Name: rand.Text(), Size: 10, TTL: time.Hour})
				if must(t, err); !b.Refused {
					got[i%len(got)].Add(10)
				}
			})
		}
		all.Wait()
		sum := int64(0)
		for i := range got {
			if n := got[i].Load(); n > 100 {
				t.Errorf("part %d: got %d, want at most 100", i, n)
			}
			sum += got[i].Load()
		}
		if sum != 650 {
			t.Errorf("got %d of the whole, want 650", sum)
		}
	})
}

// TestAnAccountWithoutAnythingIsGone: whoever sends any cookie has an account of jobs, and leaves
// none behind; of bytes the limit is kept, which operators read.
func TestAnAccountWithoutAnythingIsGone(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		for kind, want := range map[string]int64{pace.KindJobs: 0, pace.KindTokens: 0, pace.KindRows: 0, pace.KindBytes: 1} {
			accounts, visitor := pace.NewAccounts(conn.Client(), kind), pace.Holder{Whole: "network", Part: "visitor"}
			place := pace.Kept{Name: "place", Size: 1, TTL: time.Hour}
			keys := []string{kind + "network}", kind + "network}:visitor"}
			for how, leave := range map[string]func() error{
				"settled": func() error {
					_, err := accounts.Settle(t.Context(), visitor, pace.Kept{Name: "place"})
					return err
				},
				"forgotten": func() error { return accounts.Forget(t.Context(), visitor, "place") },
			} {
				_, err := accounts.TakeFor(t.Context(), visitor, pace.Within{Whole: 8, Half: true}, place)
				must(t, err)
				must(t, leave())
				got, err := conn.Client().Exists(t.Context(), keys[0]).Result()
				if part := conn.Client().Exists(t.Context(), keys[1]).Val(); err != nil || got != want || part != 0 {
					t.Errorf("%s, %s: got %d and %d keys, %v, want %d and none of the visitor", kind, how, got, part, err, want)
				}
			}
		}
	})
}

// TestWhatIsNotKeptIsGivenBack: what was added without a name is taken back from what expires with it.
func TestWhatIsNotKeptIsGivenBack(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		bytes, key := pace.NewAccounts(conn.Client(), pace.KindBytes), pace.Holder{Whole: "key"}
		for _, ttl := range []time.Duration{time.Hour, 25 * time.Hour, 30 * 24 * time.Hour} {
			_, _, err := bytes.Take(t.Context(), key.Whole, 1000, pace.Kept{Size: 300, TTL: ttl}, pace.Kept{Size: 7, TTL: time.Hour})
			must(t, err)
			got, err := bytes.Settle(t.Context(), key, pace.Kept{Size: -300, TTL: ttl}, pace.Kept{Size: -7, TTL: time.Hour})
			if must(t, err); got.Whole.Used != 0 {
				t.Errorf("%v: got %d bytes in the reply, want none", ttl, got.Whole.Used)
			}
			if got, err := bytes.Read(t.Context(), key); err != nil || got.Used != 0 {
				t.Errorf("%v: got %+v, %v, want no bytes", ttl, got, err)
			}
		}
	})
}

// TestAReservationFallsBack: that of a process that was killed ends by itself, in the whole and in
// the part; that of one that lives becomes what was used.
func TestAReservationFallsBack(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		tokens := pace.NewAccounts(conn.Client(), pace.KindTokens)
		key := pace.Holder{Whole: "day", Part: "key"}
		reserve := func(name string, ttl time.Duration) {
			t.Helper()
			_, err := tokens.TakeFor(t.Context(), key, pace.Within{}, pace.Kept{Name: name, Size: 1000, TTL: ttl})
			must(t, err)
		}
		reserve("killed", 20*time.Millisecond)
		reserve("settled", time.Hour)
		now, err := tokens.Settle(t.Context(), key, pace.Kept{Name: "settled"}, pace.Kept{Size: 70, TTL: time.Hour})
		must(t, err)
		if now.Part.Used != 70 && now.Part.Used != 1070 || now.Whole.Used != now.Part.Used {
			t.Errorf("settled: got %+v, want 70 beside the other's", now)
		}
		for _, of := range []pace.Holder{key, {Whole: "day"}} {
			testenv.Await(t, "what a killed process has reserved is free", func() (any, bool) {
				got, err := tokens.Read(t.Context(), of)
				return got, err == nil && got.Used == 70
			})
		}
	})
}

// TestBytesExpire: what is not removed, because a process died, ends by itself.
func TestBytesExpire(t *testing.T) {
	conn := redistest.Open(t, redistest.Start(t).URL)
	bytes, client := pace.NewAccounts(conn.Client(), pace.KindBytes), conn.Client()
	for _, kept := range []pace.Kept{
		{Size: 1, TTL: time.Millisecond, Name: "upload:1"},
		{Size: 10, TTL: time.Hour, Name: "upload:2"},
		{Size: 100, TTL: time.Millisecond},
		{Size: 1000, TTL: 30 * 24 * time.Hour},
	} {
		if _, ok, err := bytes.Take(t.Context(), "key", 0, kept); err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	must(t, client.HSet(t.Context(), "bytes:{key}", "490000", 10_000).Err()) // an hour of 2025
	must(t, bytes.Expire(t.Context(), "key", "upload:2", time.Minute))
	must(t, bytes.Expire(t.Context(), "key", "upload:3", time.Minute)) // which is not there
	var got pace.Account
	var err error
	testenv.Await(t, "two are expired", func() (any, bool) {
		got, err = bytes.Read(t.Context(), pace.Holder{Whole: "key"})
		return got, err != nil || got.Used <= 1110
	})
	if err != nil || got.Used != 1110 || time.Until(got.Free) > time.Minute {
		t.Errorf("%+v, %v", got, err)
	}
	if fields := client.HKeys(t.Context(), "bytes:{key}").Val(); len(fields) != 4 { // limit, upload:2, an hour and a day
		t.Errorf("%q are left", fields)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
