package fetch

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"code.dny.dev/ssrf"
)

// hostServices are services of clouds for their own machines that sit on public
// addresses, so that the registries of special addresses do not have them.
// docs/sources.md says where each is from.
var hostServices = []netip.Prefix{
	netip.MustParsePrefix("168.63.129.16/32"),      // Azure: DNS, DHCP, the agent of the machine
	netip.MustParsePrefix("199.36.153.4/30"),       // Google: restricted.googleapis.com
	netip.MustParsePrefix("199.36.153.8/30"),       // Google: private.googleapis.com
	netip.MustParsePrefix("2600:2d00:2:1000::/56"), // Google, the same over IPv6
	netip.MustParsePrefix("2600:2d00:2:2000::/56"),
	netip.MustParsePrefix("161.26.0.0/16"), // IBM Cloud: DNS, time, mirrors, object storage
	netip.MustParsePrefix("166.8.0.0/14"),  // IBM Cloud: private endpoints of services
}

// newGuard returns what rejects addresses that are not public, host services of
// clouds, and those of deny.
func newGuard(deny []netip.Prefix) *ssrf.Guardian {
	var four, six []netip.Prefix
	for _, prefix := range slices.Concat(hostServices, deny) {
		if prefix.Addr().Is4() {
			four = append(four, prefix)
		} else {
			six = append(six, prefix)
		}
	}
	return ssrf.New(ssrf.WithDeniedV4Prefixes(four...), ssrf.WithDeniedV6Prefixes(six...))
}

// dialGuard rejects address ranges that are not public.
var dialGuard = newGuard(nil)

// ParsePrefixes parses addresses and prefixes, as 203.0.113.7 or 2001:db8::/32.
func ParsePrefixes(texts []string) ([]netip.Prefix, error) {
	prefixes := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		text = strings.TrimSpace(text)
		prefix, err := netip.ParsePrefix(text)
		if address, single := netip.ParseAddr(text); single == nil {
			prefix, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("%q is neither an address nor a prefix; examples: 203.0.113.7, 2001:db8::/32", text)
		case prefix.Addr().Is4In6():
			return nil, fmt.Errorf("%q is an IPv4 address in IPv6; write it as IPv4", text)
		case prefix.Bits() == 0:
			return nil, fmt.Errorf("%q denies every address", text)
		}
		prefixes = append(prefixes, prefix.Masked())
	}
	return prefixes, nil
}

// contains reports whether an address is in one of the prefixes.
func contains(prefixes []netip.Prefix, address netip.Addr) bool {
	address = address.Unmap()
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(address) })
}
