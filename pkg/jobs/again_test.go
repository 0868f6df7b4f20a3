package jobs_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

// sentAgain sends the first pipeline twice, as redisx.Pipelined does when Redis does not know a
// script, and acts in between.
type sentAgain struct{ act func(id string) }

func (*sentAgain) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*sentAgain) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (h *sentAgain) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		err, act := next(ctx, commands), h.act
		if err != nil || act == nil { // an error: a server does not know the scripts yet
			return err
		}
		h.act = nil
		create := commands[len(commands)-1].Args() // evalsha, hash, 4, the keys, id, …
		act(fmt.Sprint(create[7]))
		return next(ctx, commands)
	}
}

// A job that is cancelled between the two sendings of its create stays cancelled.
func TestACreateThatIsSentAgainBringsNothingBack(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store := jobs.NewStore(conn.Client())
		wanted := newJob("https://cars.example/1")
		wanted.Subscriber = "job:P"
		warm, _, err := store.Create(t.Context(), newJob("https://cars.example/2")) // Redis knows the scripts
		must(t)(err)
		_, err = store.Unsubscribe(t.Context(), warm.ID, "job:none")
		must(t)(err)
		conn.Client().AddHook(&sentAgain{act: func(id string) {
			if ended, err := store.Unsubscribe(t.Context(), id, "job:P"); !ended || err != nil {
				t.Fatalf("cancelled %t, %v", ended, err)
			}
			job, err := store.Get(t.Context(), id)
			must(t)(err)
			_, err = store.PublishEnd(t.Context(), job, 0)
			must(t)(err)
		}})
		job, _, err := store.Create(t.Context(), wanted, "scrape")
		must(t)(err)
		if now, err := store.Get(t.Context(), job.ID); err != nil || now.State != jobs.Cancelled {
			t.Errorf("got %v, %v, want the job cancelled", now, err)
		}
	})
}
