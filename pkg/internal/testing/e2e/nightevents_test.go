package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"ushuru/pkg/ai/aitest"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/tra/tratest"
)

// faulty has TRA's calculator misbehave.
func faulty(f tratest.Faults) func(*nightService) {
	return func(s *nightService) { s.authority.SetFaults(f) }
}

// recovers ends that.
func recovers(s *nightService) { s.authority.SetFaults(healthy) }

// askOne is a caller who asks for a car that is not known.
func askOne(s *nightService) { s.ask(1) }

// askAI is a caller who asks for a car whose label the AI must choose.
func askAI(s *nightService) {
	c := s.take(1)[0]
	parts := strings.Split(c["modelBody"].(string), " - ")
	c["model"] = parts[0]
	delete(c, "modelBody")
	s.post("/v1/quote", c)
}

// events are all that an operator is woken for, in an order in which none spoils the next.
func events() []event {
	all := siteEvents()
	all = append(all, workEvents()...)
	all = append(all, authorityEvents()...)
	return append(all, redisEvents()...)
}

func siteEvents() []event {
	return []event{{
		alert: "UshuruSiteBlocks", metric: `sum by (site) (increase(ushuru_fetches_total{outcome=~"listing_blocked|robots_forbidden"}[60s])) > 0`,
		provoke: func(s *nightService) {
			s.site.blocks.Store(true)
			for _, path := range s.site.paths[:12] {
				s.post("/v1/estimate", map[string]string{"url": s.site.URL + path}, "Prefer", "respond-async")
			}
		},
		need: `No page of .* could be read: 0 of \d+\.`, console: true, log: `listing_blocked`,
		commands: []string{"ushuru sites pause 127.0.0.1", "ushuru sites list", "ushuru sites resume 127.0.0.1"},
		end:      func(s *nightService) { s.site.blocks.Store(false) },
	}, {
		alert: "UshuruBatchesWait", metric: `max(ushuru_jobs_oldest_seconds{class="bulk"})`,
		provoke: func(s *nightService) {
			s.site.slow.Store(int64(10 * time.Second))
			var rows []map[string]string
			for i, path := range s.site.paths[20:80] {
				address := strings.Replace(s.site.URL, "127.0.0.1", fmt.Sprintf("127.0.5.%d", i+1), 1)
				rows = append(rows, map[string]string{"url": address + path})
			}
			s.named = strings.NewReplacer("BATCH", s.create("/v1/batches", map[string]any{"items": rows}))
		},
		need: `^any_bulk `, commands: []string{"ushuru batches list", "ushuru batches cancel BATCH"},
		end: func(s *nightService) { s.site.slow.Store(0) },
	}}
}

// create creates something with the API and returns its id.
func (s *nightService) create(path string, body any) string {
	s.t.Helper()
	status, answer := s.post(path, body)
	var created struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(answer, &created) != nil || created.ID == "" {
		s.t.Fatalf("%s: %d %s", path, status, answer)
	}
	return created.ID
}

func workEvents() []event {
	return []event{{
		alert: "UshuruPeopleWait", metric: `max(ushuru_jobs_oldest_seconds{class="interactive"})`,
		provoke: func(s *nightService) {
			s.authority.SetFaults(tratest.Faults{Latency: tratest.Duration(4 * time.Second)})
			s.ask(50)
		},
		need: `A person has waited for .* for the oldest job that has not ended\.`, console: true,
		commands: []string{"ushuru jobs list --state running | head -2", "ushuru status | head -6"}, end: recovers,
		with: []string{"UshuruErrorBudget"},
	}, {
		alert: "UshuruNoWorker", metric: `max by (role) (ushuru_workers{role="authority"})`,
		provoke: func(s *nightService) { s.processes["worker-authority"].Kill() },
		need:    `[Nn]o worker`, console: true, on: "worker-authority", with: []string{"UshuruNotScraped", "UshuruAuthorityDown"},
		commands: []string{"ushuru health"}, end: func(s *nightService) { s.run("worker-authority") }, after: []string{"ushuru health"},
	}, {
		alert: "UshuruNotScraped", metric: `min(up{job="ushuru"})`,
		provoke: func(s *nightService) { s.processes["worker-ai"].Kill() }, on: "worker-ai", with: []string{"UshuruNoWorker"},
		commands: []string{"ushuru health"}, end: func(s *nightService) { s.run("worker-ai") }, after: []string{"ushuru health"},
	}, {
		alert: "UshuruNoAPI", metric: `count(up{job="ushuru",service="api"} == 1)`,
		provoke: func(s *nightService) { s.processes["api"].Kill() },
		need:    `No API is alive`, commands: []string{"ushuru health"}, with: []string{"UshuruNotScraped"},
		end:   func(s *nightService) { s.run("api") },
		after: []string{"ushuru health"},
	}, {
		alert: "UshuruAIFails", metric: `sum by (model) (increase(ushuru_ai_calls_total{outcome!~"ok|budget"}[15s]))`,
		provoke: func(s *nightService) { s.ai.SetFaults(aitest.Faults{Status: http.StatusInternalServerError}) },
		keep:    askAI,
		need:    `The last \d+ calls of the AI simulated have failed, most of them in 24 hours with unavailable\.`, console: true,
		log: `an AI endpoint gave no good answer`, commands: []string{"ushuru status | head -2"},
		end: func(s *nightService) { s.ai.SetFaults(aitest.Faults{}) },
	}, {
		alert: "UshuruAIBudget", metric: `max(ushuru_ai_budget_used_tokens) / max(ushuru_ai_budget_tokens)`,
		keep:    askAI,
		provoke: func(*nightService) {},
		// The limit is that of the workers, not of the operator's shell.
		need: `The AI has used \d+ % of today's tokens\.`, console: true,
		commands: []string{"ushuru ai budget", "ushuru ai budget 200000"},
	}, {
		alert: "UshuruWebhookDead", metric: `sum(increase(ushuru_webhook_attempts_total{outcome=~"given_up|gone"}[60s]))`,
		provoke: func(s *nightService) {
			gone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusGone)
			}))
			s.t.Cleanup(gone.Close)
			id := s.create("/v1/webhooks", map[string]any{"url": gone.URL, "events": []string{"job.completed"}})
			s.named = strings.NewReplacer("WEBHOOK", id)
		},
		need: `A webhook of .* is disabled`, console: true, log: `answered 410`,
		commands: []string{"ushuru webhooks list"},
	}}
}

func authorityEvents() []event {
	check := []string{"ushuru authority check"}
	return []event{{
		alert: "UshuruAuthorityAnswersChanged", metric: `sum(increase(ushuru_authority_calls_total{outcome="bad_answer"}[15s]))`,
		provoke: faulty(tratest.Faults{TinyTotals: true}), keep: askOne, need: `TRA's calculator answers in a form that cannot be read\.`, console: true,
		log: `bad_answer`, commands: check, end: recovers, with: []string{"UshuruPeopleWait"},
	}, {
		alert: "UshuruLawChanged", metric: `max(sum by (line) (increase(ushuru_authority_rules_differences_total[60s])))`,
		provoke: faulty(tratest.Faults{OtherLaw: true}), keep: askOne,
		need: `Answers of TRA do not follow the rules of \S+: the law may have changed\.`, console: true,
		log: `answer differs from the rules in force`, commands: []string{"ushuru drift | head -2 | cut -c 1-600"}, end: recovers,
	}, {
		alert: "UshuruListQuarantined", metric: `max(ushuru_catalogue_quarantined)`,
		provoke: func(s *nightService) {
			s.authority.SetFaults(tratest.Faults{ShortLists: 3})
			s.command("ushuru authority sync")
		},
		need: `lists of TRA differ so much`, console: true, log: `quarantine`, commands: []string{"ushuru authority sync"}, end: recovers,
		after: []string{"ushuru authority sync"},
	}, {
		alert: "UshuruAuthorityRefuses", metric: `max(ushuru_authority_outage{reason="refused"})`,
		provoke: faulty(tratest.Faults{RefuseRegion: true}), keep: askOne,
		need: `TRA's calculator refuses the workers: they must call from a Tanzanian address\.`, console: true, log: `refuse`,
		commands: check, end: recovers, after: []string{"ushuru breaker reset"}, with: []string{"UshuruPeopleWait"},
	}, {
		alert: "UshuruAuthorityCertificate", metric: `max(ushuru_authority_outage{reason="certificate"})`,
		provoke: func(s *nightService) {
			untrusted := httptest.NewTLSServer(http.NotFoundHandler())
			s.t.Cleanup(untrusted.Close)
			trusted := s.authority.URL
			s.moveAuthority(untrusted.URL)
			s.repair = func() { s.moveAuthority(trusted) }
		},
		need: `The certificate of TRA's calculator, or of the proxy to it, is not valid\.`, console: true, log: `certificate`,
		commands: check, end: func(s *nightService) { s.repair() }, with: []string{"UshuruPeopleWait", "UshuruNotScraped"},
	}, {
		alert: "UshuruAuthorityDown", metric: `max(ushuru_authority_state{state="down"})`,
		provoke: faulty(tratest.Faults{Status: 503}), keep: askOne,
		need: `TRA's calculator does not answer \(unavailable\)\.`, console: true, log: `unavailable`,
		commands: check, end: recovers, after: []string{"ushuru breaker reset"}, with: []string{"UshuruPeopleWait"},
	}}
}

// moveAuthority has the worker of the role authority, and the operator, call another address.
func (s *nightService) moveAuthority(url string) {
	s.authority.URL = url
	worker := s.processes["worker-authority"]
	worker.Kill()
	worker.args = authorityWorker(s)
	s.run(worker.name)
}

// configure sets a setting of Redis.
func (s *nightService) configure(name, value string) {
	s.t.Helper()
	conn := redistest.Open(s.t, s.redis.URL)
	must(s.t, conn.Client().ConfigSet(s.t.Context(), name, value).Err())
	must(s.t, conn.Close())
}

// ballast is what fills Redis, in bytes of a key.
const ballast = 1 << 20

func redisEvents() []event {
	return []event{{
		alert: "UshuruRedisDown", metric: `count(ushuru_redis_up == 0)`, provoke: func(s *nightService) { s.redis.Kill() },
		need: `connection refused`, log: `Redis`, commands: []string{"redis-cli -u $REDIS_URL ping", "ushuru health"},
		end: func(s *nightService) { s.redis.Restart() }, after: []string{"redis-cli -u $REDIS_URL ping", "ushuru health"},
		with: []string{"UshuruErrorBudget"},
	}, {
		alert: "UshuruRedisFull", metric: `max(ushuru_redis_memory_bytes) / max(ushuru_redis_memory_limit_bytes)`,
		provoke: func(s *nightService) {
			conn := redistest.Open(s.t, s.redis.URL)
			for i := range maxMemory / ballast {
				memory, err := redisx.ReadMemory(s.t.Context(), conn.Client())
				must(s.t, err)
				if memory.Used > maxMemory*85/100 {
					break
				}
				must(s.t, conn.Client().SetRange(s.t.Context(), fmt.Sprintf("ballast:%d", i), ballast, "x").Err())
			}
			must(s.t, conn.Close())
		},
		need: `Redis uses \d+ % of its memory\. When it is full no work is accepted\.`, console: true,
		commands: []string{
			"redis-cli -u $REDIS_URL info memory | grep -E '^(used_memory_human|maxmemory_human|maxmemory_policy)'",
			"redis-cli -u $REDIS_URL config set maxmemory 128mb",
		},
	}, {
		alert: "UshuruRedisDisk", metric: `max(ushuru_redis_unsaved)`,
		provoke: func(s *nightService) {
			s.configure("stop-writes-on-bgsave-error", "no")
			s.repair = s.redis.FailSaves()
		},
		need: `Redis could not write its disk \(rdb_last_bgsave_status\)`, console: true,
		commands: []string{"redis-cli -u $REDIS_URL info persistence | grep _status"},
		end: func(s *nightService) {
			s.repair()
			s.configure("stop-writes-on-bgsave-error", "yes")
		},
	}, {
		alert: "UshuruRedisVolatile", metric: `max(ushuru_redis_volatile)`,
		provoke: func(s *nightService) { s.configure("appendonly", "no") },
		need:    `Redis keeps no append-only file`, console: true,
		commands: []string{"redis-cli -u $REDIS_URL config set appendonly yes"},
	}, {
		// What a restart with a part of the data does is tried by TestARestartOfTheDeliveredRedisLosesNothing.
		alert: "UshuruRedisLost", metric: `max(ushuru_redis_loss_timestamp_seconds) > bool 0`,
		provoke: func(s *nightService) {
			conn := redistest.Open(s.t, s.redis.URL)
			must(s.t, conn.Client().Del(s.t.Context(), "canary:{0}:written").Err())
			must(s.t, conn.Close())
		},
		need: `Redis has lost writes that it had acknowledged`, console: true, log: `lost writes`,
		commands: []string{
			"redis-cli -u $REDIS_URL info persistence | grep -E '^(loading|aof_enabled|aof_last_write_status|rdb_last_bgsave_status)'",
			"redis-cli -u $REDIS_URL get canary:loss", "redis-cli -u $REDIS_URL del canary:loss",
		},
	}, {
		alert: "UshuruRedisRefusesWrites", metric: `max(ushuru_redis_writable)`,
		provoke: func(s *nightService) { s.repair = s.redis.FailSaves() },
		need:    `Redis refuses writes`, log: `MISCONF`, end: func(s *nightService) { s.repair() },
		commands: []string{"ushuru health", "redis-cli -u $REDIS_URL info persistence | grep status"},
	}, {
		alert: "UshuruErrorBudget", metric: `sum(rate(ushuru_http_requests_total{class="5xx",route=~"/v1/.*"}[5s])) / sum(rate(ushuru_http_requests_total{route=~"/v1/.*"}[5s]))`,
		provoke: func(s *nightService) { s.repair = s.redis.FailSaves() },
		keep:    func(s *nightService) { s.post("/v1/quote", s.cars[0]) },
		need:    `Redis refuses writes`, log: `MISCONF`, end: func(s *nightService) { s.repair() }, commands: []string{"ushuru status | head -2"},
		with: []string{"UshuruRedisRefusesWrites"},
	}}
}
