package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// ran is a command and what it printed.
type ran struct {
	command, out string
	status       int
}

func (r ran) String() string {
	text := "$ " + r.command + "\n" + strings.TrimRight(r.out, "\n")
	if r.status != 0 {
		text += fmt.Sprintf("\n(exit status %d)", r.status)
	}
	return strings.TrimRight(text, "\n")
}

// command runs a command of an operator, with the settings that he has.
func (s *nightService) command(command string) ran {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	if s.named != nil {
		command = s.named.Replace(command)
	}
	shell := exec.CommandContext(ctx, "sh", "-c", command)
	shell.Env = append(os.Environ(), "REDIS_URL="+s.redis.URL, "AUTHORITY_URL="+s.authority.URL, "ADMIN_ADDR="+s.processes[cmp.Or(s.on, "api")].admin,
		"LOG_LEVEL=warn")
	out, err := shell.CombinedOutput()
	if shell.ProcessState == nil {
		s.t.Fatalf("%s: %v", command, err)
	}
	return ran{command, string(out), shell.ProcessState.ExitCode()}
}

var consoleNeed = regexp.MustCompile(`(?s)<li(?: class="urgent")?>.*?<bdi>(.*?)</bdi>`)

// console returns what /console says needs the operator, or why it cannot say.
func (s *nightService) console() string {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	must(s.t, err)
	browser := &http.Client{Jar: jar, Timeout: 20 * time.Second}
	response, err := browser.PostForm(s.base()+"/console/login", url.Values{"name": {"operator"}, "password": {nightPassword}})
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	must(s.t, err)
	if response.StatusCode != http.StatusOK {
		text := regexp.MustCompile(`(?s)<style.*?</style>|<[^>]*>`).ReplaceAllString(string(page), " ")
		return fmt.Sprintf("%d: %s", response.StatusCode, strings.Join(strings.Fields(html.UnescapeString(text)), " "))
	}
	_, needs, found := strings.Cut(string(page), `<ul class="needs">`)
	if !found {
		return "nothing"
	}
	needs, _, _ = strings.Cut(needs, "</ul>")
	var lines []string
	for _, need := range consoleNeed.FindAllStringSubmatch(needs, -1) {
		lines = append(lines, html.UnescapeString(need[1]))
	}
	return strings.Join(lines, "\n")
}

// logged returns the first line of a log since a time that matches, with the name of its
// process; "" when there is none.
func (s *nightService) logged(since time.Time, pattern *regexp.Regexp) string {
	for _, p := range s.processes {
		lines := append(append([]string(nil), p.before...), p.Log()...)
		for _, line := range lines {
			var at struct {
				Time time.Time `json:"time"`
			}
			if json.Unmarshal([]byte(line), &at) == nil && at.Time.After(since) && pattern.MatchString(line) {
				return p.name + ": " + line
			}
		}
	}
	return ""
}
