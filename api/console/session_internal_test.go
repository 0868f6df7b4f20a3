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
		time.Sleep(cookieAge - time.Second)
		if err := signer.Decode(CookieName, made, &login); err != nil {
			t.Errorf("a second before its end: %v", err)
		}
		time.Sleep(2 * time.Second)
		if err := signer.Decode(CookieName, made, &login); err == nil {
			t.Error("a second after its end the login still counts")
		}
	})
}
