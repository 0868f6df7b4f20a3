package fetch

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"code.dny.dev/ssrf"
	"golang.org/x/net/idna"
)

// maxURL is the longest URL in bytes that is looked at.
const maxURL = 2048

// hosts maps a host name to the form that is looked up: lower case, punycode,
// full-width digits and dots made plain.
var hosts = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))

// privateSuffixes are the names that mean a machine on somebody's own network:
// RFC 6761, 6762, 8375, 7686, ICANN's reserved .internal, and usual habits.
var privateSuffixes = []string{
	"localhost", "local", "localdomain", "internal", "intranet", "private",
	"corp", "home", "lan", "home.arpa", "onion", "arpa",
}

// CheckURL checks the text of a URL without looking anything up, and returns
// it normalised: host in lower case and punycode, default port, fragment and
// trailing dot dropped, an address in any spelling (decimal, octal, hex)
// written plainly. Errors are *Error with url_invalid or url_forbidden.
// allowLoopback lets 127.0.0.0/8, ::1 and localhost through on any port; it is
// for tests and the demo.
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
	if u.Path == "" {
		u.Path = "/"
	}
	if len(u.String()) > maxURL {
		return nil, invalid("The URL is longer than 2048 characters.", nil)
	}
	return u, nil
}

// parseURL returns a complete http or https URL without user name.
func parseURL(rawURL string) (*url.URL, error) {
	switch {
	case rawURL == "":
		return nil, invalid("A URL is needed.", nil)
	case len(rawURL) > maxURL:
		return nil, invalid("The URL is longer than 2048 characters.", nil)
	case strings.ContainsFunc(rawURL, unicode.IsControl), strings.Contains(rawURL, `\`):
		return nil, invalid("The URL holds characters that no URL may hold.", nil)
	}
	u, err := url.Parse(rawURL)
	switch {
	case err == nil && u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https":
		return nil, forbidden("Only http and https URLs are read.")
	case err != nil || u.Scheme == "" || u.Opaque != "" || u.Hostname() == "":
		return nil, invalid("That is not a complete URL, such as https://www.example.com/car/1.", err)
	case u.User != nil:
		return nil, forbidden("A URL with a user name is not read.")
	}
	return u, nil
}

// checkHost returns the normalised host and whether it is an allowed loopback.
func checkHost(name string, allowLoopback bool) (host string, loopback bool, err error) {
	address, err := netip.ParseAddr(name)
	if err != nil {
		if host, err = asciiName(name); err != nil {
			return "", false, invalid("The URL's host name is not valid.", err)
		}
		if !endsInNumber(host) {
			return checkName(host, allowLoopback)
		}
		if address, err = parseIPv4(host); err != nil {
			return "", false, invalid("The URL's host name is not valid.", err)
		}
	}
	if allowLoopback && address.IsLoopback() {
		return address.String(), true, nil
	}
	if address.Zone() != "" || guardian.SafeAddr(address) != nil {
		return "", false, forbidden("The URL leads to an address that is not public.")
	}
	return address.String(), false, nil
}

func checkName(host string, allowLoopback bool) (string, bool, error) {
	if host == "localhost" && allowLoopback {
		return host, true, nil
	}
	if !strings.Contains(host, ".") {
		return "", false, forbidden("The URL leads to a name that is not public.")
	}
	for _, suffix := range privateSuffixes {
		if host == suffix || strings.HasSuffix(host, "."+suffix) {
			return "", false, forbidden("The URL leads to a name that is not public.")
		}
	}
	return host, false, nil
}

// maxName is the longest host name in bytes (RFC 1035, 2.3.4).
const maxName = 253

var errName = errors.New("fetch: not a host name")

// asciiName returns the name in punycode. A name that changes when it is
// converted once more holds what no name may hold.
func asciiName(name string) (string, error) {
	if len(name) > 2*maxName { // converting takes time with the square of the length
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
	if strings.ContainsAny(host, " %:/?#@[]<>^|\"'`{}") {
		return "", errName
	}
	return host, nil
}

// checkPort returns the port to write after the host, "" for the scheme's own.
func checkPort(u *url.URL, loopback bool) (string, error) {
	text := u.Port()
	if text == "" {
		return "", nil
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return "", invalid("The URL's port is not valid.", err)
	}
	if port != 80 && port != 443 && !loopback {
		return "", forbidden("Only the ports 80 and 443 are read.")
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

// guardian knows the address ranges that are not public.
var guardian = ssrf.New()
