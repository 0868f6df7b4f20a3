package web_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/mux"

	"ushuru/api/web/extension"
	"ushuru/api/web/frame"
	"ushuru/api/web/frame/frametest"
	"ushuru/pkg/testenv"
)

// unpackedExtension returns the files of the extension for a server.
func unpackedExtension(t *testing.T, server string) map[string]string {
	t.Helper()
	data, err := extension.Archive(server)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, file := range archive.File {
		reader, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		files[file.Name] = string(text)
	}
	return files
}

// The user allows one server, and the press of the button one page. Everything else stays
// out of reach.
func TestTheExtensionAsksForLittle(t *testing.T) {
	t.Parallel()
	files := unpackedExtension(t, "")
	var manifest struct {
		Permissions []string `json:"permissions"`
		Host        []string `json:"host_permissions"`
		Scripts     any      `json:"content_scripts"`
		External    any      `json:"externally_connectable"`
		Accessible  any      `json:"web_accessible_resources"`
		Policy      any      `json:"content_security_policy"`
	}
	if err := json.Unmarshal([]byte(files["manifest.json"]), &manifest); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(manifest.Permissions, []string{"activeTab", "scripting", "storage"}) || manifest.Host != nil ||
		manifest.Scripts != nil || manifest.External != nil || manifest.Accessible != nil || manifest.Policy != nil {
		t.Errorf("%+v", manifest)
	}
	for name, text := range files {
		for _, bad := range []string{"innerHTML", "eval(", "new Function", "document.write", "<all_urls>", "//cdn", "onclick="} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %s", name, bad)
			}
		}
	}
}

func TestTheArchiveHasTheAddressOfItsServer(t *testing.T) {
	t.Parallel()
	pages, err := extension.New(frametest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	h := mux.NewRouter()
	pages.Register(h)
	first, second := frametest.Get(h, "/ext.zip", nil), frametest.Get(h, "/ext.zip", nil)
	if first.Code != http.StatusOK || first.Header().Get("Content-Type") != "application/zip" || !bytes.Equal(first.Body.Bytes(), second.Body.Bytes()) {
		t.Errorf("%d %v, equal: %t", first.Code, first.Header(), bytes.Equal(first.Body.Bytes(), second.Body.Bytes()))
	}
	if size := first.Body.Len(); size > 32<<10 {
		t.Errorf("the archive has %d bytes", size)
	}
	want, err := extension.Archive("http://example.com") // the host of the request of the test
	if err != nil || !bytes.Equal(want, first.Body.Bytes()) {
		t.Errorf("not the archive of the server's address, %v", err)
	}
	for server, want := range map[string]string{
		"https://ushuru.example": `{"server":"https://ushuru.example"}`, `https://x"},{"`: `{"server":"https://x\"},{\""}`,
	} {
		if got := unpackedExtension(t, server)["server.json"]; strings.TrimSpace(got) != want {
			t.Errorf("%s: %s", server, got)
		}
	}
	if page := frametest.Get(h, "/extension", nil).Body.String(); !strings.Contains(page, `href="/ext.zip"`) {
		t.Error("the page does not lead to the archive")
	}
}

// Both frame.Languages have every text that the extension says, with the same values.
func TestTheExtensionSaysEverythingInBothLanguages(t *testing.T) {
	t.Parallel()
	files := unpackedExtension(t, "")
	texts := map[string]map[string]struct {
		Message string `json:"message"`
	}{}
	for _, lang := range frame.Languages {
		var said map[string]struct {
			Message string `json:"message"`
		}
		if err := json.Unmarshal([]byte(files["_locales/"+lang+"/messages.json"]), &said); err != nil {
			t.Fatal(err)
		}
		texts[lang] = said
		if said["language"].Message != lang {
			t.Errorf("the language of %s is %q", lang, said["language"].Message)
		}
	}
	values := regexp.MustCompile(`\$[1-9]`)
	for key, english := range texts["en"] {
		swahili := texts["sw"][key].Message
		in, of := values.FindAllString(english.Message, -1), values.FindAllString(swahili, -1)
		slices.Sort(of)
		if english.Message == "" || swahili == "" || !slices.Equal(in, of) || strings.Contains(english.Message+swahili, "!") ||
			key != "name" && swahili == english.Message {
			t.Errorf("%s: %q, %q", key, english.Message, swahili)
		}
	}
	used := map[string]bool{"language": true}
	call := regexp.MustCompile(`say\("([a-z_]+)"|data-(?:say|title)="([a-z_]+)"|__MSG_([a-z_]+)__`)
	for name, text := range files {
		for _, found := range call.FindAllStringSubmatch(text, -1) {
			key := found[1] + found[2] + found[3]
			used[key] = true
			if texts["en"][key].Message == "" {
				t.Errorf("%s: no text %s", name, key)
			}
		}
	}
	for lang, said := range texts {
		for key := range said {
			if !used[key] {
				t.Errorf("the text %s in %s is not used", key, lang)
			}
		}
	}
}

// Firefox's own linter has no error and only the one warning that it has about every
// extension which is also for Chrome.
func TestFirefoxAcceptsTheArchive(t *testing.T) {
	t.Parallel()
	linter, err := filepath.Abs(filepath.Join("testdata", "node_modules", ".bin", "addons-linter"))
	if err == nil {
		_, err = os.Stat(linter)
	}
	if err != nil {
		testenv.Missing(t, err, "npm ci --prefix api/web/testdata installs it")
	}
	data, err := extension.Archive("https://ushuru.example")
	if err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(t.TempDir(), "ushuru.zip")
	if err := os.WriteFile(archive, data, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), linter, "--output", "json", archive).Output()
	if err != nil {
		t.Errorf("the linter: %v", err)
	}
	var report struct {
		Errors   []any `json:"errors"`
		Notices  []any `json:"notices"`
		Warnings []struct {
			Code    string `json:"code"`
			Message string `json:"message"`
			File    string `json:"file"`
		} `json:"warnings"`
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(report.Errors) > 0 || len(report.Notices) > 0 || len(report.Warnings) != 1 ||
		!strings.Contains(report.Warnings[0].Message, "service_worker") {
		t.Errorf("%s", out)
	}
}
