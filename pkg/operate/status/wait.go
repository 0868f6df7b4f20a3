package status

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx"
	"ushuru/pkg/settings"
	"ushuru/pkg/stat"
	"ushuru/pkg/tra"
	"ushuru/tasks"
)

// How long a job of people and one of a batch may wait, and a task in a queue of theirs, as in
// the alerts.
const (
	peopleWait = time.Minute
	batchWait  = time.Hour
)

// The answers of the API may be errors of ours so often, as in the alerts: 14.4 times what 99.9 %
// allow, and not just a few.
const (
	errorsPerThousand = 14.4
	enoughErrors      = 10
)

// API is how the API does.
type API struct {
	Processes []string `json:"processes"`        // that are alive, or were killed less than a minute ago
	Answers   int64    `json:"answers"`          // in this hour, and in the last when there were few
	Errors    int64    `json:"errors"`           // of them: those with a status of 5xx
	Reason    string   `json:"reason,omitempty"` // their commonest code

	known bool // there are processes that say what they are
}

func (r *reading) apiPart(ctx context.Context) (part API, err error) {
	processes, err := settings.List(ctx, r.redis)
	for _, process := range processes {
		part.known = true
		roles, _, _ := strings.Cut(process.Name, " ")
		if strings.Contains("+"+roles+"+", "+api+") {
			part.Processes = append(part.Processes, process.Name)
		}
	}
	for _, hour := range r.hours[:2] {
		if part.Answers < enoughErrors {
			part.add(hour.Counts)
		}
	}
	return part, err
}

func (a *API) add(counts stat.Counts) {
	most := int64(0)
	for what, n := range counts.Ended {
		if what.Site != stat.API {
			continue
		}
		a.Answers += n
		if what.Code == stat.OK {
			continue
		}
		if a.Errors += n; n > most {
			most, a.Reason = n, what.Code
		}
	}
}

// answerNeeds tells of answers of TRA that cannot be read, which are no outage to the breaker.
func (s *Status) answerNeeds() []Need {
	a := s.Authority
	failedLast := a.LastFailureAt != nil && timeOf(a.LastFailureAt).After(timeOf(a.LastSuccessAt))
	if a.State != tra.Degraded || a.ErrorKind != tra.BadAnswer || !failedLast {
		return nil
	}
	return []Need{{
		Code: NeedAnswers, Urgent: true, Since: a.LastSuccessAt, Text: "TRA's calculator answers in a form that cannot be read.",
	}}
}

func (s *Status) listNeeds() []Need {
	if s.Authority.Quarantined == 0 {
		return nil
	}
	text := fmt.Sprintf("%d lists of TRA differ so much from the last ones that they are not used yet.", s.Authority.Quarantined)
	return []Need{{Code: NeedList, Text: text}}
}

func (r *reading) ages(ctx context.Context) (ages map[jobs.Class]int64, err error) {
	ages = map[jobs.Class]int64{}
	for _, class := range []jobs.Class{jobs.Interactive, jobs.Bulk} {
		since, err := r.jobs.Oldest(ctx, class)
		if err != nil {
			return ages, err
		}
		if !since.IsZero() {
			ages[class] = max(r.now.Sub(since).Milliseconds(), 0)
		}
	}
	return ages, nil
}

func (s *Status) waitNeeds() (needs []Need) {
	for _, rule := range []struct {
		class      jobs.Class
		code, text string
		most       time.Duration
	}{
		{jobs.Interactive, NeedPeople, "A person has waited for %v for the oldest job that has not ended.", peopleWait},
		{jobs.Bulk, NeedBatches, "A row of a batch has waited for %v.", batchWait},
	} {
		waited := (time.Duration(s.OldestMS[rule.class]) * time.Millisecond).Round(time.Second)
		if waited <= rule.most {
			continue
		}
		since := s.At.Add(-waited)
		needs = append(needs, Need{
			Code: rule.code, Since: &since, Urgent: rule.code == NeedPeople, Text: fmt.Sprintf(rule.text, waited),
		})
	}
	return append(needs, s.queueNeeds()...)
}

func (s *Status) queueNeeds() (needs []Need) {
	for _, queue := range s.Queues {
		code, most := NeedPeople, peopleWait
		if strings.HasSuffix(queue.Name, tasks.BulkSuffix) {
			code, most = NeedBatches, batchWait
		}
		waited := (time.Duration(queue.OldestMS) * time.Millisecond).Round(time.Second)
		if waited <= most {
			continue
		}
		since := s.At.Add(-waited)
		needs = append(needs, Need{
			Code: code, About: queue.Name, Since: &since, Urgent: code == NeedPeople,
			Text: fmt.Sprintf("The oldest of %d tasks in the queue %s has waited for %v.", queue.Waiting, queue.Name, waited),
		})
	}
	return needs
}

// refusal is how much is shown of why Redis refuses a write, in bytes.
const refusal = 100

// writes returns why Redis refuses writes; "" when it does not.
func (r *reading) writes(ctx context.Context) string {
	err := redisx.CheckWrite(ctx, r.redis)
	if err == nil {
		return ""
	}
	text := err.Error()
	return text[:min(len(text), refusal)]
}

func (s *Status) writeNeeds() []Need {
	if s.Redis.Refuses == "" {
		return nil
	}
	return []Need{{Code: NeedWrites, Urgent: true, Text: "Redis refuses writes, and new work with them: " + s.Redis.Refuses}}
}

func (s *Status) lossNeeds() []Need {
	if s.Redis.Loss == nil {
		return nil
	}
	return []Need{{
		Code: NeedLoss, Urgent: true, Since: &s.Redis.Loss.At,
		Text: "Redis has lost writes that it had acknowledged: jobs, batches and keys may be gone.",
	}}
}

func (s *Status) apiNeeds() []Need {
	if !s.API.known || len(s.API.Processes) > 0 {
		return nil
	}
	return []Need{{Code: NeedAPI, Urgent: true, Text: "No API is alive: no caller is answered."}}
}

func (s *Status) errorNeeds() []Need {
	if s.API.Errors < enoughErrors || float64(s.API.Errors)*1000 <= errorsPerThousand*float64(s.API.Answers) {
		return nil
	}
	return []Need{{
		Code: NeedErrors,
		Text: fmt.Sprintf("%d of the last %d answers of the API are errors of ours, most of them %s.",
			s.API.Errors, s.API.Answers, s.API.Reason),
	}}
}
