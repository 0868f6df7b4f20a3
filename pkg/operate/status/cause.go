package status

import (
	"fmt"
	"slices"
	"time"
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
	Page   Severity = "page"
	Ticket Severity = "ticket"
)

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
	return slices.Concat(redisCauses(), processCauses(), handlerCauses(), workCauses(), authorityCauses(), otherCauses())
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
			hold: "5m", after: []string{"UshuruRedisRefusesWrites"},
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
		{
			code: NeedUnsaved, alert: "UshuruRedisDisk", severity: Ticket, command: "redis-cli info persistence",
			find: (*Status).unsavedRedis,
			expr: "max(ushuru_redis_unsaved) == 1", hold: "1m", after: []string{"UshuruRedisDown", "UshuruRedisRefusesWrites"},
			summary: "Redis could not write its disk the last time. When that goes on, it refuses writes or ends.",
			noticed: "nothing yet; when the disk is full, new work is refused",
			over:    "Redis has written its disk",
		},
		{
			code: NeedVolatile, alert: "UshuruRedisVolatile", severity: Ticket, command: "redis-cli config set appendonly yes",
			find: (*Status).volatileRedis,
			expr: "max(ushuru_redis_volatile) == 1", hold: "5m", after: []string{"UshuruRedisDown"},
			summary: "Redis keeps no append-only file. A restart of it loses jobs, batches and keys.",
			noticed: "nothing until Redis is started again",
			over:    "`appendonly` is `yes`",
		},
		{
			code: NeedClock, alert: "UshuruClockWrong", severity: Ticket, command: "redis-cli time", find: (*Status).otherClock,
			expr: fmt.Sprintf("abs(ushuru_clock_offset_seconds) > %g", wrongClock.Seconds()), hold: "5m",
			summary: "The clock of {{ $labels.instance }} is {{ $value | humanizeDuration }} from that of Redis.",
			noticed: "work is done twice or late; dates are wrong",
			over:    "the clocks agree to five seconds",
		},
	}
}

func processCauses() []cause {
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
	}
}

func handlerCauses() []cause {
	return []cause{
		{
			code: NeedOverdue, alert: "UshuruHandlerStuck", severity: Ticket, find: (*Status).overdueHandlers,
			command: "ushuru jobs list --operator --state running",
			expr:    "max(ushuru_tasks_overdue) > 0", after: []string{"UshuruRedisDown"},
			summary: "A handler has not ended though its time was up. It holds a place of its worker, whose log has its stack.",
			noticed: "maybe nothing: other places do the work",
			over:    "the handler has ended, or its worker was started again",
		},
		{
			code: NeedVersions, alert: "UshuruOldVersion", severity: Ticket, command: "ushuru status",
			find: (*Status).oldVersions,
			expr: "count(count by (version, commit) (ushuru_build_info)) > 1", hold: fmt.Sprintf("%gm", upgradeTakes.Minutes()),
			summary: "{{ $value }} versions work beside one another for longer than an upgrade takes.",
			noticed: "answers differ by the process that gives them",
			over:    "the old processes have ended",
		},
	}
}

func workCauses() []cause {
	const errorShare = `sum(rate(ushuru_http_requests_total{class="5xx",route=~"/v1/.*"}[%[1]s])) / ` +
		`sum(rate(ushuru_http_requests_total{route=~"/v1/.*"}[%[1]s])) > %[2]g * 0.001`
	return []cause{
		// Who is not there when work stands still is woken by the alerts of waits.
		{code: NeedPaused, severity: Page, command: "ushuru queues resume %s", find: (*Status).pausedQueues},
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
				"UshuruAuthorityCertificate",
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
				"UshuruAuthorityCertificate",
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
				` and on() max(ushuru_authority_outage{reason=~"refused|certificate|no_worker"}) < 1`,
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
			code: NeedTrust, alert: "UshuruAuthorityCertificate", severity: Page, command: "ushuru authority check",
			find: (*Status).authorityTrust,
			expr: `max(ushuru_authority_outage{reason="certificate"}) == 1`, hold: "2m",
			summary: "The certificate of TRA's calculator, or of the proxy to it, is not valid.",
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
			code: NeedAIFails, alert: "UshuruAIFails", severity: Ticket, command: "ushuru status",
			find: (*Status).failingModels,
			// Three calls: increase extrapolates, and may give a little less. A key that is refused is so
			// with the first, and is left alone for a minute then.
			expr: fmt.Sprintf(
				`(sum by (model) (increase(ushuru_ai_calls_total{outcome!~"ok|budget"}[15m])) > %.1f`+"\n"+
					`or sum by (model) (increase(ushuru_ai_calls_total{outcome="misconfigured"}[15m])) > 0)`+"\n"+
					`unless sum by (model) (increase(ushuru_ai_calls_total{outcome="ok"}[5m])) > 0`, aiFailures-0.5),
			summary: "Every call of the AI {{ $labels.model }} fails. " +
				"Cars without a decisive code are left to the callers' choice.",
			noticed: "sheets are not read; cars without a decisive code have candidates in place of an estimate",
			over:    "the model has answered",
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
