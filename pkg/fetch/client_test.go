package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"code.dny.dev/ssrf"
	"golang.org/x/net/dns/dnsmessage"
)

func testClient(t *testing.T, options Options) *Client {
	t.Helper()
	options.AllowLoopback = true
	client, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// serve starts a site without a robots.txt.
func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	return serveAll(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		handler(w, r)
	})
}

func serveAll(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func wantCode(t *testing.T, err error, code string, temporary bool) *Error {
	t.Helper()
	var failure *Error
	if !errors.As(err, &failure) {
		t.Fatalf("error %v (%T), want *Error %s", err, err, code)
	}
	if failure.Code != code || failure.Retryable != temporary {
		t.Fatalf("%s (%v), temporary %v; want %s, %v", failure.Code, failure.Unwrap(), failure.Retryable, code, temporary)
	}
	if strings.Contains(failure.Error(), "127.0.0.1") || strings.Contains(failure.Error(), "dial") {
		t.Errorf("the public message %q shows internals", failure.Error())
	}
	return failure
}

func TestGetReturnsThePage(t *testing.T) {
	t.Parallel()
	var agent, accept string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		agent, accept = r.UserAgent(), r.Header.Get("Accept")
		w.Header().Set("Content-Type", "text/html; charset=Shift_JIS")
		_, _ = w.Write([]byte("\x83g\x83\x88\x83^"))
	})
	page, err := testClient(t, Options{UserAgent: "Tester/1"}).Get(t.Context(), url+"/car")
	if err != nil {
		t.Fatal(err)
	}
	if page.URL != url+"/car" || page.FinalURL != url+"/car" || page.Status != 200 {
		t.Errorf("page %+v", page)
	}
	if string(page.Body) != "\x83g\x83\x88\x83^" || page.Header.Get("Content-Type") != "text/html; charset=Shift_JIS" {
		t.Errorf("body %q with %q; want the bytes as sent, with their header", page.Body, page.Header.Get("Content-Type"))
	}
	if agent != "Tester/1" || accept != "" {
		t.Errorf("sent User-Agent %q, Accept %q", agent, accept)
	}
}

func TestEnvironmentChangesNothing(t *testing.T) {
	for name, value := range map[string]string{
		"HTTP_PROXY": "http://127.0.0.1:1", "http_proxy": "http://127.0.0.1:1",
		"COLLY_MAX_BODY_SIZE": "1", "COLLY_USER_AGENT": "env", "COLLY_CACHE_DIR": t.TempDir(), "COLLY_DISALLOWED_DOMAINS": "127.0.0.1",
	} {
		t.Setenv(name, value)
	}
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.UserAgent()) })
	page, err := testClient(t, Options{}).Get(t.Context(), url)
	if err != nil || string(page.Body) != defaultUserAgent {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestAnyStatusIsAPage(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, "later")
	})
	page, err := testClient(t, Options{}).Get(t.Context(), url)
	if err != nil || page.Status != 503 || string(page.Body) != "later" {
		t.Fatalf("%+v, %v", page, err)
	}
	if failure := wantCode(t, page.StatusError(), FetchFailed, true); failure.Wait != 7*time.Second {
		t.Errorf("RetryAfter %v", failure.Wait)
	}
}

func TestRetryAfterForms(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{
		"": 0, "30": 30 * time.Second, "-5": 0, "junk": 0, "99999999": time.Hour,
		"Mon, 02 Jan 2006 15:04:05 GMT": 0, "Fri, 31 Dec 2199 23:59:59 GMT": time.Hour,
	} {
		page := &Page{Header: http.Header{"Retry-After": {value}}}
		if got := page.RetryAfter(); got != want {
			t.Errorf("Retry-After %q: %v, want %v", value, got, want)
		}
	}
}

func TestSelfRedirectWithCookieIsFollowed(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("seen"); err != nil {
			http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1"})
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
			return
		}
		fmt.Fprint(w, "welcome")
	})
	client := testClient(t, Options{})
	for range 2 { // the jar is per fetch, so the second starts afresh
		page, err := client.Get(t.Context(), url+"/car/1")
		if err != nil || string(page.Body) != "welcome" {
			t.Fatalf("%+v, %v", page, err)
		}
	}
}

func TestPageIsVisitedAgainAfterASideStep(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, err := r.Cookie("seen")
		switch {
		case r.URL.Path == "/short":
			http.Redirect(w, r, "/car", http.StatusFound)
		case r.URL.Path == "/welcome":
			http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1", Path: "/"})
			http.Redirect(w, r, "/car", http.StatusFound)
		case err != nil:
			http.Redirect(w, r, "/welcome", http.StatusFound)
		}
	})
	page, err := testClient(t, Options{}).Get(t.Context(), url+"/short")
	if err != nil || page.FinalURL != url+"/car" {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestRedirectsAreCapped(t *testing.T) {
	t.Parallel()
	hops := 0
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		hops++
		http.Redirect(w, r, fmt.Sprintf("/%d", hops), http.StatusFound)
	})
	_, err := testClient(t, Options{}).Get(t.Context(), url)
	wantCode(t, err, FetchFailed, false)
	if hops != maxRedirects+1 {
		t.Errorf("%d requests, want %d", hops, maxRedirects+1)
	}
}

func TestFiveRedirectsAreFollowed(t *testing.T) {
	t.Parallel()
	hops := 0
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if hops++; hops <= maxRedirects {
			http.Redirect(w, r, fmt.Sprintf("/%d", hops), http.StatusFound)
		}
	})
	page, err := testClient(t, Options{}).Get(t.Context(), url)
	if err != nil || page.FinalURL != url+"/5" {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestRedirectToPrivateAddressIsRefused(t *testing.T) {
	t.Parallel()
	for _, target := range []string{
		"http://10.0.0.1/", "http://169.254.169.254/latest/meta-data/", "http://0xa000001/", "file:///etc/passwd",
		"http://redis:6379/", "http://www.example.com:6379/", "http://user:pw@www.example.com/",
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", target)
			w.WriteHeader(http.StatusFound)
		})
		_, err := testClient(t, Options{}).Get(t.Context(), url)
		var failure *Error
		if !errors.As(err, &failure) || failure.Code != URLForbidden {
			t.Errorf("redirect to %s: %v", target, err)
		}
	}
}

func TestLoopbackIsRefusedByDefault(t *testing.T) {
	t.Parallel()
	asked := false
	url := serve(t, func(http.ResponseWriter, *http.Request) { asked = true })
	client, _ := New(Options{})
	_, err := client.Get(t.Context(), url)
	wantCode(t, err, URLForbidden, false)
	if asked {
		t.Error("the server was asked")
	}
}

// nameServer answers every query for an IPv4 address with the next of answers,
// over UDP on loopback.
func nameServer(t *testing.T, answers ...[4]byte) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buffer := make([]byte, 512)
		for asked := 0; ; {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var message dnsmessage.Message
			if message.Unpack(buffer[:n]) != nil {
				continue
			}
			message.Response = true
			message.Additionals = nil
			question := message.Questions[0]
			if question.Type == dnsmessage.TypeA {
				message.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: question.Class},
					Body:   &dnsmessage.AResource{A: answers[min(asked, len(answers)-1)]},
				}}
				asked++
			}
			packed, _ := message.Pack()
			_, _ = conn.WriteTo(packed, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func TestNameThatResolvesToPrivateAddressIsRefused(t *testing.T) {
	t.Parallel()
	for _, address := range [][4]byte{{127, 0, 0, 1}, {10, 0, 0, 1}, {169, 254, 169, 254}} {
		client, _ := newClient(Options{Timeout: 5 * time.Second}, nameServer(t, address))
		_, err := client.Get(t.Context(), "http://cars.example.com/1")
		failure := wantCode(t, err, URLForbidden, false)
		if !errors.Is(failure, ssrf.ErrProhibitedIP) {
			t.Errorf("%v: refused by %v, want by the dialer", address, failure.Unwrap())
		}
	}
}

func TestRedirectToNameThatResolvesToPrivateAddressIsRefused(t *testing.T) {
	t.Parallel()
	// Each connection is checked as it is made, so a name that was looked up
	// before, or resolves differently the second time, gains nothing.
	hop := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		http.Redirect(w, r, hop, http.StatusFound)
	}))
	defer server.Close()
	hop = "http://cars.example.com/2"
	client, _ := newClient(Options{Timeout: 5 * time.Second, AllowLoopback: true}, nameServer(t, [4]byte{10, 0, 0, 1}))
	_, err := client.Get(t.Context(), server.URL)
	if failure := wantCode(t, err, URLForbidden, false); !errors.Is(failure, ssrf.ErrProhibitedIP) {
		t.Errorf("refused by %v, want by the dialer", failure.Unwrap())
	}
}

func TestGzipBombIsCapped(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	packer := gzip.NewWriter(&bomb)
	_, _ = io.CopyN(packer, zeros{}, 64<<20)
	_ = packer.Close()
	for _, contentType := range []string{"text/html", "application/gzip"} {
		sent := map[string]string{"gzip": FetchTooLarge, "gzip, gzip": FetchFailed, "br": FetchFailed}
		for encoding, code := range sent {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", contentType)
				w.Header().Set("Content-Encoding", encoding)
				_, _ = w.Write(bomb.Bytes())
			})
			_, err := testClient(t, Options{MaxBody: 1 << 20}).Get(t.Context(), url+"/page.xml.gz")
			wantCode(t, err, code, false)
		}
	}
}

func TestPackedFileIsNotUnpacked(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	packer := gzip.NewWriter(&file)
	_, _ = io.CopyN(packer, zeros{}, 8<<20)
	_ = packer.Close()
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/gzip")
		_, _ = w.Write(file.Bytes())
	})
	page, err := testClient(t, Options{MaxBody: 1 << 20}).Get(t.Context(), url+"/page.xml.gz")
	if err != nil || !bytes.Equal(page.Body, file.Bytes()) {
		t.Errorf("a file that is packed, not sent packed, was unpacked: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestBodyLimitIsExact(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush() // chunked: no length to go by
		_, _ = io.CopyN(w, zeros{}, int64(len(r.URL.Path)-1))
	})
	client := testClient(t, Options{MaxBody: 100})
	if page, err := client.Get(t.Context(), url+"/"+strings.Repeat("a", 100)); err != nil || len(page.Body) != 100 {
		t.Errorf("100 bytes: %v", err)
	}
	_, err := client.Get(t.Context(), url+"/"+strings.Repeat("a", 101))
	wantCode(t, err, FetchTooLarge, false)
}

func TestFiftyMegabytesAreNotRead(t *testing.T) {
	t.Parallel()
	for _, length := range []string{"", "52428800"} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			if length != "" {
				w.Header().Set("Content-Length", length)
			}
			_, _ = io.CopyN(w, zeros{}, 50<<20)
		})
		_, err := testClient(t, Options{}).Get(t.Context(), url)
		wantCode(t, err, FetchTooLarge, false)
	}
}

func TestSlowAnswersTimeOut(t *testing.T) {
	for name, afterHeader := range map[string]bool{"header": false, "body": true} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if afterHeader {
					fmt.Fprint(w, "<html>")
					w.(http.Flusher).Flush()
				}
				<-r.Context().Done()
			})
			_, err := testClient(t, Options{Timeout: 50 * time.Millisecond}).Get(t.Context(), url)
			wantCode(t, err, FetchTimeout, true)
		})
	}
}

func TestHalfABodyIsAnError(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		w.Header().Set("Retry-After", "3")
		fmt.Fprint(w, "half")
	})
	_, err := testClient(t, Options{}).Get(t.Context(), url)
	if failure := wantCode(t, err, FetchFailed, true); failure.Wait != 3*time.Second {
		t.Errorf("RetryAfter %v", failure.Wait)
	}
}

func TestCancellationEndsTheFetch(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	_, err := testClient(t, Options{}).Get(ctx, url)
	wantCode(t, err, FetchFailed, true)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not match context.Canceled", errors.Unwrap(err))
	}
}

func TestClosedPortIsTemporary(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(nil)
	server.Close()
	_, err := testClient(t, Options{}).Get(t.Context(), server.URL)
	wantCode(t, err, FetchFailed, true)
}

func TestBadCertificateIsRefused(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = nil
	server.StartTLS()
	defer server.Close()
	_, err := testClient(t, Options{}).Get(t.Context(), server.URL)
	wantCode(t, err, FetchFailed, false)
}

func TestNegativeOptionsAreRefused(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{Timeout: -1}); err == nil {
		t.Error("negative timeout accepted")
	}
	if _, err := New(Options{MaxBody: -1}); err == nil {
		t.Error("negative body limit accepted")
	}
	if _, err := New(Options{Rate: -1}); err == nil {
		t.Error("negative rate accepted")
	}
}
