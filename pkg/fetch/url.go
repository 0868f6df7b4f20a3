package fetch

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"

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
