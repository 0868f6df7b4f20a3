package lab

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"time"

	"ushuru/pkg/lab/rig"
	"ushuru/pkg/redisx"
)

// VisitOptions of Visit.
type VisitOptions struct {
	Redis *redisx.Conn // an empty Redis
	Log   *slog.Logger
}

// Visit measures the bytes that a buyer loads who has never been here: the start page, the
// form, the answer, and what these pages name, packed by gzip, without the headers. Pages
// that say only that the answer is not ready count once.
func Visit(ctx context.Context, out io.Writer, o VisitOptions) ([]rig.Number, error) {
	service, err := rig.Start(ctx, rig.Options{Redis: o.Redis, Log: o.Log})
	if err != nil {
		return nil, err
	}
	defer service.Stop()
	v, err := newVisitor(service.URL)
	if err != nil {
		return nil, err
	}
	defer v.client.CloseIdleConnections()
	if err := v.run(ctx, rig.Listing(service.Site, "visit", 0)); err != nil {
		return nil, err
	}
	const kilobyte, most = 1 << 10, 25
	total := 0
	for _, loaded := range v.loaded {
		total += loaded.bytes
		if _, err := fmt.Fprintf(out, "%6d bytes  %s\n", loaded.bytes, loaded.path); err != nil {
			return nil, err
		}
	}
	_, err = fmt.Fprintf(out, "%6d bytes  the visit\n", total)
	return []rig.Number{{
		Name:     "a fresh visit from the start page to the answer, without headers",
		Measured: rig.Value{N: float64(total) / kilobyte, Unit: "KB"},
		Aim:      rig.Aim{AtMost: most}, Command: "ushuru bench visit",
	}}, err
}

// visitor is a browser without scripts.
type visitor struct {
	client *http.Client
	home   string
	loaded []load
	known  map[string]bool // what a browser has in its cache
}

type load struct {
	path  string
	bytes int
}

func newVisitor(home string) (*visitor, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	return &visitor{
		client: &http.Client{Jar: jar, Timeout: time.Minute, Transport: &http.Transport{DisableCompression: true}},
		home:   home, known: map[string]bool{},
	}, nil
}

// run asks for the cost of a listing and waits for the answer.
func (v *visitor) run(ctx context.Context, listing string) error {
	if _, _, err := v.page(ctx, http.MethodGet, v.home+"/", nil); err != nil {
		return err
	}
	const typing = 2100 * time.Millisecond // a form that is sent at once needs a puzzle
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(typing):
	}
	page, address, err := v.page(ctx, http.MethodPost, v.home+"/go", url.Values{"u": {listing}})
	const interval, longest = 200 * time.Millisecond, time.Minute
	for deadline := time.Now().Add(longest); err == nil && !strings.Contains(page, `id="number"`); {
		if time.Now().After(deadline) {
			return errors.New("lab: the page has no number: " + page[:min(len(page), 1<<10)])
		}
		time.Sleep(interval)
		before := len(v.loaded)
		if page, address, err = v.page(ctx, http.MethodGet, address, nil); !strings.Contains(page, `id="number"`) {
			v.loaded = v.loaded[:before] // a stream tells a browser of the end, and it does not ask again
		}
	}
	return err
}

// named are the addresses that a page makes a browser load.
var named = regexp.MustCompile(`(?:src|href)="(/static/[^"]+)"`)

// page loads a page and what it names.
func (v *visitor) page(ctx context.Context, method, address string, form url.Values) (page, at string, err error) {
	body, at, err := v.load(ctx, method, address, form)
	if err != nil {
		return "", "", err
	}
	for _, match := range named.FindAllStringSubmatch(body, -1) {
		if path := match[1]; !v.known[path] {
			v.known[path] = true
			if _, _, err := v.load(ctx, http.MethodGet, v.home+path, nil); err != nil {
				return "", "", err
			}
		}
	}
	return body, at, nil
}

func (v *visitor) load(ctx context.Context, method, address string, form url.Values) (body, at string, err error) {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return "", "", err
	}
	request.Header.Set("Accept-Encoding", "gzip")
	request.Header.Set("Accept", "text/html")
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := v.client.Do(request)
	if err != nil {
		return "", "", err
	}
	defer func() { _ = response.Body.Close() }()
	packed, err := io.ReadAll(response.Body)
	if err != nil {
		return "", "", err
	}
	if response.StatusCode != http.StatusOK {
		return "", "", fmt.Errorf("lab: %s: %s", address, response.Status)
	}
	v.loaded = append(v.loaded, load{response.Request.URL.Path, len(packed)})
	if response.Header.Get("Content-Encoding") != "gzip" {
		return string(packed), response.Request.URL.String(), nil
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", "", err
	}
	plain, err := io.ReadAll(reader)
	return string(plain), response.Request.URL.String(), err
}
