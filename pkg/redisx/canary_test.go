package redisx_test

import (
	"testing"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
)

func TestTheCanaryNamesALossOnce(t *testing.T) {
	t.Parallel()
	conns := map[string]*redisx.Conn{"one server": redistest.Open(t, redistest.Start(t).URL)}
	if testenv.IsLong() {
		conns["a Cluster"] = redistest.Open(t, redistest.Cluster(t).URL)
	}
	for name, conn := range conns {
		client := conn.Client()
		ours, theirs := redisx.NewCanary(client), redisx.NewCanary(client)
		check := func(canary *redisx.Canary, want bool, when string) {
			t.Helper()
			loss, err := canary.Check(t.Context())
			if err != nil || (loss != nil) != want {
				t.Errorf("%s: %s the loss is %v, %v", name, when, loss, err)
			}
		}
		for range 3 {
			check(ours, false, "with all there")
			check(theirs, false, "with all there")
		}
		if err := client.Decr(t.Context(), "canary:{0}:written").Err(); err != nil {
			t.Fatal(err)
		}
		check(redisx.NewCanary(client), true, "one write behind")
		check(ours, false, "once it was found")
		check(theirs, false, "once it was found")
		if loss, err := redisx.ReadLoss(t.Context(), client); err != nil || loss == nil || loss.Expected != 6 || loss.Found != 5 {
			t.Errorf("%s: the stored loss is %+v, %v", name, loss, err)
		}
		for _, key := range []string{"written", "at", "confirmed"} { // as an empty server
			if err := client.Del(t.Context(), "canary:{0}:"+key).Err(); err != nil {
				t.Fatal(err)
			}
		}
		check(theirs, true, "without the keys")
		if err := client.Set(t.Context(), "canary:loss", "{", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if _, err := redisx.ReadLoss(t.Context(), client); err == nil {
			t.Errorf("%s: a record that is none is read", name)
		}
	}
}
