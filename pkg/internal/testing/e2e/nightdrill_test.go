package e2e

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/testenv"
)

// event is something that wakes an operator.
type event struct {
	alert  string   // that fires
	with   []string // that may fire with it
	metric string   // an expression that shows why
	// provoke makes it happen. keep, if not nil, is called again and again until the
	// alert fires.
	provoke, keep func(*nightService)
	need          string              // what status and console say, as a regular expression
	log           string              // the line of a log that names the cause, likewise
	console       bool                // it says so too
	on            string              // the process on whose machine the operator is; "" is the API
	commands      []string            // what the operator does; they end the event where an operator can end it
	end           func(*nightService) // what ends the event elsewhere
	after         []string            // what the operator does then
}

// keeps calls keep, no more often than a few times a second.
func (e event) keeps(s *nightService) {
	if e.keep != nil {
		e.keep(s)
		time.Sleep(300 * time.Millisecond) // a rate, as of callers
	}
}

// seen is what an operator sees of an event and what he does.
type seen struct {
	alert                                    string
	summary, severity                        string
	expression, metric, status, console, log string
	did                                      []ran
	firesAfter, endsAfter                    time.Duration
	statusAfter                              string // the first line of ushuru status then
}

// night is the service with its Prometheus.
type night struct {
	*nightService

	prometheus *prometheus
	wrong      bool // something of this event was not as it should be
}

func newNight(t *testing.T) *night {
	t.Helper()
	s := startNight(t)
	n := &night{nightService: s, prometheus: startPrometheus(t, s.admins())}
	awaitNight(t, "Prometheus asks all", n.prometheus.text, func() bool {
		return n.prometheus.value(`sum(up{job="ushuru"})`) == strconv.Itoa(len(s.processes))
	})
	return n
}

// fires returns the names of the alerts that fire.
func (n *night) fires() []string { return slices.Sorted(maps.Keys(n.prometheus.firing())) }

func (n *night) text() string {
	return fmt.Sprintf("alerts: %v\nstatus:\n%s\nconsole: %s", n.fires(), n.command("ushuru status"), n.console())
}

const (
	firesWithin = 3 * time.Minute // an hour is a minute
	needsWithin = 6 * time.Minute // the console's own times are not shortened
)

// live lets an event happen, looks at it as an operator does, and ends it.
func (n *night) live(e event) (saw seen) {
	n.t.Helper()
	n.t.Log(e.alert)
	quiet := func() bool { return len(n.fires()) == 0 }
	n.await(firesWithin, e.alert+": it is quiet before", quiet)
	began := time.Now()
	n.on, n.wrong = e.on, false
	e.provoke(n.nightService)
	saw.alert, saw.expression = e.alert, e.metric
	saw.firesAfter = n.await(firesWithin, e.alert+" fires", func() bool {
		e.keeps(n.nightService)
		_, fires := n.prometheus.firing()[e.alert]
		return fires
	})
	fired := n.prometheus.firing()[e.alert]
	saw.summary, saw.severity = fired.Annotations["summary"], fired.Labels["severity"]
	saw.metric = n.prometheus.value(e.metric)
	n.look(e, began, &saw)
	for name := range n.prometheus.firing() {
		if name != e.alert && !slices.Contains(e.with, name) && name != oftenWith {
			n.wrong = true
			n.t.Errorf("%s fires with %s", name, e.alert)
		}
	}
	for _, command := range e.commands {
		saw.did = append(saw.did, n.command(command))
	}
	if e.end != nil {
		e.end(n.nightService)
	}
	for _, command := range e.after {
		var did ran
		n.await(time.Minute, command+" succeeds", func() bool {
			did = n.command(command)
			return did.status == 0
		})
		saw.did = append(saw.did, did)
	}
	saw.endsAfter = n.await(firesWithin, "the end of "+e.alert, quiet)
	saw.statusAfter, _, _ = strings.Cut(n.command("ushuru status").out, "\n")
	n.t.Logf("%s\nmetric %s is %s, status %q, console %q, log %.360s, fires %v after, over %v after; then status: %s", saw, saw.expression, saw.metric,
		saw.status, saw.console, saw.log, saw.firesAfter, saw.endsAfter, saw.statusAfter)
	return saw
}

// look looks at status, console and logs until they say what they should.
func (n *night) look(e event, began time.Time, saw *seen) {
	n.t.Helper()
	if e.need != "" {
		need := regexp.MustCompile(e.need)
		n.await(needsWithin, "ushuru status says "+e.need, func() bool {
			e.keeps(n.nightService)
			saw.status = lineOf(n.command("ushuru status").out, need)
			return saw.status != ""
		})
		if e.console {
			n.await(needsWithin, "the console says "+e.need, func() bool {
				saw.console = lineOf(n.console(), need)
				return saw.console != ""
			})
		}
	}
	if e.log != "" {
		log := regexp.MustCompile(e.log)
		n.await(needsWithin, "a log says "+e.log, func() bool {
			saw.log = n.logged(began.Add(-time.Second), log)
			return saw.log != ""
		})
	}
}

// await waits until something is so; when it is not, the drill goes on to see the rest.
func (n *night) await(within time.Duration, what string, is func() bool) time.Duration {
	n.t.Helper()
	start := time.Now()
	looks := time.NewTicker(100 * time.Millisecond)
	defer looks.Stop()
	for ; !is(); <-looks.C {
		if time.Since(start) > within {
			n.wrong = true
			n.t.Errorf("not within %v: %s\n%s", within, what, n.text())
			break
		}
	}
	return time.Since(start)
}

// lineOf returns the line that matches.
func lineOf(text string, pattern *regexp.Regexp) string {
	for line := range strings.Lines(text) {
		if pattern.MatchString(line) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// oftenWith fires with many: a person who waits for two seconds is one who waits for two
// minutes here.
const oftenWith = "UshuruPeopleWait"

// What docs/night.md shows of what a command printed: bytes of a line, and how many first
// and last lines.
const (
	lineShown = 100
	endsShown = 2
)

// shorten returns what docs/night.md shows of what a command printed.
func shorten(printed string) string {
	lines := strings.Split(strings.TrimRight(printed, "\n"), "\n")
	for i, line := range lines {
		lines[i] = line[:min(len(line), lineShown)]
	}
	if len(lines) > 2*endsShown+1 {
		lines = slices.Concat(lines[:endsShown], []string{"…"}, lines[len(lines)-endsShown:])
	}
	return strings.Join(lines, "\n")
}

// String is what docs/night.md shows.
func (s seen) String() string {
	var text strings.Builder
	for i, did := range s.did {
		if slices.ContainsFunc(s.did[:i], func(before ran) bool { return before.command == did.command }) {
			continue // how it looks when all is well again
		}
		did.out = shorten(did.out)
		text.WriteString("\n" + did.String() + "\n")
	}
	return strings.Trim(text.String(), "\n")
}

var (
	wholeNight = flag.Bool("night", false, "provoke every alert")
	nightOnly  = flag.String("night.only", "", "provoke the alerts whose name matches, with -night")
)

// inShort are the alerts that go test provokes: they fire within seconds.
var inShort = []string{"UshuruRedisDown", "UshuruNotScraped"}

// Each alert is provoked, one after the other; without -night those that are quick.
func TestAlertsAreProvoked(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	n := newNight(t)
	n.checkPanels()
	for _, e := range events() {
		if *wholeNight && regexp.MustCompile(*nightOnly).MatchString(e.alert) || !*wholeNight && slices.Contains(inShort, e.alert) {
			saw := n.live(e)
			if *update && !n.wrong {
				write(t, saw)
			}
		}
	}
}

// write writes what was seen of an alert into the document.
func write(t *testing.T, saw seen) {
	t.Helper()
	path := testenv.InRepository(t, "docs", "night.md")
	text, err := os.ReadFile(path)
	must(t, err)
	begins, ends := "<!-- "+saw.alert+": written by make night -->\n", "<!-- end of "+saw.alert+" -->"
	before, rest, has := strings.Cut(string(text), begins)
	_, after, closed := strings.Cut(rest, ends)
	if !has || !closed {
		t.Fatalf("%s has no place for %s", path, saw.alert)
	}
	must(t, os.WriteFile(path, []byte(before+begins+"```console\n"+saw.String()+"\n```\n"+ends+after), 0o600))
}
