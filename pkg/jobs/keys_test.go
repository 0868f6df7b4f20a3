package jobs_test

import (
	"encoding/json"
	"testing"
	"time"

	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

// A job that an earlier version created has its keys in the slot of its id. It is
// read, continued and ended as any other.
func TestJobsOfEarlierVersionsContinue(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		const id = "01M80N75DF8J3PCNXGPMEAXCSD"
		store, ctx := jobs.NewStore(conn.Client()), t.Context()
		must(t)(conn.Client().HSet(ctx, "job:{"+id+"}",
			"meta", `{"kind":"estimate","class":"interactive","owner":"key1","input":{"url":"u"},"flight":"0123456789abcdef",`+
				`"created":"2026-11-21T09:00:00Z","deadline":"2099-11-21T09:10:00Z"}`,
			"state", "running", "o:scrape", `{"car":{}}`, "s:scrape:attempt", 1, "s:scrape:state", "done",
			"s:match:attempt", 1, "s:match:state", "ready", "s:match:since", time.Now().UnixMilli()).Err())
		must(t)(conn.Client().SAdd(ctx, "parents:{"+id+"}", "batch:b#1").Err())
		result, job, err := store.Claim(ctx, id, "match", 1, "w", "claim")
		must(t)(err)
		if result != jobs.Claimed || string(job.Outputs["scrape"]) != `{"car":{}}` {
			t.Fatalf("%s %+v", result, job)
		}
		_, err = store.Complete(ctx, id, "match", json.RawMessage(`{}`), "calculate")
		must(t)(err)
		finished, err := store.Finish(ctx, job, json.RawMessage(`{"a":1}`), "calculate")
		must(t)(err)
		if len(finished.Subscribers) != 1 {
			t.Errorf("%+v", finished)
		}
		must(t)(store.MarkFinalized(ctx, job))
		if ended, err := store.Get(ctx, id); err != nil || ended.State != jobs.Succeeded || string(ended.Result) != `{"a":1}` {
			t.Errorf("%+v, %v", ended, err)
		}
	})
}
