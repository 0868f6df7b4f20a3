package frame

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestALoginEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		of := Session{Cookie: "op"}
		codec := of.codecOf([]byte("secret"))
		made, err := codec.Encode(of.Cookie, "login")
		if err != nil {
			t.Fatal(err)
		}
		var login string
		for _, c := range []struct {
			later  time.Duration // of the clock of the bubble
			counts bool
		}{{SessionTTL - time.Second, true}, {2 * time.Second, false}} {
			<-time.After(c.later)
			if err := codec.Decode(of.Cookie, made, &login); (err == nil) != c.counts {
				t.Errorf("after %v more: got %v, want the login to count: %t", c.later, err, c.counts)
			}
		}
		of.With = "another password"
		if err := of.codecOf([]byte("secret")).Decode(of.Cookie, made, &login); err == nil {
			t.Error("a login counts with another password")
		}
	})
}
