package pace_test

import (
	"testing"
	"time"

	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

func TestBytesOnEveryRedis(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		bytes := pace.NewBytes(conn.Client())
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
		must(t, bytes.Forget(t.Context(), "key1", "huge"))
		// A name counts once, whatever its size was.
		for _, size := range []int64{100, 400, 250} {
			if got, ok := take(1000, pace.Kept{Name: "batch:1", Size: size, TTL: 40 * 24 * time.Hour}); size < 400 && !ok {
				t.Errorf("%d under a name: %+v", size, got)
			}
			must(t, bytes.Expire(t.Context(), "key1", "batch:1", time.Hour)) // keeps the size
			if got, err := bytes.Read(t.Context(), "key1"); err != nil || got.Used != 600+size {
				t.Errorf("with %d under a name: got %+v, %v, want %d bytes", size, got, err, 600+size)
			}
			must(t, bytes.Forget(t.Context(), "key1", "batch:1"))
		}
		must(t, bytes.Forget(t.Context(), "key1", "batch:1"))
		must(t, bytes.Add(t.Context(), "key1", 1000, 30*24*time.Hour))
		got, err := bytes.Read(t.Context(), "key1")
		if err != nil || got.Used != 1600 || !got.Full() || got.Limit != 1000 {
			t.Errorf("with what workers add: %+v, %v", got, err)
		}
		if left := time.Until(got.Free); left < time.Hour || left > 2*time.Hour {
			t.Errorf("the next bytes expire in %v", left)
		}
		if got, err := bytes.Read(t.Context(), "key2"); err != nil || got.Used != 0 || got.Full() || !got.Free.IsZero() {
			t.Errorf("another key: %+v, %v", got, err)
		}
	})
}

// TestPromisedRoomIsUsedOnce: it counts until something is kept in it, and what is kept may be
// more or less.
func TestPromisedRoomIsUsedOnce(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		bytes := pace.NewBytes(conn.Client())
		const promise = pace.Promised + "1"
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
			must(t, bytes.Settle(t.Context(), "list", pace.Kept{Size: size, TTL: time.Hour}, promise, 400))
			got, err := bytes.Read(t.Context(), "list")
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
		if got, _ := bytes.Read(t.Context(), "list"); !got.Full() {
			t.Errorf("more is kept than the limit: got %+v", got)
		}
	})
}

// TestBytesExpire: what is not removed, because a process died, ends by itself.
func TestBytesExpire(t *testing.T) {
	conn := redistest.Open(t, redistest.Start(t).URL)
	bytes, client := pace.NewBytes(conn.Client()), conn.Client()
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
		got, err = bytes.Read(t.Context(), "key")
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
