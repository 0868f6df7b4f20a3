package scan

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"ushuru/pkg/fetch"
	"ushuru/pkg/message"
)

// accept lists the supported types, so that a site with several formats of an image
// does not send AVIF.
const accept = "image/jpeg,image/png,image/webp,image/gif,application/pdf;q=0.9,*/*;q=0.5"

// Fetch returns the file at a URL. The URL and the targets of its redirects must be
// on the list of hosts. bulk means that no person waits for it. Errors are
// *fetch.Error, with a code of this package or of fetch.
func (l *Loader) Fetch(ctx context.Context, rawURL string, bulk bool) ([]byte, error) {
	canonical, err := l.options.Hosts.Canonical(rawURL, l.options.AllowLoopback)
	if err != nil {
		return nil, err
	}
	page, err := l.options.Client.Fetch(ctx, fetch.Request{
		URL: canonical, Bulk: bulk, MaxBody: MaxBytes, Accept: accept,
		Allow: func(u *url.URL) error {
			_, err := l.options.Hosts.allow(u, l.options.AllowLoopback)
			return err
		},
	})
	if failure, ok := errors.AsType[*fetch.Error](err); ok && failure.Code == fetch.FetchTooLarge {
		return nil, tooLarge(failure)
	}
	if err != nil {
		return nil, err
	}
	if err := outcome(page); err != nil {
		return nil, err
	}
	return page.Body, nil
}

// outcome returns the error of a response; nil when it has the file.
func outcome(page *fetch.Page) error {
	switch page.Status {
	case http.StatusOK:
		return nil
	case http.StatusNotFound, http.StatusGone:
		return refused(NotFound, nil, page.StatusError())
	case http.StatusAccepted, http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed,
		http.StatusTooManyRequests, http.StatusServiceUnavailable:
		failure := &fetch.Error{Notice: message.New("error/"+Blocked, nil), Cause: page.StatusError()}
		if page.Status == http.StatusTooManyRequests || page.Status == http.StatusServiceUnavailable {
			failure.Retryable, failure.Wait, failure.Paused = true, page.Pause(), page.AsksForPause()
		}
		return failure
	}
	return page.StatusError()
}

// auctionHost is a host from which sheets are fetched, with its subdomains.
type auctionHost struct {
	Host  string   `json:"host"`
	From  string   `json:"from"`            // why it is on the list
	Sizes []string `json:"sizes,omitempty"` // parameters that request a smaller image
}

// hostTable has the hosts of auction sites and of their images, from public
// programs that read those sites. It was not checked against the live sites.
//
//go:embed hosts.json
var hostTable []byte

var auctionHosts = func() (hosts []auctionHost) {
	if err := json.Unmarshal(hostTable, &hosts); err != nil {
		panic("sheet: hosts.json: " + err.Error())
	}
	return hosts
}()

// Hosts are the hosts from which sheets are fetched.
type Hosts struct{ list []auctionHost }

// NewHosts returns the known hosts and those that the operator adds, each a public
// host name without a port, such as sheets.example.com. Subdomains are included.
func NewHosts(added ...string) (*Hosts, error) {
	hosts := &Hosts{slices.Clone(auctionHosts)}
	for _, name := range added {
		u, err := fetch.CheckURL("https://"+strings.TrimSpace(name)+"/", false)
		if err != nil || u.Path != "/" || u.RawQuery != "" || u.Port() != "" {
			return nil, fmt.Errorf("sheet: %q is not a public host name", name)
		}
		hosts.list = append(hosts.list, auctionHost{Host: u.Host})
	}
	return hosts, nil
}

// Canonical returns the canonical form of a sheet's URL, which is the cache key:
// checked by fetch.CheckURL, on a known host, without fragment and without the
// parameters that request a smaller image. Errors are *fetch.Error with the code
// url_invalid, url_forbidden or sheet_host_unsupported. allowLoopback accepts this
// machine, for tests and the demo.
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

// allow returns the host of a checked URL, or an error when it is not known.
func (h *Hosts) allow(u *url.URL, allowLoopback bool) (auctionHost, error) {
	if host, known := h.find(u.Hostname()); known {
		return host, nil
	}
	_, private := fetch.CheckURL(u.String(), false)
	if allowLoopback && private != nil { // the URL was checked, so it is this machine
		return auctionHost{}, nil //nolint:nilerr // that is what is allowed
	}
	return auctionHost{}, refused(HostUnsupported, nil, nil)
}

// Knows reports whether sheets are fetched from a host.
func (h *Hosts) Knows(name string) bool {
	_, known := h.find(name)
	return known
}

func (h *Hosts) find(name string) (auctionHost, bool) {
	for _, host := range h.list {
		if name == host.Host || strings.HasSuffix(name, "."+host.Host) {
			return host, true
		}
	}
	return auctionHost{}, false
}

// fullSize removes parameters from the query of an image's URL. On some hosts they
// follow an ampersand in the path, without a question mark.
func fullSize(s string, path bool, sizes []string) string {
	var remaining []string
	for i, part := range strings.Split(s, "&") {
		name, _, _ := strings.Cut(part, "=")
		if path && i == 0 || !slices.Contains(sizes, name) {
			remaining = append(remaining, part)
		}
	}
	return strings.Join(remaining, "&")
}
