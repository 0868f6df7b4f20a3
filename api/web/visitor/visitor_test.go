package visitor

import (
	"net/netip"
	"testing"
)

func TestNetworks(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.77": "192.0.2.0", "::ffff:192.0.2.77": "192.0.2.0", "2001:db8:1:2::3": "2001-db8-1--", "": "none",
	} {
		parsed, _ := netip.ParseAddr(address)
		if got := NetworkOf(parsed); got != want {
			t.Errorf("%q: %s, want %s", address, got, want)
		}
	}
}
