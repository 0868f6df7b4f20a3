package web_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"ushuru/pkg/demo"
	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/pace"
	"ushuru/pkg/testenv"
)

// person is a browser without scripts: it keeps cookies and follows no redirect.
type person struct {
	*http.Client

	t    *testing.T
	home string
}

func visit(t *testing.T, home string) *person {
	t.Helper()
	jar, _ := cookiejar.New(nil) // never fails
	return &person{&http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, t, home}
}

// reply is the status and the header of a response.
type reply struct {
	StatusCode int
	Header     http.Header
}

// do sends a request. What a stream of events says is not read.
func (p *person) do(method, path, mediaType string, body io.Reader, header ...string) (reply, string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.home+path, body)
	if err != nil {
		p.t.Fatal(err)
	}
	if mediaType != "" {
		r.Header.Set("Content-Type", mediaType)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	got, err := p.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = got.Body.Close() })
	head := reply{got.StatusCode, got.Header}
	if strings.HasPrefix(got.Header.Get("Content-Type"), "text/event-stream") {
		return head, ""
	}
	data, err := io.ReadAll(got.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return head, string(data)
}

func (p *person) get(path string) (reply, string) {
	p.t.Helper()
	return p.do(http.MethodGet, path, "", http.NoBody)
}

func (p *person) post(path string, form url.Values, header ...string) (reply, string) {
	p.t.Helper()
	return p.do(http.MethodPost, path, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()), header...)
}

// sendTable sends a table of cars at /lots.
func (p *person) sendTable(table string) string {
	p.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, _ := form.CreateFormFile("file", "cars.csv")
	_, _ = io.WriteString(part, table)
	_ = form.Close()
	sent, _ := p.do(http.MethodPost, "/lots", form.FormDataContentType(), &body)
	_, page := p.get(sent.Header.Get("Location"))
	return page
}

var startFields = regexp.MustCompile(`name="(sum|once)" value="([^"]+)"`)

// TestTheOperatorCalculatesATable follows the operator from the login at the console to the
// files of a batch, without an API key.
func TestTheOperatorCalculatesATable(t *testing.T) {
	t.Parallel()
	service := start(t)
	p := visit(t, service.URL)
	asksForKey := func(what string, page string) {
		t.Helper()
		if !strings.Contains(page, `name="key"`) || !strings.Contains(page, `href="/console/login?next=%2flots"`) {
			t.Errorf("%s: no form for a key, or no way to the console\n%s", what, page)
		}
	}
	_, page := p.get("/lots")
	asksForKey("without a login", page)
	entered, _ := p.post("/console/login", url.Values{"name": {demo.OperatorUser}, "password": {service.Password}})
	cookies := strings.Join(entered.Header.Values("Set-Cookie"), "\n")
	if entered.StatusCode != http.StatusSeeOther || strings.Count(cookies, "SameSite=Strict") != 2 || strings.Count(cookies, "HttpOnly") != 2 ||
		strings.Count(cookies, "Max-Age=43200") != 2 || !strings.Contains(cookies, "Path=/lots;") || !strings.Contains(cookies, "Path=/console;") {
		t.Fatalf("login: %d %q", entered.StatusCode, cookies)
	}
	preview := p.sendTable("URL\n" + service.Site + listingtest.Cars()[0].Path() + "\n")
	form := url.Values{}
	for _, field := range startFields.FindAllStringSubmatch(preview, -1) {
		form.Set(field[1], field[2])
	}
	if stolen, _ := p.post("/lots/start", form, "Origin", "https://evil.example"); stolen.StatusCode != http.StatusForbidden {
		t.Errorf("a form of another site: %d", stolen.StatusCode)
	}
	started, said := p.post("/lots/start", form)
	batch := started.Header.Get("Location")
	if started.StatusCode != http.StatusSeeOther || !strings.HasPrefix(batch, "/lots/") {
		t.Fatalf("start: %d %s\n%s", started.StatusCode, batch, said)
	}
	testenv.Await(t, "the results of the batch", func() (any, bool) {
		_, page = p.get(batch)
		return page, !strings.Contains(page, "data-reload") && strings.Contains(page, `class="sum"`)
	})
	for format, begin := range map[string]string{"xlsx": "PK", "csv": "\uFEFF"} {
		if _, file := p.get(batch + "/results?format=" + format); !strings.HasPrefix(file, begin) {
			t.Errorf("%s begins with %.20q", format, file)
		}
	}
	if _, page = p.get("/lots"); !strings.Contains(page, batch) || !strings.Contains(page, "operator of this server") {
		t.Errorf("the list does not show the batch\n%s", page)
	}
	id := strings.TrimPrefix(batch, "/lots/")
	if _, page = p.get("/console?still"); !strings.Contains(page, id) || !strings.Contains(page, "<bdi>"+pace.Operator+"</bdi>") {
		t.Error("the console does not show the batch as the operator's")
	}

	// A holder of a key does not see it, and a key that is typed comes first.
	if _, page = visit(t, service.URL).get(batch); strings.Contains(page, "Excel") {
		t.Error("a stranger sees the batch")
	}
	if entered, _ = p.post("/lots/login", url.Values{"key": {service.Key}}); entered.StatusCode != http.StatusSeeOther {
		t.Errorf("a key beside the login: %d", entered.StatusCode)
	}
	if other, _ := p.get(batch); other.StatusCode != http.StatusNotFound {
		t.Errorf("the batch of another: %d", other.StatusCode)
	}
	_, _ = p.post("/lots/logout", nil)
	if again, _ := p.get(batch); again.StatusCode != http.StatusOK {
		t.Errorf("after the key's logout: %d", again.StatusCode)
	}
	_, _ = p.post("/console/logout", nil)
	_, page = p.get("/lots")
	asksForKey("after the logout", page)
}
