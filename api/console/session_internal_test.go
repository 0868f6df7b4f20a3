package console

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestALoginEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		signer := signerWith([]byte("secret"))
		made, err := signer.Encode(CookieName, "login")
		if err != nil {
			t.Fatal(err)
		}
		var login string
		for _, c := range []struct {
			later  time.Duration // of the clock of the bubble
			counts bool
		}{{cookieAge - time.Second, true}, {2 * time.Second, false}} {
			<-time.After(c.later)
			if err := signer.Decode(CookieName, made, &login); (err == nil) != c.counts {
				t.Errorf("after %v more: got %v, want the login to count: %t", c.later, err, c.counts)
			}
		}
	})
}
