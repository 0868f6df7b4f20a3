package status

import (
	"cmp"
	_ "embed" // the table
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oasdiff/yaml"

	"ushuru/pkg/jobs"
	"ushuru/pkg/tra"
	"ushuru/tasks"
)

// The thresholds of the causes, for the status and for Prometheus alike.
const (
	aiPercent          = 80
	aiFailures         = 3 // calls of a model in a row
	keyPercent         = 90
	redisPercent       = 80
	authorityDownAfter = 5 * time.Minute
	peopleWait         = time.Minute
	batchWait          = time.Hour
	enoughTries        = 10 // pages before a site counts as unreadable
	enoughErrors       = 10 // answers of the API
	// errorsPerThousand is 14.4 times what 99.9 % in 30 days allow: two percent of the
	// month's errors in an hour.
	errorsPerThousand = 14.4
	// roleKept is for how long a role that no worker has any more is missed.
	roleKept = 7 * 24 * time.Hour
	// wrongClock is how far a clock may be from that of Redis: leases take seconds.
	wrongClock = 5 * time.Second
	// upgradeTakes is for how long two versions work beside one another in an upgrade.
	upgradeTakes = 30 * time.Minute
)

// Severity says how fast an operator must know of a cause.
type Severity string

// A page wakes the operator: work stands still. A ticket waits for the day.
const (
	page   Severity = "page"
	ticket Severity = "ticket"
)

// cause is one thing that can be ill, as the table has it. What only the alerts have is left out
// here.
type cause struct {
	Code     string   `json:"code"`
	Alert    string   `json:"alert"`
	Severity Severity `json:"severity"`
	Command  string   `json:"command"`
	After    []string `json:"after"`
}

//go:embed causes.yaml
var causesFile []byte

// causes is the table of causes. It panics when the table is broken, which only a broken build has.
var causes = sync.OnceValue(func() (all []cause) {
	if _, err := yaml.Unmarshal(causesFile, &all, yaml.DecodeOpts{}); err != nil {
		panic("status: causes.yaml: " + err.Error())
	}
	return all
})

// finders return what needs attention, by the code of its cause.
var finders = map[string]func(*Status) []Need{
	"redis_refuses":     (*Status).refusedWrites,
	"redis_memory":      (*Status).fullRedis,
	"redis_lost":        (*Status).lostWrites,
	"redis_unsaved":     (*Status).unsavedRedis,
	"redis_volatile":    (*Status).volatileRedis,
	"clock_differs":     (*Status).otherClock,
	"no_api":            (*Status).missingAPI,
	"no_worker":         (*Status).missingWorkers,
	"handler_stuck":     (*Status).overdueHandlers,
	"old_version":       (*Status).oldVersions,
	tasks.QueuePaused:   (*Status).pausedQueues,
	"api_errors":        (*Status).apiErrors,
	"people_wait":       func(s *Status) []Need { return s.waiting(false, peopleWait) },
	"batches_wait":      func(s *Status) []Need { return s.waiting(true, batchWait) },
	"authority_down":    (*Status).authorityDown,
	"authority_refused": (*Status).authorityRefuses,
	"authority_trust":   (*Status).authorityTrust,
	"authority_answers": (*Status).authorityAnswers,
	"rules_differ":      (*Status).otherRules,
	"list_quarantined":  (*Status).quarantinedLists,
	"site_unreadable":   (*Status).unreadableSites,
	"ai_budget":         (*Status).usedBudget,
	"ai_fails":          (*Status).failingModels,
	"webhook_disabled":  (*Status).disabledWebhooks,
	"key_limit":         (*Status).keysNearALimit,
	"not_read":          (*Status).unreadParts,
}

// Need is something that needs an operator's attention.
type Need struct {
	Code  string `json:"code"`
	Text  string `json:"text"`            // a sentence
	About string `json:"about,omitempty"` // the site, role, key or webhook
	// Since is when it was well for the last time, or when it began; null when that is not
	// known.
	Since *time.Time `json:"since,omitempty"`
	// Urgent work stands still; the rest will.
	Urgent bool `json:"urgent"`
	// Command is the first one to run; empty when there is none.
	Command string `json:"command,omitempty"`
}

// NeedsOf returns what needs attention, the urgent first. What follows from a need that is
// there is left out, as its alert is silent.
func (s *Status) NeedsOf() []Need {
	found, ill := map[string][]Need{}, map[string]bool{}
	for _, c := range causes() {
		if find := finders[c.Code]; find != nil { // else only Prometheus can see it
			found[c.Code] = find(s)
			ill[c.Alert] = len(found[c.Code]) > 0
		}
	}
	needs := make([]Need, 0, len(s.Unread))
	for _, c := range causes() {
		if slices.ContainsFunc(c.After, func(alert string) bool { return ill[alert] }) {
			continue
		}
		for _, need := range found[c.Code] {
			need.Code, need.Urgent = c.Code, c.Severity == page
			need.Command = strings.Replace(c.Command, "%s", need.About, 1)
			needs = append(needs, need)
		}
	}
	slices.SortStableFunc(needs, func(a, b Need) int { return boolCompare(b.Urgent, a.Urgent) })
	return needs
}

// one returns a need with a text, when it is there.
func one(is bool, since *time.Time, format string, values ...any) []Need {
	if !is {
		return nil
	}
	return []Need{{Text: fmt.Sprintf(format, values...), Since: since}}
}

func (s *Status) refusedWrites() []Need {
	return one(s.Redis.Refuses != "", nil, "Redis refuses writes, and new work with them: %s", s.Redis.Refuses)
}

func (s *Status) lostWrites() []Need {
	if s.Redis.Loss == nil {
		return nil
	}
	return one(true, &s.Redis.Loss.At, "Redis has lost writes that it had acknowledged: jobs, batches and keys may be gone.")
}

func (s *Status) fullRedis() []Need {
	p := s.Redis.Percent()
	return one(p >= redisPercent, nil, "Redis uses %d %% of its memory. When it is full no work is accepted.", p)
}

func (s *Status) unsavedRedis() []Need {
	return one(s.Redis.Unsaved != "", nil, "Redis could not write its disk (%s): when that goes on, it refuses writes or ends.",
		s.Redis.Unsaved)
}

// volatileRedis leaves out what a worker was told to allow.
func (s *Status) volatileRedis() []Need {
	allowed := slices.ContainsFunc(s.Workers, func(role Role) bool {
		return slices.ContainsFunc(role.Workers, func(w jobs.Worker) bool { return w.AllowVolatile })
	})
	return one(s.Redis.Volatile && !allowed, nil,
		"Redis keeps no append-only file: a restart of it loses jobs, batches and keys.")
}

func (s *Status) otherClock() []Need {
	away := time.Duration(s.Redis.AheadMS) * time.Millisecond
	return one(away.Abs() > wrongClock, nil, "The clock of this machine is %v from that of Redis: leases and dates go wrong.",
		away.Round(time.Second))
}

// workers returns the workers that live, each once.
func (s *Status) workers() (all []jobs.Worker) {
	for _, role := range s.Workers {
		for _, worker := range role.Workers {
			if !slices.ContainsFunc(all, func(w jobs.Worker) bool { return w.ID == worker.ID }) {
				all = append(all, worker)
			}
		}
	}
	return all
}

func (s *Status) overdueHandlers() (needs []Need) {
	for _, worker := range s.workers() {
		for _, name := range worker.Overdue {
			needs = append(needs, Need{About: name, Text: fmt.Sprintf("A handler of %s has not ended though its time was up."+
				" The log of worker %s has its stack; it holds a place until that worker is started again.", name, worker.ID)})
		}
	}
	return needs
}

// oldVersions looks at what has lived beside another version for longer than an upgrade takes.
func (s *Status) oldVersions() []Need {
	versions := map[string]bool{}
	for _, worker := range s.workers() {
		if s.At.Sub(worker.Started) > upgradeTakes {
			versions[worker.Version] = true
		}
	}
	return one(len(versions) > 1, nil, "Workers of several versions work beside one another: %s.",
		strings.Join(slices.Sorted(maps.Keys(versions)), ", "))
}

// missingAPI looks where workers live: elsewhere nothing runs yet.
func (s *Status) missingAPI() []Need {
	lives := slices.ContainsFunc(s.Workers, func(role Role) bool { return len(role.Workers) > 0 })
	return one(lives && len(s.API.Processes) == 0, nil, "No API is alive: no caller is answered.")
}

func (s *Status) apiErrors() []Need {
	many := s.API.Errors >= enoughErrors && float64(s.API.Errors)*1000 > errorsPerThousand*float64(s.API.Answers)
	return one(many, nil, "%d of the last %d answers of the API are errors of ours, most of them %s.",
		s.API.Errors, s.API.Answers, s.API.Reason)
}

func (s *Status) missingWorkers() (needs []Need) {
	for _, role := range s.Workers {
		text := fmt.Sprintf("%d tasks wait for the role %s, which no worker has.", role.Waiting, role.Role)
		if role.Waiting == 0 {
			text = fmt.Sprintf("No worker has the role %s.", role.Role)
		}
		lately := s.At.Sub(timeOf(role.LastBeat)) < roleKept
		if len(role.Workers) == 0 && (role.Waiting > 0 || lately) {
			needs = append(needs, Need{About: role.Role, Since: role.LastBeat, Text: text})
		}
	}
	return needs
}

func (s *Status) pausedQueues() (needs []Need) {
	for _, queue := range s.Queues {
		if queue.Paused {
			text := fmt.Sprintf("An operator has paused the queue %s: %d tasks wait in it.",
				queue.Name, queue.Waiting+queue.Delayed)
			needs = append(needs, Need{About: queue.Name, Text: text})
		}
	}
	return needs
}

// waiting returns for how long jobs and queues of people, or of batches, have waited.
func (s *Status) waiting(bulk bool, most time.Duration) (needs []Need) {
	add := func(about string, waited time.Duration, format string, values ...any) {
		if waited = waited.Round(time.Second); waited > most {
			since := s.At.Add(-waited)
			needs = append(needs, Need{About: about, Since: &since, Text: fmt.Sprintf(format, append(values, waited)...)})
		}
	}
	class, text := jobs.Interactive, "A person has waited for the oldest job that has not ended for %v."
	if bulk {
		class, text = jobs.Bulk, "A row of a batch has waited for %v."
	}
	add("", time.Duration(s.OldestMS[class])*time.Millisecond, text)
	for _, queue := range s.Queues {
		if strings.HasSuffix(queue.Name, tasks.BulkSuffix) == bulk {
			add(queue.Name, time.Duration(queue.OldestMS)*time.Millisecond,
				"The oldest of %d tasks in the queue %s has waited for %v.", queue.Waiting, queue.Name)
		}
	}
	return needs
}

func (s *Status) authorityRefuses() []Need {
	return one(s.Authority.Reason == string(tra.Refused), s.Authority.LastSuccessAt,
		"TRA's calculator refuses the workers: they must call from a Tanzanian address.")
}

func (s *Status) authorityTrust() []Need {
	return one(s.Authority.Reason == string(tra.Certificate), s.Authority.LastSuccessAt,
		"The certificate of TRA's calculator, or of the proxy to it, is not valid.")
}

// authorityDown leaves out what other causes tell of: a refusal, and a role without a worker.
func (s *Status) authorityDown() []Need {
	a := s.Authority
	other := slices.Contains([]string{string(tra.Refused), string(tra.Certificate), tra.ReasonNoWorker}, a.Reason)
	down := a.State == tra.Down && !other && s.At.Sub(timeOf(a.LastSuccessAt)) > authorityDownAfter
	return one(down, a.LastSuccessAt, "TRA's calculator does not answer (%s).", cmp.Or(string(a.ErrorKind), "unknown"))
}

// authorityAnswers tells of answers of TRA that cannot be read, which are no outage to the breaker.
func (s *Status) authorityAnswers() []Need {
	a := s.Authority
	failedLast := a.LastFailureAt != nil && timeOf(a.LastFailureAt).After(timeOf(a.LastSuccessAt))
	return one(a.State == tra.Degraded && a.ErrorKind == tra.BadAnswer && failedLast, a.LastSuccessAt,
		"TRA's calculator answers in a form that cannot be read.")
}

func (s *Status) otherRules() []Need {
	rules := s.Authority.Rules
	return one(rules.RulesAgree != nil && !*rules.RulesAgree, rules.Since,
		"Answers of TRA do not follow the rules of %s: the law may have changed.", rules.Rules)
}

func (s *Status) quarantinedLists() []Need {
	n := s.Authority.Quarantined
	return one(n > 0, nil, "%d lists of TRA differ so much from the last ones that they are not used yet.", n)
}

func (s *Status) unreadableSites() (needs []Need) {
	for _, site := range s.Sites {
		if site.unreadable() {
			needs = append(needs, Need{
				About: site.Host, Since: site.LastGood,
				Text: fmt.Sprintf("No page of %s could be read: 0 of %d.", site.name(), site.tries),
			})
		}
	}
	return needs
}

func (s *Status) usedBudget() []Need {
	p := s.AI.Percent()
	return one(p >= aiPercent, nil, "The AI has used %d %% of today's tokens.", p)
}

func (s *Status) failingModels() (needs []Need) {
	for _, model := range s.AI.Models {
		if model.InRow > 0 && model.refused {
			needs = append(needs, Need{About: model.Name, Text: fmt.Sprintf("The AI %s refuses our calls (misconfigured):"+
				" its key, the name of the model, its address or its account.", model.Name)})
			continue
		}
		if model.InRow < aiFailures {
			continue
		}
		why := "unknown"
		if kinds := Commonest(model.Failed); len(kinds) > 0 {
			why = kinds[0]
		}
		needs = append(needs, Need{
			About: model.Name,
			Text: fmt.Sprintf("The last %d calls of the AI %s have failed, most of them in 24 hours with %s.",
				model.InRow, model.Name, why),
		})
	}
	return needs
}

// limitNames are what limits are called in sentences.
var limitNames = map[string]string{
	UseJobs: "running jobs", useRows: "listings in batches", UseBytes: "bytes", useTokens: "tokens of the AI",
}

func (s *Status) keysNearALimit() (needs []Need) {
	for _, key := range s.Keys {
		if near, ok := key.Nearest(); ok && near.Percent() >= keyPercent {
			needs = append(needs, Need{
				About: key.ID,
				Text: fmt.Sprintf("The key %s (…%s) uses %d %% of its %s.",
					key.Name, key.Hint, near.Percent(), limitNames[near.What]),
			})
		}
	}
	return needs
}

func (s *Status) disabledWebhooks() (needs []Need) {
	for _, w := range s.Webhooks {
		if w.Disabled != "" {
			text := fmt.Sprintf("A webhook of %s at %s is disabled: %s.", w.Name, w.Host, w.Disabled)
			needs = append(needs, Need{About: w.ID, Text: text})
		}
	}
	return needs
}

func (s *Status) unreadParts() (needs []Need) {
	for _, unread := range s.Unread {
		needs = append(needs, Need{Text: "This could not be read: " + unread + "."})
	}
	return needs
}
