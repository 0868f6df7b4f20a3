package scan

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"ushuru/pkg/fetch"
)

// auctionHost is a host that sheets are fetched from; its subdomains belong to
// it.
type auctionHost struct {
	Host  string   `json:"host"`
	From  string   `json:"from"`            // why it is on the list
	Sizes []string `json:"sizes,omitempty"` // parameters that ask for a smaller picture
}

// The hosts of auction sites and of their pictures, as public readers of those
// sites describe them; nothing was checked against a live site.
//
//go:embed hosts.json
var hostTable []byte

var auctionHosts = func() (hosts []auctionHost) {
	if err := json.Unmarshal(hostTable, &hosts); err != nil {
		panic("sheet: hosts.json: " + err.Error())
	}
	return hosts
}()

// Hosts are the auction-site hosts that sheets are fetched from.
type Hosts struct{ list []auctionHost }

// NewHosts returns the known hosts and those that the operator adds, each a
// bare name such as sheets.example.com, or an error for what is no public
// name. Subdomains belong to a name, ports do not.
func NewHosts(added ...string) (*Hosts, error) {
	hosts := &Hosts{slices.Clone(auctionHosts)}
	for _, name := range added {
		u, err := fetch.CheckURL("https://"+strings.TrimSpace(name)+"/", false)
		if err != nil || u.Path != "/" || u.RawQuery != "" || u.Port() != "" {
			return nil, fmt.Errorf("sheet: %q is no public host name", name)
		}
		hosts.list = append(hosts.list, auctionHost{Host: u.Host})
	}
	return hosts, nil
}

// Canonical returns the one spelling of a sheet's URL, for validation and as a
// cache key: checked as fetch.CheckURL does, on a known host, without fragment
// and without the parameters that ask for a smaller picture. Errors are *fetch.Error:
// url_invalid, url_forbidden or sheet_host_unsupported. allowLoopback lets this
// machine through; it is for tests and the demo.
func (h *Hosts) Canonical(rawURL string, allowLoopback bool) (string, error) {
	u, err := fetch.CheckURL(rawURL, allowLoopback)
	if err != nil {
		return "", err
	}
	host, err := h.allow(u, allowLoopback)
	if err != nil {
		return "", err
	}
	if len(host.Sizes) > 0 {
		u.Path, u.RawPath = fullSize(u.Path, true, host.Sizes), fullSize(u.RawPath, true, host.Sizes)
		u.RawQuery = fullSize(u.RawQuery, false, host.Sizes)
	}
	u.ForceQuery = false
	return u.String(), nil
}

// allow returns the host that a checked URL leads to.
func (h *Hosts) allow(u *url.URL, allowLoopback bool) (auctionHost, error) {
	name := u.Hostname()
	for _, host := range h.list {
		if name == host.Host || strings.HasSuffix(name, "."+host.Host) {
			return host, nil
		}
	}
	_, private := fetch.CheckURL(u.String(), false)
	if allowLoopback && private != nil { // the URL was checked, so it is this machine
		return auctionHost{}, nil //nolint:nilerr // that is what is allowed
	}
	return auctionHost{}, refused(HostUnsupported, "Inspection sheets can be fetched from known auction sites only. "+
		"Save the sheet and upload it.", nil)
}

// fullSize takes parameters off the query of a picture's address; on some hosts
// they follow an ampersand in the path, without any question mark.
func fullSize(s string, path bool, sizes []string) string {
	var kept []string
	for i, part := range strings.Split(s, "&") {
		name, _, _ := strings.Cut(part, "=")
		if path && i == 0 || !slices.Contains(sizes, name) {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "&")
}
