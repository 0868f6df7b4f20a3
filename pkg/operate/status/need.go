package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ushuru/pkg/tra"
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

// From which parts on something needs attention, in percent.
const (
	aiPercent    = 80
	keyPercent   = 90
	redisPercent = 80
)

// authorityDownAfter is how long TRA's calculator may be down.
const authorityDownAfter = 5 * time.Minute

// roleKept is for how long a role that no worker has any more is missed.
const roleKept = 7 * 24 * time.Hour

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

// commands are the first commands to run; %s is what a need is about.
var commands = map[string]string{
	NeedSite: "ushuru sites pause %s", NeedWorker: "ushuru health", NeedAuthority: "ushuru authority check",
	NeedRefused: "ushuru authority check", NeedRules: "ushuru drift", NeedAI: "ushuru ai budget", NeedKey: "ushuru keys limit %s",
	NeedWebhook: "ushuru webhooks show --operator %s", NeedRedis: "redis-cli info memory",
	NeedAnswers: "ushuru authority check", NeedList: "ushuru authority sync", NeedPeople: "ushuru jobs list --operator",
	NeedBatches: "ushuru batches list --operator --running", NeedWrites: "redis-cli info memory", NeedAPI: "ushuru health",
	NeedLoss:   "redis-cli info persistence",
	NeedErrors: "ushuru jobs list --operator --state failed",
}

// NeedsOf returns what needs attention, the urgent first.
func (s *Status) NeedsOf() []Need {
	needs := make([]Need, 0, len(s.Unread))
	for _, rule := range []func() []Need{
		s.writeNeeds, s.lossNeeds, s.authorityNeeds, s.workerNeeds, s.siteNeeds, s.redisNeeds, s.ruleNeeds, s.aiNeeds, s.keyNeeds,
		s.webhookNeeds, s.unreadNeeds, s.answerNeeds, s.listNeeds, s.waitNeeds, s.apiNeeds, s.errorNeeds,
	} {
		needs = append(needs, rule()...)
	}
	for i, need := range needs {
		needs[i].Command = strings.Replace(commands[need.Code], "%s", need.About, 1)
	}
	slices.SortStableFunc(needs, func(a, b Need) int { return boolCompare(b.Urgent, a.Urgent) })
	return needs
}

func (s *Status) authorityNeeds() []Need {
	a := s.Authority
	switch {
	case a.Reason == string(tra.Refused):
		return []Need{{
			Code: NeedRefused, Urgent: true, Since: a.LastSuccessAt,
			Text: "TRA's calculator refuses the workers: they must call from a Tanzanian address.",
		}}
	case a.State != tra.Down || a.Reason == tra.ReasonNoWorker: // of which the rule of workers tells
		return nil
	}
	down := s.At.Sub(timeOf(a.LastSuccessAt))
	if down <= authorityDownAfter {
		return nil
	}
	text := fmt.Sprintf("TRA's calculator does not answer (%s).", cmp.Or(string(a.ErrorKind), "unknown"))
	return []Need{{Code: NeedAuthority, Urgent: true, Since: a.LastSuccessAt, Text: text}}
}

func (s *Status) workerNeeds() (needs []Need) {
	for _, role := range s.Workers {
		text := fmt.Sprintf("%d tasks wait for the role %s, which no worker has.", role.Waiting, role.Role)
		if role.Waiting == 0 {
			text = fmt.Sprintf("No worker has the role %s.", role.Role)
		}
		lately := s.At.Sub(timeOf(role.LastBeat)) < roleKept
		if len(role.Workers) == 0 && (role.Waiting > 0 || lately) {
			needs = append(needs, Need{Code: NeedWorker, About: role.Role, Urgent: true, Since: role.LastBeat, Text: text})
		}
	}
	return needs
}

func (s *Status) siteNeeds() (needs []Need) {
	for _, site := range s.Sites {
		if site.unreadable() {
			needs = append(needs, Need{
				Code: NeedSite, About: site.Host, Since: site.LastGood, Urgent: true,
				Text: fmt.Sprintf("No page of %s could be read: 0 of %d.", site.name(), site.tries),
			})
		}
	}
	return needs
}

func (s *Status) redisNeeds() []Need {
	if p := s.Redis.Percent(); p >= redisPercent {
		return []Need{{
			Code: NeedRedis, Urgent: true,
			Text: fmt.Sprintf("Redis uses %d %% of its memory. When it is full no work is accepted.", p),
		}}
	}
	return nil
}

func (s *Status) ruleNeeds() []Need {
	if agree := s.Authority.Rules.RulesAgree; agree != nil && !*agree {
		return []Need{{
			Code: NeedRules, Since: s.Authority.Rules.Since,
			Text: fmt.Sprintf("Answers of TRA do not follow the rules of %s: the law may have changed.", s.Authority.Rules.Rules),
		}}
	}
	return nil
}

func (s *Status) aiNeeds() []Need {
	if p := s.AI.Percent(); p >= aiPercent {
		return []Need{{Code: NeedAI, Text: fmt.Sprintf("The AI has used %d %% of today's tokens.", p)}}
	}
	return nil
}

func (s *Status) keyNeeds() (needs []Need) {
	for _, key := range s.Keys {
		if near, ok := key.Nearest(); ok && near.Percent() >= keyPercent {
			needs = append(needs, Need{
				Code: NeedKey, About: key.ID,
				Text: fmt.Sprintf("The key %s (…%s) uses %d %% of its %s.",
					key.Name, key.Hint, near.Percent(), limitNames[near.What]),
			})
		}
	}
	return needs
}

// limitNames are what limits are called in sentences.
var limitNames = map[string]string{
	UseJobs: "running jobs", UseRows: "listings in batches", UseBytes: "bytes", UseTokens: "tokens of the AI",
}

func (s *Status) webhookNeeds() (needs []Need) {
	for _, w := range s.Webhooks {
		if w.Disabled != "" {
			needs = append(needs, Need{
				Code: NeedWebhook, About: w.ID,
				Text: fmt.Sprintf("A webhook of %s at %s is disabled: %s.", w.Name, w.Host, w.Disabled),
			})
		}
	}
	return needs
}

func (s *Status) unreadNeeds() (needs []Need) {
	for _, unread := range s.Unread {
		needs = append(needs, Need{Code: NeedReading, Text: "This could not be read: " + unread + "."})
	}
	return needs
}
