package tasks_test

import (
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/tasks/enginetest"
)

// TestLostTasksOfAQueue: a task without a lease is active for ever, and an archived one stays
// for 90 days, if nobody looks.
func TestLostTasksOfAQueue(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		client := conn.Client()
		queues, engine := asynq.NewInspectorFromRedisClient(client), enginetest.NewEngine(client)
		put := func(id string) {
			t.Helper()
			if _, err := asynq.NewClientFromRedisClient(client).Enqueue(asynq.NewTask("x", nil), asynq.TaskID(id), asynq.Queue("any")); err != nil {
				t.Fatal(err)
			}
		}
		do := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range []string{"orphan", "old", "new"} {
			put(id)
		}
		const base = "asynq:{any}:"
		do(client.LRem(t.Context(), base+"pending", 0, "orphan").Err())
		do(client.HSet(t.Context(), base+"t:orphan", "state", "active").Err())
		do(client.RPush(t.Context(), base+"active", "orphan", "leased", "nothing").Err())
		do(client.ZAdd(t.Context(), base+"lease", redis.Z{Score: 1, Member: "leased"}).Err())
		do(queues.ArchiveTask("any", "old"))
		do(queues.ArchiveTask("any", "new"))
		ago := float64(time.Now().Add(-8 * 24 * time.Hour).Unix())
		do(client.ZAdd(t.Context(), base+"archived", redis.Z{Score: ago, Member: "old"}).Err())

		for range 2 {
			do(engine.TidyQueues(t.Context()))
		}
		info, err := queues.GetTaskInfo("any", "orphan")
		if err != nil || info.State != asynq.TaskStatePending {
			t.Errorf("the active task without a lease: got %+v, %v, want it pending", info, err)
		}
		if active := client.LRange(t.Context(), base+"active", 0, -1).Val(); len(active) != 1 || active[0] != "leased" {
			t.Errorf("got %q active, want the one with a lease", active)
		}
		archived, err := queues.ListArchivedTasks("any")
		if err != nil || len(archived) != 1 || archived[0].ID != "new" {
			t.Errorf("got %+v, %v archived, want the new one alone", archived, err)
		}
	})
}
