package fetch

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"code.dny.dev/ssrf"
	"golang.org/x/net/idna"
)

// maxURL is the maximum length of a URL in bytes.
const maxURL = 2048

// hosts maps a host name to the form that DNS uses: lower case, punycode, ASCII
// digits and dots.
var hosts = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))

// privateSuffixes are the names of machines in private networks: RFC 6761, 6762,
// 8375, 7686, ICANN's reserved .internal, and common practice.
var privateSuffixes = []string{
	"localhost", "local", "localdomain", "internal", "intranet", "private",
	"corp", "home", "lan", "home.arpa", "onion", "arpa",
}

// CheckURL checks the text of a URL without a DNS lookup, and returns its normal
// form: host in lower case and punycode, without default port, fragment and
// trailing dot, an IPv4 address of any spelling (decimal, octal, hex) in dotted
// decimal. Errors are *Error with url_invalid or url_forbidden. allowLoopback
// permits 127.0.0.0/8, ::1 and localhost on any port; it is for tests and the
// demo.
func CheckURL(rawURL string, allowLoopback bool) (*url.URL, error) {
	u, err := parseURL(strings.TrimSpace(rawURL))
	if err != nil {
		return nil, err
	}
	host, loopback, err := checkHost(u.Hostname(), allowLoopback)
	if err != nil {
		return nil, err
	}
	port, err := checkPort(u, loopback)
	if err != nil {
		return nil, err
	}
	u.Host = joinHost(host, port)
	u.Fragment, u.RawFragment = "", ""
	u.RawQuery = strings.TrimSpace(u.RawQuery) // spaces before a fragment end the URL now
	if u.Path == "" {
		u.Path = "/"
	}
	if len(u.String()) > maxURL {
		return nil, Fail("error/url_invalid.long", nil)
	}
	return u, nil
}

// parseURL returns a complete http or https URL without user name.
func parseURL(rawURL string) (*url.URL, error) {
	switch {
	case rawURL == "":
		return nil, Fail("error/url_invalid.required", nil)
	case len(rawURL) > maxURL:
		return nil, Fail("error/url_invalid.long", nil)
	case strings.ContainsFunc(rawURL, unicode.IsControl), strings.Contains(rawURL, `\`):
		return nil, Fail("error/url_invalid.characters", nil)
	}
	u, err := url.Parse(rawURL)
	switch {
	case err == nil && u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https":
		return nil, Fail("error/url_forbidden.scheme", nil)
	case err != nil || u.Scheme == "" || u.Opaque != "" || u.Hostname() == "":
		return nil, Fail("error/url_invalid.incomplete", err)
	case u.User != nil:
		return nil, Fail("error/url_forbidden.user", nil)
	}
	return u, nil
}

// checkHost returns the normalize host and whether it is an allowed loopback.
func checkHost(name string, allowLoopback bool) (host string, loopback bool, err error) {
	address, err := netip.ParseAddr(name)
	if err != nil {
		if host, err = asciiName(name); err != nil {
			return "", false, Fail("error/url_invalid.host", err)
		}
		if !endsInNumber(host) {
			return checkName(host, allowLoopback)
		}
		if address, err = parseIPv4(host); err != nil {
			return "", false, Fail("error/url_invalid.host", err)
		}
	}
	if allowLoopback && address.IsLoopback() {
		return address.String(), true, nil
	}
	if address.Zone() != "" || dialGuard.SafeAddr(address) != nil {
		return "", false, Fail("error/url_forbidden.not_public", nil)
	}
	return address.String(), false, nil
}

func checkName(host string, allowLoopback bool) (string, bool, error) {
	if host == "localhost" && allowLoopback {
		return host, true, nil
	}
	if !strings.Contains(host, ".") {
		return "", false, Fail("error/url_forbidden.not_public", nil)
	}
	for _, suffix := range privateSuffixes {
		if host == suffix || strings.HasSuffix(host, "."+suffix) {
			return "", false, Fail("error/url_forbidden.not_public", nil)
		}
	}
	return host, false, nil
}

// maxName is the maximum length of a host name in bytes (RFC 1035, 2.3.4).
const maxName = 253

var errName = errors.New("fetch: not a host name")

// asciiName returns the name in punycode. A name that changes when it is converted
// a second time contains invalid characters.
func asciiName(name string) (string, error) {
	if len(name) > 2*maxName { // the time of the conversion is quadratic
		return "", errName
	}
	host, err := hosts.ToASCII(name)
	if err != nil {
		return "", err
	}
	host = strings.TrimSuffix(host, ".")
	if again, err := hosts.ToASCII(host); err != nil || again != host || len(host) > maxName {
		return "", errName
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 {
			return "", errName
		}
	}
	if strings.ContainsFunc(host, isNotOfName) {
		return "", errName
	}
	return host, nil
}

// isNotOfName reports whether a character cannot be in the name of a site, in
// lower case and punycode.
func isNotOfName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
}

// checkPort returns the port to write after the host, "" for the scheme's own.
func checkPort(u *url.URL, loopback bool) (string, error) {
	text := u.Port()
	if text == "" {
		return "", nil
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return "", Fail("error/url_invalid.port", err)
	}
	if port != 80 && port != 443 && !loopback {
		return "", Fail("error/url_forbidden.port", nil)
	}
	if u.Scheme == "http" && port == 80 || u.Scheme == "https" && port == 443 {
		return "", nil
	}
	return strconv.FormatUint(port, 10), nil
}

func joinHost(host, port string) string {
	if port != "" {
		return net.JoinHostPort(host, port)
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

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

// endsInNumber reports whether a host is an IPv4 address in one of the
// spellings that browsers and resolvers take: its last part is a number.
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// parseIPv4 reads the loose spellings of the WHATWG URL standard: one to four
// parts in decimal, octal (0177) or hex (0x7f), the last filling what is left.
func parseIPv4(host string) (netip.Addr, error) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, errors.New("more than four parts")
	}
	var value uint64
	for i, text := range parts {
		part, err := parsePart(text)
		if err != nil {
			return netip.Addr{}, err
		}
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		if part >= 1<<bits {
			return netip.Addr{}, errors.New("part too large")
		}
		value = value<<bits | part
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), nil
}

func parsePart(text string) (uint64, error) {
	base := 10
	switch {
	case strings.HasPrefix(text, "0x"):
		text, base = text[2:], 16
		if text == "" {
			return 0, nil
		}
	case len(text) > 1 && text[0] == '0':
		base = 8
	}
	return strconv.ParseUint(text, base, 32)
}
