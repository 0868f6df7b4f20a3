package fetch

import (
	"errors"
	"strings"
	"testing"
)

func TestCheckURLNormalises(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://www.Example.com":                 "https://www.example.com/",
		" https://www.example.com/a?b=c#d ":       "https://www.example.com/a?b=c",
		"HTTP://www.example.com:80/":              "http://www.example.com/",
		"https://www.example.com:443/x":           "https://www.example.com/x",
		"https://www.example.com:80/x":            "https://www.example.com:80/x",
		"https://www.example.com./x":              "https://www.example.com/x",
		"https://bücher.example.com/":             "https://xn--bcher-kva.example.com/",
		"http://134744072/":                       "http://8.8.8.8/",
		"http://0x8.010.8.8/":                     "http://8.8.8.8/",
		"https://[2606:4700:4700::1111]/":         "https://[2606:4700:4700::1111]/",
		"https://www.example.com/succeed van/1/":  "https://www.example.com/succeed%20van/1/",
		"https://www.example.com/succeed%20van/1": "https://www.example.com/succeed%20van/1",
	} {
		u, err := CheckURL(raw, false)
		if err != nil || u.String() != want {
			t.Errorf("CheckURL(%q) = %v, %v; want %s", raw, u, err, want)
		}
	}
}

func TestCheckURLRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string][]string{
		urlInvalid: {
			"", "nonsense", "/only/a/path", "https://", "https:///x", "http:opaque", "https://a b.com/", "https://exa\nmple.com/",
			`https://example.com\@127.0.0.1/`, "https://www..com/", "https://www.example.com:0/", "https://www.example.com:99999/",
			"http://1.2.3.4.5/", "http://256.256.256.256/", "http://0x1ffffffff/", "http://09.1.1.1/",
			"https://www.example.com/" + strings.Repeat("a", 2100), "https://" + strings.Repeat("a", 64) + ".com/",
		},
		URLForbidden: {
			"ftp://www.example.com/", "file:///etc/passwd", "javascript:alert(1)", "gopher://x.com/", "data:text/html,x",
			"https://user@www.example.com/", "https://user:pw@www.example.com/", "https://www.example.com:8080/", "http://www.example.com:22/",
			"http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f000001/", "http://0177.0.0.1/", "http://0x7f.1/",
			"http://0/", "http://0.0.0.0/", "http://10.1.2.3/", "http://172.16.0.1/", "http://192.168.1.1/", "http://169.254.169.254/latest/",
			"http://100.64.0.1/", "http://192.0.2.1/", "http://224.0.0.1/", "http://255.255.255.255/",
			"http://[::1]/", "http://[::]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:8.8.8.8]/", "http://[fe80::1]/", "http://[fe80::1%25eth0]/",
			"http://[fc00::1]/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/",
			"http://localhost/", "http://LOCALHOST./", "http://a.localhost/", "http://redis/", "http://printer.local/", "http://api.internal/",
			"http://metadata.google.internal./", "http://router.lan/", "http://x.home.arpa/", "http://x.onion/",
			"http://１２７.0.0.1/", "http://127。0。0。1/", "http://ⓛocalhost/", "http://localhost:8080/",
		},
	}
	for code, urls := range cases {
		for _, raw := range urls {
			u, err := CheckURL(raw, false)
			var failure *Error
			if !errors.As(err, &failure) || failure.Code != code {
				t.Errorf("CheckURL(%.60q) = %v, %v; want %s", raw, u, err, code)
			}
		}
	}
}

func TestAllowLoopbackOpensLoopbackOnly(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"http://127.0.0.1:8080/", "http://[::1]:9/", "http://localhost:1234/", "http://127.9.9.9/"} {
		if _, err := CheckURL(raw, true); err != nil {
			t.Errorf("CheckURL(%q): %v", raw, err)
		}
	}
	for _, raw := range []string{"http://10.0.0.1/", "http://10.0.0.1:8080/", "http://www.example.com:8080/", "http://[::ffff:10.0.0.1]/", "http://redis:6379/"} {
		if _, err := CheckURL(raw, true); err == nil {
			t.Errorf("CheckURL(%q) lets it through", raw)
		}
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, seed := range []string{"https://www.example.com/a?b#c", "http://0x7f.1", "http://[::ffff:1.2.3.4]:80", "https://a.b.:443", "http://%31%32%37.0.0.1/", "https://a.example/?q #f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := CheckURL(raw, false)
		if err != nil {
			return
		}
		again, err := CheckURL(u.String(), false)
		if err != nil || again.String() != u.String() {
			t.Errorf("%q → %q → %v, %v", raw, u, again, err)
		}
	})
}
