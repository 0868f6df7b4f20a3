package rig_test

import (
	"log/slog"
	"sync"
	"testing"
	"time"

	"ushuru/pkg/app"
	"ushuru/pkg/lab/rig"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra"
	"ushuru/tasks"
)

// A worker of the role authority stands where a reply of Redis takes 300 ms, as in
// Tanzania. It has no code of its own for that: a new vehicle is answered in time, sixty
// new ones at once succeed, and a known one does not cross the line.
func TestAnOrdinaryWorkerAtTheEndOfALongLine(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	ctx, log := t.Context(), slog.New(slog.DiscardHandler)
	server := redistest.Start(t)
	line := redistest.Proxy(t, server.Addr)
	line.Delay(300 * time.Millisecond)
	site, paths, err := rig.Vehicles()
	if err != nil {
		t.Fatal(err)
	}
	near, err := rig.Start(ctx, rig.Options{
		Redis: redistest.Open(t, server.URL), Log: log, Pages: site, Roles: []tasks.Role{tasks.RoleAny},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(near.Stop)
	far, err := app.New(app.Options{Redis: redistest.Open(t, line.URL), Log: log, Simulated: true, Worker: &app.WorkerOptions{
		Roles: []tasks.Role{tasks.RoleAuthority}, ShutdownTimeout: 10 * time.Second,
		Authority: tra.Options{BaseURL: near.AuthorityURL, Timeout: 10 * time.Second},
	}})
	if err == nil {
		err = far.Start(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(far.Stop)
	if err := near.AwaitCatalogue(ctx); err != nil {
		t.Fatal(err)
	}
	within := func(what, url string, most time.Duration) {
		t.Helper()
		took, err := near.Estimate(ctx, url)
		if err != nil || took > most {
			t.Errorf("%s: %v, %v, want at most %v", what, took, err, most)
		}
		t.Log(what, took)
	}
	within("a new vehicle", near.Site+paths[0]+"?first", 6*time.Second)
	within("a known vehicle", near.Site+paths[0]+"?again", time.Second)
	started := time.Now()
	var people sync.WaitGroup
	for _, path := range paths[1:61] {
		people.Go(func() {
			if took, err := near.Estimate(ctx, near.Site+path+"?new"); err != nil {
				t.Errorf("%s after %v: %v", path, took, err)
			}
		})
	}
	people.Wait()
	t.Log("sixty new vehicles", time.Since(started))
}
