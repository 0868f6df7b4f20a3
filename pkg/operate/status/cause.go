package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/tra"
	"ushuru/tasks"
)

// The codes of what needs attention.
const (
	NeedSite      = "site_unreadable"   // no page of a site could be read
	NeedWorker    = "no_worker"         // tasks wait for a role that no worker has
	NeedAuthority = "authority_down"    // TRA's calculator has not answered for long
	NeedRefused   = "authority_refused" // TRA's calculator refuses the workers
	NeedRules     = "rules_differ"      // TRA's answers do not follow the dated rules
	NeedAI        = "ai_budget"         // most of the day's tokens are used
	NeedKey       = "key_limit"         // a key is near a limit
	NeedWebhook   = "webhook_disabled"  // nothing is sent to an endpoint
	NeedRedis     = "redis_memory"      // Redis is nearly full
	NeedReading   = "not_read"          // a part of the status could not be read
	NeedAnswers   = "authority_answers" // TRA's calculator answers in a form that is not known
	NeedList      = "list_quarantined"  // a list of TRA is not used
	NeedPeople    = "people_wait"       // jobs of people, or tasks in a queue of theirs, wait for long
	NeedBatches   = "batches_wait"      // tasks of batches do
	NeedWrites    = "redis_refuses"     // Redis refuses writes
	NeedLoss      = "redis_lost"        // Redis has lost what it had acknowledged
	NeedAPI       = "no_api"            // there are workers, and no API
	NeedErrors    = "api_errors"        // the API answers too often with errors of ours
)

// The thresholds of the causes, for the status and for Prometheus alike.
const (
	aiPercent          = 80
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
)

// Severity says how fast an operator must know of a cause.
type Severity string

// A page wakes the operator: work stands still. A ticket waits for the day.
const (
	Page   Severity = "page"
	Ticket Severity = "ticket"
)

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

// cause is one thing that can be ill. The table of causes makes the needs of the status and
// of the console, deploy/prometheus/alerts.yml, the inhibitions of Alertmanager and the head
// of docs/night.md: `go test ./pkg/operate/status -update` writes the files.
type cause struct {
	code     string // of the need; "" when only Prometheus can see it
	alert    string // "" when only the status tells of it
	severity Severity
	command  string // the first one to run; %s is what the need is about
	find     func(*Status) []Need

	expr    string // of Prometheus
	hold    string // for how long expr must hold; "" is at once
	summary string // of the alert
	noticed string // what people notice
	over    string // when the alert ends
	// after are the alerts from which this one follows: it is silent while one of them fires.
	after []string
	// silent is a further matcher of Alertmanager on what is silent then; "" is all of it.
	silent string
}

// causes returns the table. What stops everything comes first.
func causes() []cause {
	return slices.Concat(redisCauses(), processCauses(), authorityCauses(), otherCauses())
}

func redisCauses() []cause {
	return []cause{
		{
			alert: "UshuruRedisDown", severity: Page, command: "redis-cli ping",
			// Of each process: an API that is cut off serves no one, whatever the others reach.
			expr: "count(ushuru_redis_up == 0) > 0", hold: "30s",
			summary: "{{ $value }} processes do not reach Redis. An API among them answers every request 503.",
			noticed: "every request is answered 503, `ushuru status` cannot connect",
			over:    "the API and the workers reach it again; nothing needs a restart",
		},
		{
			code: NeedWrites, alert: "UshuruRedisRefusesWrites", severity: Page, command: "redis-cli info persistence",
			find: (*Status).refusedWrites,
			expr: "max(ushuru_redis_writable) == 0", hold: "1m", after: []string{"UshuruRedisDown"},
			summary: "Redis answers and refuses writes. New work is answered 503, and what runs stands still.",
			noticed: "new work is answered 503, what runs stands still; known answers are still given",
			over:    "`ushuru health` says ok",
		},
		{
			code: NeedRedis, alert: "UshuruRedisFull", severity: Page, command: "redis-cli info memory",
			find: (*Status).fullRedis,
			expr: fmt.Sprintf("max(ushuru_redis_memory_bytes) / (max(ushuru_redis_memory_limit_bytes) > 0) > %.2g",
				redisPercent/100.0),
			hold:    "5m",
			summary: "Redis uses {{ $value | humanizePercentage }} of its memory. When it is full, new work is refused.",
			noticed: "nothing yet; when it is full, new work is refused",
			over:    fmt.Sprintf("less than %d %% of `maxmemory` is used", redisPercent),
		},
		{
			code: NeedLoss, alert: "UshuruRedisLost", severity: Page, command: "redis-cli info persistence",
			find:    (*Status).lostWrites,
			expr:    "max(ushuru_redis_loss_timestamp_seconds) > 0",
			summary: "Redis has lost writes that it had acknowledged. Jobs, batches and keys may be gone.",
			noticed: "jobs and batches that were accepted are not found",
			over:    "an operator has deleted `canary:loss`, or a day has passed",
		},
	}
}

func processCauses() []cause {
	const errorShare = `sum(rate(ushuru_http_requests_total{class="5xx",route=~"/v1/.*"}[%[1]s])) / ` +
		`sum(rate(ushuru_http_requests_total{route=~"/v1/.*"}[%[1]s])) > %[2]g * 0.001`
	return []cause{
		{
			// A container that is gone is no target of Prometheus any more, and so not "up == 0".
			code: NeedAPI, alert: "UshuruNoAPI", severity: Page, command: "ushuru health", find: (*Status).missingAPI,
			expr: `absent(up{job="ushuru",service="api"} == 1)`, hold: "1m",
			summary: "No API answers Prometheus.",
			noticed: "no page and no answer at all",
			over:    "an API answers Prometheus",
		},
		{
			alert: "UshuruNotScraped", severity: Page, command: "ushuru health",
			expr: `up{job="ushuru"} == 0 or absent(up{job="ushuru"})`, hold: "2m",
			// Without a service when Prometheus finds no process at all.
			after: []string{"UshuruNoAPI"}, silent: `service=~"|api"`,
			summary: "{{ $labels.instance }} does not answer Prometheus.",
			noticed: "maybe nothing: another process does the work",
			over:    "the process answers Prometheus",
		},
		{
			// A Redis that refuses writes takes no heartbeats either, and has an alert of its own.
			code: NeedWorker, alert: "UshuruNoWorker", severity: Page, command: "ushuru health", find: (*Status).missingWorkers,
			expr: "max by (role) (ushuru_workers) == 0 unless on() max(ushuru_redis_writable) == 0", hold: "1m",
			after:   []string{"UshuruRedisDown", "UshuruRedisRefusesWrites"},
			summary: "No worker of the role {{ $labels.role }} lives.",
			noticed: "jobs of one kind stand still",
			over:    "a worker of the role sends its heartbeat",
		},
		{
			// One error among a few requests of a quiet night wakes no one.
			code: NeedErrors, alert: "UshuruErrorBudget", severity: Page, command: "ushuru jobs list --operator --state failed",
			find: (*Status).apiErrors,
			expr: fmt.Sprintf(errorShare, "1h", errorsPerThousand) + "\nand " + fmt.Sprintf(errorShare, "5m", errorsPerThousand) +
				fmt.Sprintf("\n"+`and on() sum(increase(ushuru_http_requests_total{class="5xx",route=~"/v1/.*"}[1h])) >= %d`,
					enoughErrors),
			after: []string{"UshuruRedisDown", "UshuruRedisRefusesWrites", "UshuruNoAPI"},
			summary: "{{ $value | humanizePercentage }} of the API's answers are 5xx:" +
				" the error budget of the month is gone in two days.",
			noticed: "callers complain of errors",
			over:    "the last five minutes were good",
		},
		{
			// The queue alone does not tell: a task that waits for a limit, of TRA or of a site, is
			// taken from it and comes back as a new one.
			code: NeedPeople, alert: "UshuruPeopleWait", severity: Page, command: "ushuru jobs list --operator",
			find: func(s *Status) []Need { return s.waiting(false, peopleWait) },
			expr: fmt.Sprintf(`max by (class) (ushuru_jobs_oldest_seconds{class="interactive"}) > %[1]g`+"\n"+
				`or max by (queue) (ushuru_queue_oldest_seconds{queue=~"any|authority|ai|webhook"}) > %[1]g`,
				peopleWait.Seconds()),
			hold: "2m",
			after: []string{
				"UshuruRedisDown", "UshuruRedisRefusesWrites", "UshuruNoWorker", "UshuruAuthorityDown", "UshuruAuthorityRefuses",
			},
			summary: "Work for people ({{ $labels.class }}{{ $labels.queue }}) has waited for {{ $value | humanizeDuration }}.",
			noticed: "pages show that a car waits for long",
			over:    "the oldest task waits less than a minute",
		},
		{
			code: NeedBatches, alert: "UshuruBatchesWait", severity: Ticket, command: "ushuru batches list --operator --running",
			find: func(s *Status) []Need { return s.waiting(true, batchWait) },
			expr: fmt.Sprintf(`max by (class) (ushuru_jobs_oldest_seconds{class="bulk"}) > %[1]g`+"\n"+
				`or max by (queue) (ushuru_queue_oldest_seconds{queue=~".*_bulk"}) > %[1]g`, batchWait.Seconds()),
			hold: "15m",
			after: []string{
				"UshuruRedisDown", "UshuruRedisRefusesWrites", "UshuruNoWorker", "UshuruAuthorityDown", "UshuruAuthorityRefuses",
			},
			summary: "A row of a batch ({{ $labels.class }}{{ $labels.queue }}) has waited for {{ $value | humanizeDuration }}.",
			noticed: "batches take longer than their callers expect",
			over:    "the oldest row waits less than an hour",
		},
	}
}

func authorityCauses() []cause {
	return []cause{
		{
			code: NeedAuthority, alert: "UshuruAuthorityDown", severity: Page, command: "ushuru authority check",
			find: (*Status).authorityDown,
			expr: `max(ushuru_authority_state{state="down"}) == 1` +
				` and on() max(ushuru_authority_outage{reason=~"refused|no_worker"}) < 1`,
			hold:    fmt.Sprintf("%gm", authorityDownAfter.Minutes()),
			summary: "TRA's calculator has not answered for five minutes. New cars wait; known ones are answered.",
			noticed: "new cars wait; known ones are answered",
			over:    "`ushuru authority check` succeeds; the breaker closes within a minute",
		},
		{
			code: NeedRefused, alert: "UshuruAuthorityRefuses", severity: Page, command: "ushuru authority check",
			find: (*Status).authorityRefuses,
			expr: `max(ushuru_authority_outage{reason="refused"}) == 1`, hold: "2m",
			summary: "TRA's calculator refuses every worker, as it does outside Tanzania.",
			noticed: "new cars wait; known ones are answered",
			over:    "`ushuru authority check` succeeds",
		},
		{
			code: NeedAnswers, alert: "UshuruAuthorityAnswersChanged", severity: Page, command: "ushuru authority check",
			find:    (*Status).authorityAnswers,
			expr:    `sum(increase(ushuru_authority_calls_total{outcome="bad_answer"}[15m])) > 3`,
			summary: "TRA's calculator answers in a form that cannot be read.",
			noticed: "new cars fail",
			over:    "fifteen minutes without such an answer",
		},
		{
			// By line, so that an answer counts once. The rules before those in force do not
			// count: rules_answers_total has them too, and most answers differ from those.
			code: NeedRules, alert: "UshuruLawChanged", severity: Ticket, command: "ushuru drift", find: (*Status).otherRules,
			expr:    "max(sum by (line) (increase(ushuru_authority_rules_differences_total[1h]))) > 5",
			summary: "TRA's answers no longer follow the dated rules. Its figures are used; ours for other days may be wrong.",
			noticed: "figures for other days may be wrong",
			over:    "an hour without such an answer; the console says it for a week, or until the rules are corrected",
		},
		{
			code: NeedList, alert: "UshuruListQuarantined", severity: Ticket, command: "ushuru authority sync",
			find: (*Status).quarantinedLists,
			expr: "max(ushuru_catalogue_quarantined) > 0", hold: "15m",
			summary: "TRA's list of vehicles differs so much from the last one that it is not used yet.",
			noticed: "maybe nothing",
			over:    "the list is taken or repaired",
		},
	}
}

func otherCauses() []cause {
	return []cause{
		{
			code: NeedSite, alert: "UshuruSiteBlocks", severity: Ticket, command: "ushuru sites pause %s",
			find: (*Status).unreadableSites,
			expr: fmt.Sprintf(
				`sum by (site) (increase(ushuru_fetches_total{outcome=~"listing_blocked|robots_forbidden"}[1h])) >= %d`+"\n"+
					`and sum by (site) (increase(ushuru_fetches_total{outcome="ok"}[1h])) < 1`, enoughTries),
			summary: "{{ $labels.site }} blocks us: no page of it was read in an hour.",
			noticed: "cars of one site cannot be read",
			over:    "a page of the site is read, or an hour has passed",
		},
		{
			code: NeedAI, alert: "UshuruAIBudget", severity: Ticket, command: "ushuru ai budget", find: (*Status).usedBudget,
			expr: fmt.Sprintf("max(ushuru_ai_budget_used_tokens) / (max(ushuru_ai_budget_tokens) > 0) > %.2g",
				aiPercent/100.0),
			summary: "{{ $value | humanizePercentage }} of the AI's tokens of this day are used. Then sheets are not read.",
			noticed: "auction sheets are soon not read",
			over:    "the day ends in Dar es Salaam, or the limit is raised",
		},
		{
			code: NeedWebhook, alert: "UshuruWebhookDead", severity: Ticket, command: "ushuru webhooks show --operator %s",
			find:    (*Status).disabledWebhooks,
			expr:    `sum(increase(ushuru_webhook_attempts_total{outcome=~"given_up|gone"}[1h])) > 0`,
			summary: "Events of a webhook were given up, or its endpoint has gone.",
			noticed: "one receiver gets no events",
			over:    "an hour has passed; the owner enables the webhook",
		},
		{code: NeedKey, severity: Ticket, command: "ushuru keys limit %s", find: (*Status).keysNearALimit},
		{code: NeedReading, severity: Ticket, find: (*Status).unreadParts},
	}
}

// NeedsOf returns what needs attention, the urgent first. What follows from a need that is
// there is left out, as its alert is silent.
func (s *Status) NeedsOf() []Need {
	var found []cause
	needs := make([]Need, 0, len(s.Unread))
	byAlert := map[string]bool{}
	perCause := map[string][]Need{}
	for _, c := range causes() {
		if c.find == nil {
			continue
		}
		if of := c.find(s); len(of) > 0 {
			found = append(found, c)
			perCause[c.code] = of
			byAlert[c.alert] = true
		}
	}
	for _, c := range found {
		if slices.ContainsFunc(c.after, func(alert string) bool { return byAlert[alert] }) {
			continue
		}
		for _, need := range perCause[c.code] {
			need.Code, need.Urgent = c.code, c.severity == Page
			need.Command = strings.Replace(c.command, "%s", need.About, 1)
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

func (s *Status) missingAPI() []Need {
	return one(s.API.known && len(s.API.Processes) == 0, nil, "No API is alive: no caller is answered.")
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

// authorityDown leaves out what other causes tell of: a refusal, and a role without a worker.
func (s *Status) authorityDown() []Need {
	a := s.Authority
	other := a.Reason == string(tra.Refused) || a.Reason == tra.ReasonNoWorker
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

// limitNames are what limits are called in sentences.
var limitNames = map[string]string{
	UseJobs: "running jobs", UseRows: "listings in batches", UseBytes: "bytes", UseTokens: "tokens of the AI",
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
