package docs_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/mux"
	"golang.org/x/net/html"

	"ushuru/api/docs"
	"ushuru/api/web/frame"
	"ushuru/pkg/demo"
	"ushuru/pkg/message"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/webhook"
)

// startDemo starts the demo, whose figures are simulated.
func startDemo(t *testing.T) *demo.Demo {
	t.Helper()
	conn := redistest.Embedded(t)
	service, err := demo.Start(t.Context(), demo.Options{Redis: conn, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(service.Stop)
	return service
}

// read returns a page, and what it says at each element with an id.
func read(t *testing.T, address string) (http.Header, map[string]string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	page, err := html.Parse(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", address, response.StatusCode, err)
	}
	texts := map[string]string{}
	for node := range page.Descendants() {
		for _, attribute := range node.Attr {
			if attribute.Key == "id" {
				texts[attribute.Val] = textOf(node)
			}
		}
	}
	return response.Header, texts
}

func textOf(node *html.Node) string {
	var text strings.Builder
	for part := range node.Descendants() {
		if part.Type == html.TextNode {
			text.WriteString(part.Data)
		}
	}
	return text.String()
}

// languages are what runs the programs of the page, by the ends of their ids.
var languages = map[string]struct {
	programs []string
	file     string
	args     []string
}{
	"curl": {[]string{"sh"}, "program.sh", []string{"-eu"}},
	"js":   {[]string{"node"}, "program.mjs", nil},
	"py":   {[]string{"python3"}, "program.py", nil},
	"go":   {[]string{"go"}, "main.go", []string{"run"}},
	"php":  {[]string{"php"}, "program.php", nil},
}

// runProgram runs a program in a language.
func runProgram(t *testing.T, language, text, key string) (string, error) {
	t.Helper()
	l := languages[language]
	if language == "curl" {
		testenv.Binary(t, "curl")
	}
	file := filepath.Join(t.TempDir(), l.file)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), testenv.Binary(t, l.programs...), append(slices.Clone(l.args), file)...)
	command.Dir = filepath.Dir(file)
	command.Env = append(os.Environ(), "USHURU_KEY="+key)
	out, err := command.CombinedOutput()
	return string(out), err
}

// printed is what the programs print, but curl.
var printed = regexp.MustCompile(`^[A-Z].+: TSh \d{7,9} \(\d{7,9} to \d{7,9}\), match (high|medium|low)\n$`)

// TestThePrograms runs the programs as the page of the demo shows them: what readers copy
// works, and says the same in every language.
func TestThePrograms(t *testing.T) {
	t.Parallel()
	service := startDemo(t)
	_, page := read(t, service.URL+"/docs")
	want, err := runProgram(t, "js", page["estimate.js"], service.Key)
	if err != nil || !printed.MatchString(want) {
		t.Fatalf("%v\n%s", err, want)
	}
	for _, language := range []string{"curl", "py", "go", "php"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			got, err := runProgram(t, language, page["estimate."+language], service.Key)
			if err != nil || language != "curl" && got != want || language == "curl" && !strings.Contains(got, `"onTheRoad"`) {
				t.Errorf("%v\n%s\nwant %s", err, got, want)
			}
		})
	}
	t.Run("batch", func(t *testing.T) {
		t.Parallel()
		got, err := runProgram(t, "curl", page["batch.curl"], service.Key)
		if err != nil || !strings.Contains(got, "event: end") || !strings.Contains(got, "LOT-1") || !strings.Contains(got, "succeeded") {
			t.Errorf("%v\n%s", err, got)
		}
	})
}

// pages serves the pages for a service at an address; "" is that of the request.
func pages(t *testing.T, baseURL string) http.Handler {
	t.Helper()
	shown, err := docs.New(docs.Options{Frame: frameAt(t, baseURL)})
	if err != nil {
		t.Fatal(err)
	}
	router := mux.NewRouter().SkipClean(true)
	shown.Register(router)
	return router
}

func frameAt(t *testing.T, baseURL string) *frame.Frame {
	t.Helper()
	f, err := frame.New(frame.Options{
		BaseURL: baseURL, LoggedPath: strings.Clone, Failed: func(message.Text) frame.Screen { return frame.Screen{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The programs send a request again when the answer says that this helps, as late as it
// asks for, and stop at an error that stays.
func TestTheProgramsRepeatWhatCanSucceedLater(t *testing.T) {
	t.Parallel()
	for language := range languages {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int32
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer k" {
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				status, body := http.StatusServiceUnavailable, `{"error": "later", "code": "unavailable", "retryable": true}`
				if requests.Add(1) > 1 {
					status, body = http.StatusUnprocessableEntity, `{"error": "No entry fits.", "code": "no_match", "retryable": false}`
				}
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(status)
				_, _ = w.Write([]byte(body))
			}))
			t.Cleanup(service.Close)
			shown := httptest.NewServer(pages(t, service.URL))
			t.Cleanup(shown.Close)
			_, page := read(t, shown.URL+"/docs")
			out, err := runProgram(t, language, page["estimate."+language], "k")
			if err == nil || !strings.Contains(out, "no_match") || !strings.Contains(out, "No entry fits.") {
				t.Errorf("%v\n%s", err, out)
			}
			if n := requests.Load(); n != 2 {
				t.Errorf("%d requests, want 2", n)
			}
		})
	}
}

// receivers call the functions that verify an event. The words VALID, OLD and FORGED are
// replaced by the arguments.
var receivers = map[string]string{
	"js": `const accepts = (...event) => { try { verify(...event); return "yes"; } catch (error) { return error.message; } };
console.log(accepts(VALID), "/", accepts(OLD), "/", accepts(FORGED));`,
	"py": `def accepts(*event):
    try:
        verify(*event)
    except ValueError as error:
        return error
    return "yes"
print(accepts(VALID), "/", accepts(OLD), "/", accepts(FORGED))`,
	"php": `function accepts(...$event) {
    try { verify(...$event); } catch (RuntimeException $error) { return $error->getMessage(); }
    return 'yes';
}
echo accepts(VALID), ' / ', accepts(OLD), ' / ', accepts(FORGED), "\n";`,
	"go": `func accepts(secret string, header http.Header, body []byte) string {
	if err := verify(secret, header, body); err != nil {
		return err.Error()
	}
	return "yes"
}

func main() {
	fmt.Println(accepts(VALID), "/", accepts(OLD), "/", accepts(FORGED))
}`,
}

// eventIn writes an event as the arguments of verify in a language.
func eventIn(language, secret string, sent time.Time, signed, body string) string {
	at := strconv.FormatInt(sent.Unix(), 10)
	pairs := [][2]string{{"webhook-id", "msg1"}, {"webhook-timestamp", at}, {"webhook-signature", "v1,AAAA " + signed}}
	form := map[string][3]string{
		"js":  {`%q: %q`, `{%s}`, `Buffer.from(%q)`},
		"py":  {`%q: %q`, `{%s}`, `b%q`},
		"php": {`%q => %q`, `[%s]`, `%q`},
		"go":  {`%q: {%q}`, `http.Header{%s}`, `[]byte(%q)`},
	}[language]
	headers := make([]string, len(pairs))
	for i, pair := range pairs {
		if language == "go" {
			pair[0] = http.CanonicalHeaderKey(pair[0])
		}
		headers[i] = fmt.Sprintf(form[0], pair[0], pair[1])
	}
	return strings.Join([]string{
		strconv.Quote(secret), fmt.Sprintf(form[1], strings.Join(headers, ", ")), fmt.Sprintf(form[2], body),
	}, ", ")
}

// TestTheFunctionsVerifyEvents runs the functions that verify an event on what the service
// signs.
func TestTheFunctionsVerifyEvents(t *testing.T) {
	t.Parallel()
	shown := httptest.NewServer(pages(t, ""))
	t.Cleanup(shown.Close)
	_, page := read(t, shown.URL+"/docs")
	secret, body := webhook.NewSecret(), `{"type":"job.completed"}`
	sign := func(at time.Time) string {
		signed, err := webhook.Sign([]string{webhook.NewSecret(), secret}, "msg1", at, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	now, old := time.Now(), time.Now().Add(-time.Hour)
	for language, receiver := range receivers {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			text := page["verify."+language]
			if language == "go" {
				text = "package main\n\nimport (\n\t\"crypto/hmac\"\n\t\"crypto/sha256\"\n\t\"encoding/base64\"\n\t\"errors\"\n\t\"fmt\"\n" +
					"\t\"net/http\"\n\t\"strconv\"\n\t\"strings\"\n\t\"time\"\n)\n" + text
			}
			text += "\n" + strings.NewReplacer(
				"VALID", eventIn(language, secret, now, sign(now), body),
				"OLD", eventIn(language, secret, old, sign(old), body),
				"FORGED", eventIn(language, secret, now, sign(now), body+" "),
			).Replace(receiver)
			out, err := runProgram(t, language, text, "")
			if want := "yes / the event is too old / the signature is not valid\n"; err != nil || out != want {
				t.Errorf("%v\n%s\n%s", err, out, text)
			}
		})
	}
}

// Every code of the table of texts that a caller can get is in the table of the page, with
// a status that api.md has for it.
func TestTheTableHasEveryError(t *testing.T) {
	t.Parallel()
	service := startDemo(t)
	header, page := read(t, service.URL+"/docs")
	if robots := header.Get("X-Robots-Tag"); robots != "" {
		t.Errorf("search engines may not list it: %s", robots)
	}
	document, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	status := regexp.MustCompile(`[45]\d\d`)
	for _, key := range message.Keys("error") {
		code := message.CodeOf(key)
		if slices.Contains([]string{"login_required", "login_slowed", "cross_origin", "client_closed_request"}, code) {
			continue // of the operator's pages, and one that only the log shows
		}
		row := strings.TrimPrefix(page[code], code)
		listed := regexp.MustCompile("(?m)^\\|[^|]*`"+code+"`[^|]*\\|([^|]*)\\|").FindAllStringSubmatch(string(document), -1)
		known := ""
		for _, cells := range listed {
			known = strings.Join([]string{known, cells[1]}, " ")
		}
		if len(row) < 12 || !status.MatchString(row[:3]) {
			t.Errorf("%s: %q", code, row)
		} else if !strings.Contains(known, row[:3]) {
			t.Errorf("%s has %s, and api.md has %q", code, row[:3], known)
		}
	}
}

// A service with real figures has no key on its pages, and refuses to be given one.
func TestOnlySimulatedFiguresHaveAKey(t *testing.T) {
	t.Parallel()
	for _, o := range []docs.Options{{Key: "ush_1"}, {Listing: "https://cars.example/1"}} {
		o.Frame = frameAt(t, "")
		if _, err := docs.New(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	h := pages(t, "")
	for path, has := range map[string]string{"/docs": "The operator of this service gives you an API key", "/docs/api/": `data-key=""`} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if !strings.Contains(w.Body.String(), has) || strings.Contains(w.Body.String(), "SIMULATED") {
			t.Errorf("%s: %s", path, w.Body)
		}
	}
}

// What stands in the programs is the address of the service, never what a request makes
// up.
func TestTheAddressInTheProgramsIsThatOfTheService(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"ushuru.example": "http://ushuru.example/v1/", "127.0.0.1:81": "http://127.0.0.1:81/v1/", "[::1]:81": "http://[::1]:81/v1/",
		"a';rm$IFS-r": "http://127.0.0.1:8080/v1/", "a b": "http://127.0.0.1:8080/v1/",
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/docs", nil)
		r.Host = host
		w := httptest.NewRecorder()
		pages(t, "").ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: no %s", host, want)
		}
	}
}
