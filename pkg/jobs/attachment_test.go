package jobs_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/jobs"
	"ushuru/pkg/message"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
)

// TestWhatACallerSentEndsWithItsJob: whichever way the job ends, and also when the
// same is sent twice.
func TestWhatACallerSentEndsWithItsJob(t *testing.T) {
	image := make([]byte, 12<<20)
	_, _ = rand.Read(image)
	page := []byte(strings.Repeat("<p>カローラ</p>", 10_000))
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		store := jobs.NewStore(conn.Client())
		for name, c := range map[string]struct {
			content []byte
			end     func(job *jobs.Job) error
		}{
			"success": {image, func(job *jobs.Job) error {
				_, _, err := store.End(t.Context(), job, jobs.End{State: jobs.Succeeded, Result: []byte(`{}`)})
				return err
			}},
			"failure": {page, func(job *jobs.Job) error {
				_, _, err := store.End(t.Context(), job, jobs.End{State: jobs.Failed, Error: &jobs.Error{Notice: message.Notice{Code: "refused"}}})
				return err
			}},
			"cancelled": {[]byte{}, func(job *jobs.Job) error {
				_, _, err := store.End(t.Context(), job, jobs.End{State: jobs.Cancelled})
				return err
			}},
		} {
			n := newJob("https://attached.example/" + name)
			n.Attachment = c.content
			job, _, err := store.Create(t.Context(), n)
			must(t)(err)
			again, joined, err := store.Create(t.Context(), n)
			must(t)(err)
			if !joined || again.ID != job.ID {
				t.Errorf("%s: not joined", name)
			}
			if got, err := store.Attachment(t.Context(), job.ID); err != nil || !bytes.Equal(got, c.content) {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
			kept := "upload:{" + job.ID[26:] + "}:" + job.ID
			if all := attachments(t, conn); !slices.Equal(all, []string{kept}) {
				t.Errorf("%s: %q are stored for one job", name, all)
			}
			if left := conn.Client().TTL(t.Context(), kept).Val(); left < 29*time.Minute || left > 30*time.Minute {
				t.Errorf("%s: expires in %v", name, left)
			}
			if size := conn.Client().StrLen(t.Context(), kept).Val(); name == "failure" && size > int64(len(page)/8) {
				t.Errorf("a page of %d bytes takes %d", len(page), size)
			}
			must(t)(c.end(job))
			if _, err := store.Attachment(t.Context(), job.ID); !errors.Is(err, jobs.ErrNoAttachment) {
				t.Errorf("after %s: %v", name, err)
			}
			if all := attachments(t, conn); len(all) != 0 {
				t.Errorf("after %s: %q are stored", name, all)
			}
		}
	})
}

// attachments returns the keys of all attachments.
func attachments(t *testing.T, conn *redisx.Conn) []string {
	t.Helper()
	cluster, ok := conn.Client().(*redis.ClusterClient)
	if !ok {
		return conn.Client().Keys(t.Context(), "upload:*").Val()
	}
	var (
		mu  sync.Mutex
		all []string
	)
	must(t)(cluster.ForEachMaster(t.Context(), func(ctx context.Context, node *redis.Client) error {
		found, err := node.Keys(ctx, "upload:*").Result()
		mu.Lock()
		defer mu.Unlock()
		all = append(all, found...)
		return err
	}))
	return all
}
