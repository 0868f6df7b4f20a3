package redisx

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

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
