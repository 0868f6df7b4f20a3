package status

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"ushuru/pkg/drift"
	"ushuru/pkg/metrics"
	"ushuru/pkg/tra"
)

// Authority is how TRA's calculator does.
type Authority struct {
	tra.Status

	MedianMS   int64       `json:"medianMs"`   // of the calls that were answered in the last 24 hours
	QuarterEnd time.Time   `json:"quarterEnd"` // when its figures change
	Rules      drift.State `json:"rules"`      // whether its answers follow the dated rules
	Calls      []Calls     `json:"calls"`      // of the last 24 hours, by call
	Hours      []Hour      `json:"hours"`      // calls, the oldest hour first

	Quarantined int64 `json:"quarantined"` // lists that differ so much that they are not used yet
}

// Calls are the calls of a name.
type Calls struct {
	Name   string           `json:"name"`
	OK     int64            `json:"ok"`
	Failed map[string]int64 `json:"failed,omitempty"` // by kind of error
}

// isAnswer reports whether a call to the authority was answered.
func isAnswer(code string) bool { return code == metrics.OK || code == string(tra.NoSuchVehicle) }

func (r *reading) authorityPart(ctx context.Context) (Authority, error) {
	ofTRA := func(what metrics.What) bool { return what.Site == metrics.Authority }
	part := Authority{
		MedianMS:   r.day.Median(ofTRA).Milliseconds(),
		QuarterEnd: tra.QuarterEnd(r.now),
		Calls:      []Calls{}, // also where there was none
		Hours:      r.byHour(func(what metrics.What) (bool, bool) { return isAnswer(what.Code), ofTRA(what) }),
	}
	part.Calls = slices.AppendSeq(part.Calls, maps.Values(r.calls(metrics.Authority, isAnswer)))
	slices.SortFunc(part.Calls, func(a, b Calls) int { return cmp.Compare(a.Name, b.Name) })
	var err, rulesErr error
	part.Status, err = r.authority.Status(ctx)
	part.Rules, rulesErr = r.drift.State(ctx)
	lists, listsErr := r.authority.State(ctx)
	part.Quarantined = lists.Quarantined
	return part, errors.Join(err, rulesErr, listsErr)
}

// calls returns the calls to one side in the last 24 hours, by their names.
func (r *reading) calls(to string, isOK func(code string) bool) map[string]Calls {
	byName := map[string]Calls{}
	for what, n := range r.day.Ended {
		if what.Site != to {
			continue
		}
		calls, known := byName[what.Step]
		if !known {
			calls = Calls{Name: what.Step, Failed: map[string]int64{}}
		}
		if isOK(what.Code) {
			calls.OK += n
		} else {
			calls.Failed[what.Code] += n
		}
		byName[what.Step] = calls
	}
	return byName
}
