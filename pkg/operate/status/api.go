package status

import (
	"context"
	"strings"

	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx"
	"ushuru/pkg/settings"
	"ushuru/pkg/stat"
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
