package console_test

import (
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"ushuru/pkg/ai"
	"ushuru/pkg/client"
	"ushuru/pkg/demo"
	"ushuru/pkg/keys"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/localtime"
	"ushuru/pkg/operate"
	"ushuru/pkg/operate/status"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/testenv/browsertest"
)

var shots = flag.String("shots", "", "folder for pictures of the pages")

// service is the demo, whose figures are simulated, with its Redis.
type service struct {
	*demo.Demo

	t    *testing.T
	conn *redisx.Conn
}

func start(t *testing.T) *service {
	t.Helper()
	return startWith(t, redistest.Embedded(t))
}

func startWith(t *testing.T, conn *redisx.Conn) *service {
	t.Helper()
	running, err := demo.Start(t.Context(), demo.Options{Redis: conn, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(running.Stop)
	return &service{running, t, conn}
}

// browse returns a client with cookies of its own that follows no redirect.
func browse() *http.Client {
	jar, _ := cookiejar.New(nil) // never fails
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// answer is a response.
type answer struct {
	code   int
	header http.Header
	body   string
}

func (s *service) send(c *http.Client, method, path string, form url.Values, header ...string) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	response, err := c.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(body)}
}

func (s *service) credentials() url.Values {
	return url.Values{"name": {demo.OperatorUser}, "password": {s.Password}}
}

// logIn returns a client that is logged in.
func (s *service) logIn() *http.Client {
	s.t.Helper()
	c := browse()
	if got := s.send(c, http.MethodPost, "/console/login", s.credentials()); got.code != http.StatusSeeOther {
		s.t.Fatalf("login: %d %s", got.code, got.body)
	}
	return c
}

func (s *service) read() status.Status {
	s.t.Helper()
	now, err := status.New(status.Options{Redis: s.conn.Client()}).Read(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return now
}

func TestLogin(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := browse()
	if got := s.send(c, http.MethodGet, "/console", nil); got.code != http.StatusSeeOther || got.header.Get("Location") != "/console/login" {
		t.Errorf("without a login: %d %v", got.code, got.header)
	}
	wrong := s.send(c, http.MethodPost, "/console/login", url.Values{"name": {demo.OperatorUser}, "password": {"guess"}})
	if wrong.code != http.StatusUnauthorized || !strings.Contains(wrong.body, "is wrong") || wrong.header.Get("Set-Cookie") != "" ||
		wrong.header.Get("WWW-Authenticate") != "" {
		t.Errorf("a wrong password: %d %v %s", wrong.code, wrong.header, wrong.body)
	}
	right := s.send(c, http.MethodPost, "/console/login", s.credentials())
	sent := right.header.Get("Set-Cookie")
	for _, part := range []string{"op=", "Path=/console", "Max-Age=43200", "HttpOnly", "SameSite=Strict"} {
		if !strings.Contains(sent, part) {
			t.Errorf("the cookie %q lacks %s", sent, part)
		}
	}
	if strings.Contains(sent, "Secure") {
		t.Error("a browser on this machine would not keep the cookie without TLS")
	}
	page := s.send(c, http.MethodGet, "/console", nil)
	if page.code != http.StatusOK || page.header.Get("Cache-Control") != "no-store" ||
		!strings.HasPrefix(page.header.Get("Content-Security-Policy"), "default-src 'none'; style-src 'self';") {
		t.Errorf("logged in: %d %v", page.code, page.header)
	}
	elsewhere := s.send(browse(), http.MethodPost, "/console/login", s.credentials(), "Host", "ushuru.example")
	if !strings.Contains(elsewhere.header.Get("Set-Cookie"), "Secure") {
		t.Errorf("the cookie of another machine: %q", elsewhere.header.Get("Set-Cookie"))
	}
	if lost := s.send(browse(), http.MethodGet, "/console?done=login", nil); lost.header.Get("Location") != "/console/login?lost" {
		t.Errorf("a browser that has not kept the cookie: %v", lost.header)
	}
	s.send(c, http.MethodPost, "/console/logout", nil)
	if got := s.send(c, http.MethodGet, "/console", nil); got.code != http.StatusSeeOther {
		t.Errorf("logged out: %d", got.code)
	}
}

// A copy of the cookie is worth nothing once its owner has logged out, and other logins go on.
func TestALogoutEndsTheLoginAtTheServer(t *testing.T) {
	t.Parallel()
	s := start(t)
	var logins []string
	for range 2 {
		sent := s.send(browse(), http.MethodPost, "/console/login", s.credentials()).header.Get("Set-Cookie")
		login, _, _ := strings.Cut(sent, ";")
		logins = append(logins, login)
	}
	if got := s.send(browse(), http.MethodPost, "/console/logout", nil, "Cookie", logins[0]); got.code != http.StatusSeeOther {
		t.Errorf("the logout: got %d", got.code)
	}
	for i, want := range []int{http.StatusUnauthorized, http.StatusOK} {
		if got := s.send(browse(), http.MethodGet, "/console", nil, "Cookie", logins[i]); got.code != want {
			t.Errorf("login %d after the logout of the first: got %d, want %d", i, got.code, want)
		}
	}
	got := s.send(browse(), http.MethodPost, "/console/do/create-key", url.Values{"name": {"stolen"}}, "Cookie", logins[0])
	if got.code != http.StatusUnauthorized {
		t.Errorf("an action with the cookie that was logged out: got %d", got.code)
	}
}

func TestForgedLoginsAreRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	sent := s.send(browse(), http.MethodPost, "/console/login", s.credentials()).header.Get("Set-Cookie")
	good, _, _ := strings.Cut(strings.TrimPrefix(sent, "op="), ";")
	if got := s.send(browse(), http.MethodGet, "/console", nil, "Cookie", "op="+good); got.code != http.StatusOK {
		t.Fatalf("the login itself: %d", got.code)
	}
	for name, forged := range map[string]string{
		"other time": "AAAA" + good[4:], "other signature": good[:len(good)-12] + "AAAA" + good[len(good)-8:],
		"dots": "...", "half": good[:len(good)/2], "twice": good + good,
	} {
		if got := s.send(browse(), http.MethodGet, "/console", nil, "Cookie", "op="+forged); got.code != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, got.code)
		}
	}
	if err := s.conn.Client().Del(t.Context(), "console:secret").Err(); err != nil {
		t.Fatal(err)
	}
	if got := s.send(browse(), http.MethodGet, "/console", nil, "Cookie", "op="+good); got.code != http.StatusUnauthorized {
		t.Errorf("signed with another secret: %d", got.code)
	}
}

// An API with another password refuses the logins of before, though both share a Redis.
func TestANewPasswordEndsLogins(t *testing.T) {
	t.Parallel()
	old := start(t)
	store := keys.NewStore(old.conn.Client())
	made, err := store.List(t.Context())
	if err == nil {
		err = store.Revoke(t.Context(), made[0].ID) // the next demo makes one of the same name
	}
	if err != nil {
		t.Fatal(err)
	}
	changed := startWith(t, old.conn)
	if old.Password == changed.Password {
		t.Fatal("the password is the same")
	}
	for _, issuer := range []*service{old, changed} {
		sent := issuer.send(browse(), http.MethodPost, "/console/login", issuer.credentials()).header.Get("Set-Cookie")
		login, _, _ := strings.Cut(sent, ";")
		for _, asked := range []*service{old, changed} {
			want := http.StatusUnauthorized
			if asked == issuer {
				want = http.StatusOK
			}
			if got := asked.send(browse(), http.MethodGet, "/console", nil, "Cookie", login); got.code != want {
				t.Errorf("%d, want %d", got.code, want)
			}
		}
	}
}

// Guesses here and at /monitoring are one count.
func TestGuessesAreSlowed(t *testing.T) {
	t.Parallel()
	s := start(t)
	codes := map[int]int{}
	for range 8 {
		got := s.send(browse(), http.MethodPost, "/console/login", url.Values{"name": {demo.OperatorUser}, "password": {"guess"}})
		codes[got.code]++
	}
	if codes[http.StatusUnauthorized] > 6 || codes[http.StatusTooManyRequests] < 2 {
		t.Errorf("8 guesses: %v", codes)
	}
	got := s.send(browse(), http.MethodPost, "/console/login", s.credentials())
	if got.code != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" || !strings.Contains(got.body, "Too many wrong passwords") {
		t.Errorf("the right password after them: %d %s", got.code, got.body)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/monitoring/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(demo.OperatorUser, s.Password)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusTooManyRequests {
		t.Errorf("at /monitoring: %d", response.StatusCode)
	}
}

func TestActionsNeedALoginAndTheSameSite(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.logIn()
	form := url.Values{"name": {"Juma"}}
	if got := s.send(browse(), http.MethodPost, "/console/do/key-new", form); got.code != http.StatusUnauthorized {
		t.Errorf("without a login: %d", got.code)
	}
	for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.example"}} {
		if got := s.send(c, http.MethodPost, "/console/do/key-new", form, header...); got.code != http.StatusForbidden {
			t.Errorf("%v: %d", header, got.code)
		}
	}
	if got := s.send(c, http.MethodPost, "/console/do/nothing", form); got.code != http.StatusNotFound {
		t.Errorf("an action that does not exist: %d", got.code)
	}
	if got := s.send(c, http.MethodGet, "/console/do/key-new?name=Juma", nil); got.code != http.StatusOK {
		t.Errorf("the form: %d", got.code)
	}
	if n := len(s.read().Keys); n != 1 {
		t.Errorf("%d keys, want that of the demo", n)
	}
}

func TestKeysAreCreatedLimitedAndRevoked(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.logIn()
	const name = `<img src=x onerror=alert(1)> Juma`
	made := s.send(c, http.MethodPost, "/console/do/key-new", url.Values{"name": {name}})
	_, after, _ := strings.Cut(made.body, `<code class="secret">`)
	plain, _, _ := strings.Cut(after, "<")
	key, err := keys.NewStore(s.conn.Client()).Verify(t.Context(), plain)
	if err != nil || key.Name != name {
		t.Fatalf("%v, %d %s", err, made.code, made.body)
	}
	page := s.send(c, http.MethodGet, "/console", nil).body
	if strings.Contains(page, "<img") || strings.Contains(page, plain) || !strings.Contains(page, "&lt;img src=x onerror=alert(1)&gt; Juma") {
		t.Error("the page has the name as it is, or the key")
	}
	if got := s.send(c, http.MethodPost, "/console/do/key-new", url.Values{"name": {name}}); got.code != http.StatusUnprocessableEntity {
		t.Errorf("the same name again: %d", got.code)
	}
	if got := s.send(c, http.MethodPost, "/console/do/key-limit", url.Values{"about": {key.ID}, "jobs": {"-1"}}); got.code != http.StatusUnprocessableEntity {
		t.Errorf("a negative limit: %d", got.code)
	}
	limit := s.send(c, http.MethodPost, "/console/do/key-limit", url.Values{"about": {key.ID}, "jobs": {"7"}, "bytes": {""}})
	if key, err = keys.NewStore(s.conn.Client()).Verify(t.Context(), plain); err != nil || key.Limits.Jobs != 7 ||
		limit.header.Get("Location") != "/console?done=key-limit" {
		t.Errorf("%+v, %v, %d", key.Limits, err, limit.code)
	}
	s.send(c, http.MethodPost, "/console/do/key-revoke", url.Values{"about": {key.ID}})
	if _, err = keys.NewStore(s.conn.Client()).Verify(t.Context(), plain); err == nil {
		t.Error("the key is valid still")
	}
	if got := s.send(c, http.MethodPost, "/console/do/key-revoke", url.Values{"about": {"none"}}); got.code != http.StatusUnprocessableEntity {
		t.Errorf("a key that does not exist: %d", got.code)
	}
}

// batch runs a batch of listings, two of which are gone, until it has ended.
func (s *service) batch(listings int) *client.Batch {
	s.t.Helper()
	api, err := client.New(client.Options{URL: s.URL, Key: s.Key})
	if err != nil {
		s.t.Fatal(err)
	}
	urls := []string{s.Site + "/gone?a=1", s.Site + "/gone?a=2"}
	for _, car := range listingtest.Cars()[:listings] {
		urls = append(urls, s.Site+car.Path())
	}
	made, err := client.Send[client.Batch](s.t.Context(), api, "POST /v1/batches", map[string][]string{"urls": urls})
	if err != nil {
		s.t.Fatal(err)
	}
	testenv.Await(s.t, "the end of the batch", func() (any, bool) {
		if made, err = api.Batch(s.t.Context(), made.ID); err != nil {
			s.t.Fatal(err)
		}
		return made, made.HasEnded()
	})
	return made
}

// The pages of the simulated site are those of a host that is not known.
func TestCountersEqualABatch(t *testing.T) {
	t.Parallel()
	s := start(t)
	const listings = 4
	made := s.batch(listings)
	now := s.until("the rows are counted, and the worker lives", func(now status.Status) bool {
		return len(now.Sites) == 1 && now.Sites[0].Read+now.Sites[0].Gone == listings+2 &&
			len(now.Workers) > 0 && len(now.Workers[0].Workers) > 0
	})
	site := now.Sites[0]
	if b := now.Batches[0]; b.ID != made.ID || b.Counts["failed"] != 2 || b.Reason != "listing_gone" || b.Name != "demo" {
		t.Errorf("%+v", b)
	}
	if f := now.Failures[0]; f.Code != "listing_gone" || f.Day != 2 || f.Job == "" {
		t.Errorf("%+v", now.Failures)
	}
	if len(now.Authority.Calls) == 0 || now.Authority.MedianMS == 0 || len(now.Workers[0].Workers) != 1 {
		t.Errorf("%+v %+v", now.Authority, now.Workers)
	}
	if now.Keys[0].LastUsed == nil || now.Keys[0].Today < 2 {
		t.Errorf("%+v", now.Keys[0])
	}
	if site.Read != int64(made.Counts["succeeded"]) || site.Gone != int64(made.Counts["failed"]) || site.Wrong+site.Blocked != 0 {
		t.Errorf("%+v, and the batch has %v", site, made.Counts)
	}
}

// TestConsoleInABrowser logs in by the form, reads the overview and acts by its forms.
func TestConsoleInABrowser(t *testing.T) {
	s := start(t)
	made := s.batch(6)
	b := browsertest.Open(t)
	b.View(360, "light")
	b.Run(chromedp.Navigate(s.URL + "/console"))
	b.Await(`document.querySelector("#password")`)
	b.Shoot(*shots, "console-login")
	b.Check(s.URL)
	b.Run(chromedp.SendKeys("#name", demo.OperatorUser), chromedp.SendKeys("#password", s.Password), chromedp.Submit("#password"))
	b.Await(`document.body.innerText.includes("` + made.ID + `")`)
	b.Await(`document.querySelector("#sites").innerText.includes("other")`)
	for _, width := range []int64{360, 1280}[:testenv.Pick(2, 1)] {
		for _, scheme := range []string{"light", "dark"} {
			b.View(width, scheme)
			b.Run(chromedp.Navigate(s.URL + "/console?still"))
			b.Await(`document.querySelectorAll("main section").length === 10`)
			b.Shoot(*shots, "console-"+scheme+"-"+map[int64]string{360: "360", 1280: "1280"}[width])
			b.Check(s.URL)
		}
	}
	if got := b.Text(`document.querySelectorAll("svg[role=img]:not([aria-label])").length`); got != "0" {
		t.Errorf("%s drawings without words", got)
	}
	if got := b.Text(`[...document.querySelectorAll("h1, h2")].map(h => h.tagName).join("")`); got != "H1"+strings.Repeat("H2", 10) {
		t.Errorf("headings: %s", got)
	}

	b.Run(chromedp.Click(`#batches button`)) // retry failed
	b.Await(`document.querySelector("[role=status]").innerText === "The failed listings are tried again."`)
	b.Run(chromedp.Navigate(s.URL + "/console/do/key-new"))
	b.Await(`document.querySelector("#name")`)
	b.Shoot(*shots, "console-new-key")
	b.Run(chromedp.SendKeys("#name", "Asha"), chromedp.Submit("#name"))
	b.Await(`document.querySelector("code.secret") && document.querySelector("code.secret").innerText.length > 20`)
	b.Check(s.URL)
	b.Run(chromedp.Click(`header button`))
	b.Await(`document.querySelector("#password")`)
	b.Run(chromedp.Navigate(s.URL + "/console"))
	b.Await(`document.querySelector("#password")`)
	b.Check(s.URL)
}

// The overview is loaded again by itself, without JavaScript.
func TestOverviewIsLoadedAgain(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.logIn()
	// Without its query: what was done, or a login, is said once.
	if page := s.send(c, http.MethodGet, "/console?done=login", nil).body; !strings.Contains(page, `<meta http-equiv="refresh" content="10; url=/console">`) ||
		strings.Contains(page, "<script") {
		t.Error("the page is not loaded again, or has a script")
	}
	for _, path := range []string{"/console?still", "/console/login", "/console/do/key-new"} {
		if page := s.send(c, http.MethodGet, path, nil).body; strings.Contains(page, "http-equiv") {
			t.Errorf("%s is loaded again", path)
		}
	}
}

// What needs attention is the first on the page, the urgent first, with what can be done.
func TestNeedsComeFirst(t *testing.T) {
	testenv.Long(t)
	s := start(t)
	redis, owner := s.conn.Client(), s.read().Keys[0].ID
	now := time.Now()
	tokens, day := pace.NewAccounts(redis, pace.KindTokens), now.In(localtime.Zone).Format(time.DateOnly)
	use := func(key string, n int64) error {
		_, err := tokens.Settle(t.Context(), pace.Holder{Whole: day, Part: key}, pace.Kept{Size: n, TTL: time.Hour})
		return err
	}
	for _, err := range []error{
		redis.HSet(t.Context(), "stat:"+now.UTC().Format("2006010215"), "sbtjapan.com/estimate:scrape/listing_blocked", 41).Err(),
		redis.HSet(t.Context(), "tra:{drift}:state", "agree", 0, "rules", "2026-07-01", "since", now.UnixMilli()).Err(),
		use("", 754),
		ai.SetBudget(t.Context(), redis, 1000, now),
		use(owner, 96),
		redis.HSet(t.Context(), "keys:used", owner, now.Unix()).Err(),
		redis.HSet(t.Context(), "webhook:{"+owner+"}", "wh1",
			`{"id":"wh1","url":"https://hooks.example/secret","state":"verified","disabled":"<script>alert(1)</script>"}`).Err(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := operate.New(operate.Options{Redis: redis}).LimitKey(t.Context(), owner, operate.LimitChange{AITokens: new(int64(100))}); err != nil {
		t.Fatal(err)
	}
	b := browsertest.Open(t)
	b.View(360, "light")
	b.Run(chromedp.Navigate(s.URL + "/console/login"))
	b.Await(`document.querySelector("#password")`)
	b.Run(chromedp.SendKeys("#name", demo.OperatorUser), chromedp.SendKeys("#password", s.Password), chromedp.Submit("#password"))
	b.Await(`document.querySelectorAll(".needs li").length === 5`)
	if got := b.Text(`document.querySelector("main h1").innerText`); got != "5 things need you" {
		t.Errorf("the title is %q", got)
	}
	for i, want := range []string{
		"the law may have changed", "No page of sbtjapan.com could be read: 0 of 41.", "The AI has used 85 % of today's tokens.",
		"is disabled: <script>alert(1)</script>.", "uses 96 % of its tokens of the AI.",
	} {
		if got := b.Text(`document.querySelectorAll(".needs li")[` + strconv.Itoa(i) + `].innerText`); !strings.Contains(got, want) {
			t.Errorf("%d: %q, want %q", i+1, got, want)
		}
	}
	b.Check(s.URL)
	b.Shoot(*shots, "console-needs-360")
	b.View(1280, "dark")
	b.Run(chromedp.Navigate(s.URL + "/console?still"))
	b.Await(`document.querySelector(".needs a[href='/console/do/webhook-enable?about=wh1']")`)
	b.Shoot(*shots, "console-needs-1280")
	b.Check(s.URL)
}
