package redisx

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	type want struct {
		kind                   kind
		addrs                  string
		user, password         string
		sentinelUser, sentinel string
		master                 string
		db                     int
		tls                    bool
	}
	for url, want := range map[string]want{
		"redis://h":                      {addrs: "h:6379"},
		"redis://h:1/3":                  {addrs: "h:1", db: 3},
		"redis://:p%40%2Fw@h:1":          {addrs: "h:1", password: "p@/w"},
		"redis://u:p:q@h":                {addrs: "h:6379", user: "u", password: "p:q"},
		"redis://[::1]":                  {addrs: "[::1]:6379"},
		"redis://[::1]:7/0":              {addrs: "[::1]:7"},
		"rediss://u:p@h:1/2":             {addrs: "h:1", user: "u", password: "p", db: 2, tls: true},
		"redis-socket:///run/r.sock":     {addrs: "/run/r.sock"},
		"redis-socket://:p@/r.sock?db=4": {addrs: "/r.sock", password: "p", db: 4},
		"redis-sentinel://a,b:2?master=m": {
			kind: sentinel, addrs: "a:26379,b:2", master: "m",
		},
		"redis-sentinel://:s@a:1/5?master=m&username=u&password=p": {
			kind: sentinel, addrs: "a:1", sentinel: "s", user: "u", password: "p", master: "m", db: 5,
		},
		"rediss-sentinel://v:s@a?master=m": {
			kind: sentinel, addrs: "a:26379", sentinelUser: "v", sentinel: "s", master: "m", tls: true,
		},
		"redis-cluster://a:1,b:2,c":   {kind: cluster, addrs: "a:1,b:2,c:6379"},
		"rediss-cluster://u:p@a:1/0":  {kind: cluster, addrs: "a:1", user: "u", password: "p", tls: true},
		"redis-cluster://:p@[::1]:1/": {kind: cluster, addrs: "[::1]:1", password: "p"},
	} {
		target, err := parseURL(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		o := target.options
		got := want
		got.kind, got.addrs, got.db, got.tls = target.kind, strings.Join(o.Addrs, ","), o.DB, o.TLSConfig != nil
		got.user, got.password, got.master = o.Username, o.Password, o.MasterName
		got.sentinelUser, got.sentinel = o.SentinelUsername, o.SentinelPassword
		if got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", url, got, want)
		}
	}
}

func TestParseURLRefuses(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"h:6379":                     "scheme",
		"http://h":                   "scheme",
		"redis://":                   "host",
		"redis://h:x":                "host number 1",
		"redis://h:99999":            "host number 1",
		"redis://a:1,b:2":            "more than one host",
		"redis://h/x":                "database",
		"redis://h/-1":               "database",
		"redis://secret@h":           "user:password",
		"redis://:%zz@h":             "percent-encoded",
		"redis-socket://run/r.sock":  "three slashes",
		"redis-socket://":            "three slashes",
		"redis-sentinel://a:1":       "master",
		"redis-sentinel://a,?master": "host",
		"redis-cluster://a:1,b:x":    "host number 2",
		"redis-cluster://a/1":        "database 0",
		"redis://:pass/word@h":       "host number 1",
	} {
		if _, err := parseURL(url); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", url, err, want)
		}
	}
}

// What asynq takes means the same here, but for lists of hosts with ports,
// which asynq's parser cannot read since Go 1.26.
func TestParseURLAgreesWithAsynq(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"redis://h:1", "redis://:p@h:1/3", "rediss://h:1", "redis-socket:///r.sock?db=2",
	} {
		opt, err := asynq.ParseRedisURI(url)
		if err != nil {
			t.Fatal(err)
		}
		theirs, ok := opt.(asynq.RedisClientOpt)
		if !ok {
			t.Fatalf("%s: %T", url, opt)
		}
		target, err := parseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		ours := target.options
		if !slices.Equal(ours.Addrs, []string{theirs.Addr}) || ours.DB != theirs.DB ||
			ours.Password != theirs.Password || (ours.TLSConfig == nil) != (theirs.TLSConfig == nil) {
			t.Errorf("%s: ours %+v, asynq's %+v", url, ours, theirs)
		}
	}
}

func TestRedact(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"redis://h:1/2":                          "redis://h:1/2",
		"redis://:secret@h:1/2":                  "redis://:***@h:1/2",
		"redis://user:secret@h":                  "redis://user:***@h",
		"redis://secret@h":                       "redis://:***@h",
		"redis://:se/cr@et@h":                    "redis://:***@h",
		"redis://:sec?ret@h":                     "redis://:***@h",
		"user:secret@h:1":                        "user:***@h:1",
		"h:1":                                    "h:1",
		"":                                       "",
		"redis-sentinel://a,b?master=m":          "redis-sentinel://a,b?master=m",
		"redis-sentinel://a?password=s&master=m": "redis-sentinel://a?password=***&master=m",
		"redis://h?secret":                       "redis://h?***",
		"redis://h?password=s:e@cret":            "redis://:***@cret",
	} {
		if got := Redact(url); got != want {
			t.Errorf("Redact(%q) = %q, want %q", url, got, want)
		}
	}
}

func FuzzPasswordNeverShows(f *testing.F) {
	for _, scheme := range []string{"redis", "redis-sentinel", "redis-cluster", "nonsense", ""} {
		f.Add(scheme, "user", "host:6379/0?master=m")
		f.Add(scheme, "", "host")
		f.Add(scheme, "a/b", "")
	}
	f.Fuzz(func(t *testing.T, scheme, user, rest string) {
		const secret = "s3cr3t/w?rd#"
		if strings.Contains(scheme+user+rest, "s3cr3t") {
			return
		}
		for _, url := range []string{
			scheme + "://" + user + ":" + secret + "@" + rest,
			scheme + "://" + rest + "?password=" + secret,
		} {
			shown := Redact(url)
			if target, err := parseURL(url); err != nil {
				shown += err.Error() + target.name
			}
			if strings.Contains(shown, "s3cr3t") {
				t.Errorf("%q shows as %q", url, shown)
			}
		}
	})
}

func TestRedisOnAnotherHostNeedsAPasswordOrTLS(t *testing.T) {
	t.Parallel()
	for url, exposed := range map[string]bool{
		"redis://redis:6379":                                  true,
		"redis://10.0.0.5":                                    true,
		"redis://user:@redis:6379/0":                          true,
		"redis://[2001:db8::1]:6379":                          true,
		"redis://localhost.example.org":                       true,
		"redis-sentinel://s1,s2?master=m":                     true,
		"redis-sentinel://:secret@s1,s2?master=m":             true, // the Sentinels have one, the servers none
		"redis-cluster://127.0.0.1:7000,10.0.0.5:7000":        true,
		"redis://localhost":                                   false,
		"redis://127.9.9.9:6380/1":                            false,
		"redis://[::1]:6379":                                  false,
		"redis://[::ffff:127.0.0.1]:6379":                     false,
		"redis-socket:///run/redis.sock":                      false,
		"redis://:secret@redis":                               false,
		"redis://user:secret@redis:6379/0":                    false,
		"rediss://redis":                                      false,
		"rediss-sentinel://s1?master=m":                       false,
		"redis-sentinel://s1,s2?master=m&password=secret":     false,
		"redis-sentinel://127.0.0.1,localhost:26380?master=m": false,
		"rediss-cluster://a,b":                                false,
		"redis-cluster://:secret@a,b":                         false,
		"redis-cluster://127.0.0.1:7000,[::1]:7001":           false,
	} {
		conn, err := dial(Options{URL: url})
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if conn.Exposed() != exposed {
			t.Errorf("%s: exposed %t", url, conn.Exposed())
		}
		_ = conn.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond) // nothing is asked of a network
		_, err = Open(ctx, Options{URL: url, RefuseExposed: true})
		cancel()
		if errors.Is(err, ErrExposed) != exposed || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
