package keys_test

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/keys"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

func newStore(t *testing.T) (*keys.Store, *miniredis.Miniredis) {
	t.Helper()
	server := miniredis.RunT(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
	t.Cleanup(func() { _ = rdb.Close() })
	return keys.NewStore(rdb), server
}

func create(t *testing.T, store *keys.Store, name string) (string, keys.Key) {
	t.Helper()
	plain, key, err := store.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return plain, key
}

func TestCreatedKeyVerifies(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	plain, created := create(t, store, "  Kariakoo Motors ")
	if !regexp.MustCompile(`^ush_[0-9A-Za-z]{38}$`).MatchString(plain) {
		t.Errorf("key %q does not have the shape of a key", plain)
	}
	if created.Name != "Kariakoo Motors" || !strings.HasSuffix(plain, created.Hint) || len(created.Hint) != 4 {
		t.Errorf("record %+v does not describe %q", created, plain)
	}
	verified, err := store.Verify(t.Context(), plain)
	if err != nil || verified != created {
		t.Errorf("Verify = %+v, %v; want %+v", verified, err, created)
	}
}

func TestKeysDiffer(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	first, one := create(t, store, "one")
	second, two := create(t, store, "two")
	if first == second || one.ID == two.ID {
		t.Errorf("two keys are alike: %q %q", one.ID, two.ID)
	}
}

func TestPlainKeyIsStoredNowhere(t *testing.T) {
	t.Parallel()
	store, server := newStore(t)
	plain, _ := create(t, store, "name")
	dump := server.Dump()
	if !strings.Contains(dump, "key:") {
		t.Fatalf("no record in Redis:\n%s", dump)
	}
	if secret := plain[4:36]; strings.Contains(dump, secret) {
		t.Errorf("Redis holds the secret:\n%s", dump)
	}
}

func TestInvalidKeys(t *testing.T) { //nolint:tparallel // each part counts its commands alone
	t.Parallel()
	store, server := newStore(t)
	other, _ := newStore(t)
	good, _ := create(t, store, "good")
	unknown, _ := create(t, other, "of another Redis")
	revoked, record := create(t, store, "revoked")
	if err := store.Revoke(t.Context(), record.ID); err != nil {
		t.Fatal(err)
	}
	swapped := good[:10] + string(good[11]) + string(good[10]) + good[12:]
	if swapped == good {
		swapped = good[:10] + "--" + good[12:]
	}
	for _, c := range []struct {
		name, plain string
		commands    int // that the refusal may cost
	}{
		{"empty", "", 0},
		{"prefix only", "ush_", 0},
		{"another prefix", "usx_" + good[4:], 0},
		{"too short", good[:41], 0},
		{"too long", good + "0", 0},
		{"two characters swapped", swapped, 0},
		{"checksum in another case", good[:36] + strings.ToLower(good[36:41]) + "!", 0},
		{"a character outside base62", good[:20] + "_" + good[21:], 0},
		{"unknown", unknown, 1},
		{"revoked", revoked, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := server.CommandCount()
			key, err := store.Verify(t.Context(), c.plain)
			if !errors.Is(err, keys.ErrInvalid) || key != (keys.Key{ID: key.ID}) || (key.ID != "") != (c.name == "revoked") {
				t.Errorf("Verify = %+v, %v; want ErrInvalid", key, err)
			}
			if cost := server.CommandCount() - before; cost != c.commands {
				t.Errorf("cost %d commands, want %d", cost, c.commands)
			}
		})
	}
}

func TestVerifyCostsOneCommand(t *testing.T) {
	t.Parallel()
	store, server := newStore(t)
	plain, _ := create(t, store, "name")
	before := server.CommandCount()
	if _, err := store.Verify(t.Context(), plain); err != nil {
		t.Fatal(err)
	}
	if cost := server.CommandCount() - before; cost != 1 {
		t.Errorf("cost %d commands, want 1", cost)
	}
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	plain, key := create(t, store, "leaked")
	other, _ := create(t, store, "other")
	for range 2 { // the second time changes nothing
		if err := store.Revoke(t.Context(), key.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Verify(t.Context(), plain); !errors.Is(err, keys.ErrInvalid) {
			t.Errorf("revoked key: %v, want ErrInvalid", err)
		}
	}
	if _, err := store.Verify(t.Context(), other); err != nil {
		t.Errorf("the other key: %v", err)
	}
	if err := store.Revoke(t.Context(), "unknown"); !errors.Is(err, keys.ErrNotFound) {
		t.Errorf("unknown id: %v, want ErrNotFound", err)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	store, server := newStore(t)
	if all, err := store.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("empty list = %v, %v", all, err)
	}
	_, first := create(t, store, "first")
	_, second := create(t, store, "second")
	server.HSet("keys:index", "crashed", "0000") // Create died after the index
	if err := store.Revoke(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	all, err := store.List(t.Context())
	if err != nil || len(all) != 2 {
		t.Fatalf("List = %+v, %v; want two keys", all, err)
	}
	for _, key := range all {
		if revoked := !key.Revoked.IsZero(); revoked != (key.ID == first.ID) {
			t.Errorf("%s (%s): revoked = %v", key.Name, second.ID, revoked)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	for _, name := range []string{"", "   ", "line\nbreak", strings.Repeat("n", 101)} {
		if _, _, err := store.Create(t.Context(), name); !errors.Is(err, keys.ErrName) {
			t.Errorf("Create(%q) = %v, want ErrName", name, err)
		}
	}
	create(t, store, "Magari ya Dar – Ltd.")
}

func TestRedisDownIsNotAnInvalidKey(t *testing.T) {
	t.Parallel()
	store, server := newStore(t)
	plain, key := create(t, store, "name")
	server.Close()
	if _, err := store.Verify(t.Context(), plain); err == nil || errors.Is(err, keys.ErrInvalid) {
		t.Errorf("Verify = %v, want Redis's own error", err)
	}
	if err := store.Revoke(t.Context(), key.ID); err == nil || errors.Is(err, keys.ErrNotFound) {
		t.Errorf("Revoke = %v, want Redis's own error", err)
	}
	if _, err := store.List(t.Context()); err == nil {
		t.Error("List succeeded without Redis")
	}
	if _, _, err := store.Create(t.Context(), "name"); err == nil {
		t.Error("Create succeeded without Redis")
	}
}

func TestAKeyMayHaveLimitsOfItsOwn(t *testing.T) {
	own := pace.Limits{PerMinute: 7, Jobs: 2}
	if got := own.Or(pace.Limits{PerMinute: 300, Jobs: 100, BatchItems: 30000}); got != (pace.Limits{PerMinute: 7, Jobs: 2, BatchItems: 30000}) {
		t.Errorf("%+v", got)
	}
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store := keys.NewStore(conn.Client())
		plain, key, err := store.Create(t.Context(), "dealer")
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Limit(t.Context(), key.ID, own); err != nil {
			t.Fatal(err)
		}
		if got, err := store.Verify(t.Context(), plain); err != nil || got.Limits != own {
			t.Errorf("%+v, %v", got, err)
		}
		if err := store.Limit(t.Context(), "unknown", own); !errors.Is(err, keys.ErrNotFound) {
			t.Errorf("an unknown key: %v", err)
		}
	})
}

// An operator changes the limits of keys while another revokes them: no revoked
// key comes back to life, and every change that was made is kept.
func TestRevocationWinsAgainstALimit(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		const n = 400
		store := keys.NewStore(conn.Client())
		plain, ids := make([]string, n), make([]string, n)
		for i := range n {
			text, key, err := store.Create(t.Context(), "race "+strconv.Itoa(i))
			if err != nil {
				t.Fatal(err)
			}
			plain[i], ids[i] = text, key.ID
		}
		var race sync.WaitGroup
		for _, id := range ids {
			race.Go(func() {
				if err := store.Revoke(t.Context(), id); err != nil {
					t.Error(err)
				}
			})
			race.Go(func() {
				if err := store.Limit(t.Context(), id, pace.Limits{Jobs: 7}); err != nil {
					t.Error(err)
				}
			})
		}
		race.Wait()
		alive := 0
		for _, text := range plain {
			if _, err := store.Verify(t.Context(), text); !errors.Is(err, keys.ErrInvalid) {
				alive++
			}
		}
		all, err := store.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		unlimited := 0
		for _, key := range all {
			if key.Limits.Jobs != 7 {
				unlimited++
			}
		}
		if alive > 0 || unlimited > 0 {
			t.Errorf("of %d revoked keys %d are valid; %d have lost their limit", n, alive, unlimited)
		}
	})
}
