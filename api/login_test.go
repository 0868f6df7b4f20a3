package api_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"ushuru/api"
)

// TestGuessesOfTheOperatorsPasswordAreSlow: by network, logged and counted.
func TestGuessesOfTheOperatorsPasswordAreSlow(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) {
		monitored(o)
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("127.0.0.0/8")}
	})
	ask := func(address, secret string) answer {
		t.Helper()
		r := a.request(t, http.MethodGet, "/monitoring/", "")
		r.Header.Set("X-Forwarded-For", "192.0.2.77, "+address)
		r.SetBasicAuth(operator, secret)
		return a.send(t, r)
	}
	if got := ask("198.51.100.1", password); got.status != http.StatusOK {
		t.Fatalf("%d %.200s", got.status, got.body)
	}
	count := map[int]int{}
	for i := range 100 {
		count[ask("192.0.2.201", fmt.Sprint("guess", i)).status]++
	}
	if count[http.StatusUnauthorized] > 6 || count[http.StatusUnauthorized]+count[http.StatusTooManyRequests] != 100 {
		t.Errorf("100 guesses of one address: %v", count)
	}
	got := ask("192.0.2.201", password)
	if got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" || !strings.Contains(got.body, "login_slowed") {
		t.Errorf("the right password after them: %d %.200s", got.status, got.body)
	}
	if got := ask("203.0.113.2", password); got.status != http.StatusOK {
		t.Errorf("another network: %d", got.status)
	}
	clear(count)
	for i := range 100 {
		count[ask(fmt.Sprintf("198.51.100.%d", 10+i), "guess").status]++
	}
	if count[http.StatusUnauthorized] > 6 {
		t.Errorf("100 guesses of 100 addresses of a network: %v", count)
	}
	if got := ask("198.51.100.1", password); got.status != http.StatusOK {
		t.Errorf("an operator who has logged in: %d", got.status)
	}
	warnings := 0
	a.log.mu.Lock()
	defer a.log.mu.Unlock()
	for _, line := range a.log.lines {
		if line["msg"] == "operator login failed" && line["level"] == "WARN" && line["address"] != "" {
			warnings++
		}
	}
	if warnings < 10 || warnings > 12 {
		t.Errorf("%d warnings in the log", warnings)
	}
}

// TestAddressIsThatOfTheCaller: behind proxies, and not what a caller says it is.
func TestAddressIsThatOfTheCaller(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), monitored)
	for i := range 7 {
		r := a.request(t, http.MethodGet, "/monitoring/", "")
		r.Header.Set("X-Forwarded-For", fmt.Sprintf("192.0.2.%d", i))
		r.SetBasicAuth(operator, "guess")
		if got := a.send(t, r); (got.status == http.StatusTooManyRequests) != (i > 4) {
			t.Errorf("guess %d: %d", i, got.status)
		}
	}
}
