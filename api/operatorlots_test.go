package api_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/securecookie"

	"ushuru/api"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
)

// person is a browser at the pages of an app: it keeps cookies and follows
// no redirect.
type person struct {
	*http.Client

	t    *testing.T
	home string
}

// pagesFor starts an app with pages and an operator.
func pagesFor(t *testing.T, conn *redisx.Conn, secret string, limits pace.Limits) *app {
	t.Helper()
	return newApp(t, conn, func(o *api.Options) {
		monitored(o)
		o.MonitoringPassword, o.Page.Enabled, o.Limits = secret, true, limits
	})
}

func (a *app) browse(t *testing.T) person {
	t.Helper()
	jar, _ := cookiejar.New(nil) // never fails
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return person{&http.Client{Jar: jar, CheckRedirect: stay, Timeout: 30 * time.Second}, t, a.URL}
}

// do sends a request and returns its status, where it leads, and its body.
func (b person) do(method, path, mediaType, body string, cookies ...*http.Cookie) (status int, to, page string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.home+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", mediaType)
	for _, cookie := range cookies {
		r.AddCookie(cookie)
	}
	response, err := b.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	b.CloseIdleConnections()
	return response.StatusCode, response.Header.Get("Location"), string(data)
}

func (b person) post(path string, form url.Values, cookies ...*http.Cookie) (status int, to, page string) {
	b.t.Helper()
	return b.do(http.MethodPost, path, "application/x-www-form-urlencoded", form.Encode(), cookies...)
}

// logIn logs the operator in, and returns the cookie.
func (b person) logIn(secret string) *http.Cookie {
	b.t.Helper()
	if status, _, page := b.post("/console/login", url.Values{"name": {operator}, "password": {secret}}); status != http.StatusSeeOther {
		b.t.Fatalf("login: %d\n%s", status, page)
	}
	at, _ := url.Parse(b.home + "/lots")
	for _, cookie := range b.Jar.Cookies(at) {
		if cookie.Name == "op" {
			return cookie
		}
	}
	b.t.Fatal("no cookie for /lots")
	return nil
}

// startTable sends a table of so many cars, and starts it.
func (b person) startTable(name string, rows int) (status int, to, page string) {
	b.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, _ := form.CreateFormFile("file", "cars.csv")
	_, _ = io.WriteString(part, "url\n")
	for i := range rows {
		_, _ = fmt.Fprintf(part, "%s/%s%d\n", site, name, i)
	}
	_ = form.Close()
	_, preview, _ := b.do(http.MethodPost, "/lots", form.FormDataContentType(), body.String())
	_, _, seen := b.do(http.MethodGet, preview, "", "")
	fields := url.Values{}
	for _, field := range regexp.MustCompile(`name="(sum|once)" value="([^"]+)"`).FindAllStringSubmatch(seen, -1) {
		fields.Set(field[1], field[2])
	}
	return b.post("/lots/start", fields)
}

// keyLogins holds what signs logins, beside name and password.
const keyLogins = "console:secret"

func secretOf(t *testing.T, conn *redisx.Conn) []byte {
	t.Helper()
	stored, err := redisx.Secret(t.Context(), conn.Client(), keyLogins)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

// expiredLogin is a login as the console of an app with a password signs it, of long ago.
func expiredLogin(t *testing.T, conn *redisx.Conn, secret string) *http.Cookie {
	t.Helper()
	keyed := hmac.New(sha256.New, secretOf(t, conn))
	_, _ = fmt.Fprintf(keyed, "%q %q", operator, secret)
	cookie := &http.Cookie{Name: "op"}
	synctest.Test(t, func(t *testing.T) { // its clock is of the year 2000
		var err error
		if cookie.Value, err = securecookie.New(keyed.Sum(nil), nil).Encode(cookie.Name, "any"); err != nil {
			t.Fatal(err)
		}
	})
	return cookie
}

// TestALoginOfTheOperatorEndsAtTheLotsToo: with its time, and with the password. What is said
// then leads through the login back to where the operator was.
func TestALoginOfTheOperatorEndsAtTheLotsToo(t *testing.T) {
	t.Parallel()
	conn, later := embedded(t), embedded(t)
	before, after := pagesFor(t, conn, password, pace.Limits{}), pagesFor(t, later, "another", pace.Limits{})
	if err := later.Client().Set(t.Context(), keyLogins, secretOf(t, conn), 0).Err(); err != nil { // only the password is another
		t.Fatal(err)
	}
	login := before.browse(t).logIn(password)
	if _, _, page := before.browse(t).do(http.MethodGet, "/lots", "", "", login); !strings.Contains(page, `action="/console/logout"`) {
		t.Fatalf("a good login is not taken\n%s", page)
	}
	for name, c := range map[string]struct {
		at     *app
		cookie *http.Cookie
	}{
		"expired":            {before, expiredLogin(t, conn, password)},
		"of an old password": {after, login},
	} {
		b := c.at.browse(t)
		for _, path := range []string{"/lots", "/lots/B1", "/lots/B1/results?format=csv"} {
			_, _, page := b.do(http.MethodGet, path, "", "", c.cookie)
			saysNext(t, name+", "+path, page)
		}
		for _, path := range []string{"/lots", "/lots/start", "/lots/B1/cancel", "/lots/B1/retry"} {
			_, to, page := b.post(path, url.Values{}, c.cookie)
			if to != "" {
				t.Errorf("%s, %s: leads to %s", name, path, to)
			}
			saysNext(t, name+", "+path, page)
		}
	}

	b := after.browse(t)
	_, _, form := b.do(http.MethodGet, "/console/login?next=/lots/B1", "", "")
	if !strings.Contains(form, `name="next" value="/lots/B1"`) {
		t.Errorf("the form does not know where it leads\n%s", form)
	}
	for next, want := range map[string]string{
		"/lots/B1": "/lots/B1", "/lots": "/lots", "//evil.example": "", "/lots/../x": "", "/lots//evil.example": "", "/console/do/key-new": "",
	} {
		status, to, _ := b.post("/console/login", url.Values{"name": {operator}, "password": {"another"}, "next": {next}})
		if status != http.StatusSeeOther || !strings.HasPrefix(to, "/console?done=login") {
			t.Fatalf("login: %d %s", status, to)
		}
		if _, led, _ := b.do(http.MethodGet, to, "", ""); led != want {
			t.Errorf("%s leads to %q, want %q", next, led, want)
		}
		stranger := after.browse(t)
		if _, lost, _ := stranger.do(http.MethodGet, to, "", ""); !strings.HasPrefix(lost, "/console/login?lost") {
			t.Errorf("a login that the browser lost leads to %s", lost)
		}
	}
}

// saysNext checks that a page says that the login is over, and where to log in.
func saysNext(t *testing.T, what, page string) {
	t.Helper()
	for _, want := range []string{"Your session has ended. Please log in again.", `href="/console/login?next=%2flots`} {
		if !strings.Contains(page, want) {
			t.Errorf("%s: no %q\n%s", what, want, page)
		}
	}
	if strings.Contains(page, "Excel") || strings.Contains(page, `type="file"`) {
		t.Errorf("%s: shows batches\n%s", what, page)
	}
}

// TestTheOperatorHasTheLimitsOfAKey: in rows of running batches, and in requests a minute,
// apart from those of keys.
func TestTheOperatorHasTheLimitsOfAKey(t *testing.T) {
	t.Parallel()
	a := pagesFor(t, embedded(t), password, pace.Limits{BatchItems: 3})
	if got := a.send(t, a.request(t, http.MethodPost, "/v1/batches", `{"urls":["`+site+`/1","`+site+`/2"]}`)); got.status != http.StatusCreated {
		t.Fatalf("the batch of a key: %d %s", got.status, got.body)
	}
	b := a.browse(t)
	b.logIn(password)
	status, _, page := b.startTable("large", 4)
	if status != http.StatusRequestEntityTooLarge || !strings.Contains(page, "Send fewer") {
		t.Errorf("more rows than ever: %d\n%s", status, page)
	}
	status, first, page := b.startTable("first", 2)
	if status != http.StatusSeeOther {
		t.Fatalf("two rows, beside two of a key: %d\n%s", status, page)
	}
	status, _, page = b.startTable("second", 2)
	if status != http.StatusTooManyRequests || !strings.Contains(page, "running batches") {
		t.Errorf("two rows beside two of its own: %d\n%s", status, page)
	}
	if status, _, page = b.post(first+"/cancel", nil); status != http.StatusSeeOther {
		t.Fatalf("cancel: %d\n%s", status, page)
	}
	if status, _, page = b.startTable("third", 3); status != http.StatusSeeOther {
		t.Errorf("after the end of the first: %d\n%s", status, page)
	}

	slow := pagesFor(t, embedded(t), password, pace.Limits{PerMinute: 2})
	b = slow.browse(t)
	b.logIn(password)
	var codes []int
	for i := range 3 {
		status, _, page = b.startTable(fmt.Sprint("rate", i), 1)
		codes = append(codes, status)
	}
	if fmt.Sprint(codes) != "[303 303 429]" {
		t.Errorf("three starts at two a minute: %d\n%s", codes, page)
	}
}
