package redisx_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/hibiken/asynq"
	"github.com/hibiken/asynqmon"

	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

func TestEveryKindIsShownByAsynqmon(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		client := asynq.NewClient(conn.AsynqOpt())
		defer client.Close()
		_, err := client.Enqueue(asynq.NewTask("t", nil), asynq.Queue("scrape"))
		must(t, err)

		monitor := asynqmon.New(asynqmon.Options{RootPath: "/m", RedisConnOpt: conn.AsynqOpt()})
		for _, path := range []string{"/m/", "/m/api/queues", "/m/api/queues/scrape/pending_tasks", "/m/api/redis_info"} {
			answer := httptest.NewRecorder()
			monitor.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
			if answer.Code != http.StatusOK {
				t.Errorf("%s: %d %s", path, answer.Code, answer.Body)
			}
		}
		must(t, monitor.Close())
		must(t, conn.Client().Ping(t.Context()).Err())
	})
}
