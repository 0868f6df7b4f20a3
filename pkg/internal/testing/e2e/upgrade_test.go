package e2e

import (
	"flag"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ushuru/pkg/cli/clitest"
	"ushuru/pkg/client"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra/tratest"
)

var (
	upgradeFrom = flag.String("upgrade.from", "", "commit whose program TestUpgradeAndRollbackLoseNothing builds as the old one; without it the old one is the new one")
	upgradeRows = flag.Int("upgrade.rows", 12, "listings of each of its batches")
)

// upgrade is a service on one Redis whose processes are of two versions.
type upgrade struct {
	*faultRun

	old  string // the program of the old version
	came <-chan received
	hook string // id of the webhook
}

// An old and a new version run on one Redis, in every mixture that an upgrade and a rollback
// have, each with a batch that runs through it. Nothing is lost or doubled, and each version
// reads what the other has written.
func TestUpgradeAndRollbackLoseNothing(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	u := startUpgrade(t)
	oldAPI, newAPI := u.startAPI(u.old), u.startAPI("ushuru")
	oldWorker := u.startWorker(u.old)
	u.use(oldAPI)
	u.createHook()

	// The upgrade of the workers: both versions on one queue, then the old API and the new worker.
	u.submitBatch(1)
	u.waitFor(len(u.lots.urls) / 4)
	newWorker := u.startWorker("ushuru")
	u.end(oldWorker)
	u.batchIsWhole(oldAPI, newAPI)
	u.answersAre(oldAPI, newAPI)

	// The upgrade of the API, and the rollback of the workers: a batch of the new API that
	// the old worker ends.
	u.use(newAPI)
	u.submitBatch(2)
	u.waitFor(len(u.lots.urls) / 4)
	oldWorker = u.startWorker(u.old)
	u.end(newWorker)
	u.batchIsWhole(newAPI, oldAPI)
	u.answersAre(newAPI, oldAPI)

	// The rollback of the API.
	u.end(newAPI)
	u.use(oldAPI)
	u.submitBatch(3)
	u.batchIsWhole(oldAPI)
	u.end(oldWorker)
	u.end(oldAPI)
}

func startUpgrade(t *testing.T) *upgrade {
	t.Helper()
	server := redistest.Start(t, redistest.AOF())
	conn := redistest.Open(t, server.URL)
	u := &upgrade{old: "ushuru", faultRun: &faultRun{stack: newStack(t, conn), url: server.URL}}
	u.authority.SetFaults(tratest.Faults{Latency: tratest.Duration(100 * time.Millisecond)})
	if *upgradeFrom != "" {
		u.old = programOf(t, *upgradeFrom)
	}
	return u
}

// programOf builds the program of a commit.
func programOf(t *testing.T, commit string) string {
	t.Helper()
	git, dir := testenv.Binary(t, "git"), filepath.Join(t.TempDir(), "source")
	run := func(in, name string, args ...string) error {
		command := exec.CommandContext(t.Context(), name, args...)
		command.Dir = in
		out, err := command.CombinedOutput()
		if err != nil {
			t.Logf("%s %v: %v\n%s", name, args, err, out)
		}
		return err
	}
	here := testenv.InRepository(t)
	if run(here, git, "cat-file", "-e", commit+"^{commit}") != nil { // a shallow clone, or a history that was squashed
		testenv.Missing(t, "the commit", commit)
	}
	must(t, run(here, git, "worktree", "add", "--detach", dir, commit))
	t.Cleanup(func() { _ = exec.Command(git, "-C", here, "worktree", "remove", "--force", dir).Run() })
	program := filepath.Join(t.TempDir(), "ushuru-old")
	must(t, run(dir, "go", "build", "-o", program, "."))
	return program
}

func (u *upgrade) startAPI(program string) *clitest.Process {
	u.t.Helper()
	p, err := clitest.StartProgram(u.t, program, nil, "API listening", "api", "--allow-loopback", "--redis-url", u.url,
		"--listen", "127.0.0.1:0", "--drain-delay", "0s", "--key-rate", "0", "--key-jobs", "0")
	must(u.t, err)
	return p
}

func (u *upgrade) startWorker(program string) *clitest.Process {
	u.t.Helper()
	p, err := clitest.StartProgram(u.t, program, nil, "worker started", "worker", "--allow-loopback", "--redis-url", u.url,
		"--authority-url", u.authority.URL, "--authority-rate", "0", "--fetch-rate", "0")
	must(u.t, err)
	return p
}

// use has the requests that follow go to an API.
func (u *upgrade) use(api *clitest.Process) {
	u.base = "http://" + api.Started.Address
	u.own = u.base
}

// end stops a process as a deployment does.
func (u *upgrade) end(p *clitest.Process) {
	u.t.Helper()
	must(u.t, p.Signal(syscall.SIGTERM))
	if err := p.Wait(); err != nil {
		u.t.Errorf("a process that got the signal to stop: %v\n%s", err, p.Tail())
	}
}

func (u *upgrade) createHook() {
	u.t.Helper()
	url, came := receiver(u.t)
	var hook struct{ ID string }
	u.postInto("/v1/webhooks", `{"url":"`+url+`","events":["batch.completed"]}`, &hook)
	u.came, u.hook = came, hook.ID
}

// submitBatch submits listings that no one has asked for.
func (u *upgrade) submitBatch(seed uint64) {
	u.t.Helper()
	u.lots = newLots(u.t, *upgradeRows, seed)
	body, err := u.lots.body()
	must(u.t, err)
	var created client.Batch
	u.postInto("/v1/batches", string(body), &created)
	u.id = created.ID
}

// batchIsWhole waits for the end of the batch: as each API has it, every row has one outcome,
// no page was read again, and its event came once.
func (u *upgrade) batchIsWhole(apis ...*clitest.Process) {
	u.t.Helper()
	u.waitFor(len(u.lots.urls))
	for _, api := range apis {
		u.use(api)
		if lost, doubled := u.count(); lost+doubled > 0 {
			u.t.Errorf("%d rows are lost, %d doubled", lost, doubled)
		}
	}
	const robots = 1
	if again := int(u.lots.site.requests.Load()) - len(u.lots.urls) - robots; again > robots { // each version may read robots.txt
		u.t.Errorf("%d pages were read again", again)
	}
	if event := arrives(u.t, u.came); !strings.Contains(string(event.body), u.id) {
		u.t.Errorf("not the event of %s: %s", u.id, event.body)
	}
	select {
	case event := <-u.came:
		u.t.Errorf("one more event: %s", event.body)
	default:
	}
	u.use(apis[0])
}

// answersAre has an estimate made through one API, and read through the other, as are all
// records that the key has.
func (u *upgrade) answersAre(first, second *clitest.Process) {
	u.t.Helper()
	u.use(first)
	job := u.submit(newLots(u.t, 1, uint64(time.Now().UnixNano())).urls[0])
	for _, api := range []*clitest.Process{first, second} {
		u.use(api)
		u.succeeds(job)
		paths := []string{"/v1/batches", "/v1/webhooks", "/v1/webhooks/" + u.hook, "/v1/webhooks/" + u.hook + "/deliveries"}
		// Old versions do not list jobs.
		if known := u.do(http.MethodGet, "/openapi.yaml", nil); strings.Contains(string(known.body), "\n  /v1/jobs:\n") {
			paths = append(paths, "/v1/jobs")
		}
		for _, path := range paths {
			if got := u.do(http.MethodGet, path, nil); got.status != http.StatusOK {
				u.t.Errorf("%s: %d %s", path, got.status, got.body)
			}
		}
		if got := u.do(http.MethodGet, "/v1/batches", nil); !strings.Contains(string(got.body), u.id) {
			u.t.Errorf("no batch %s in %s", u.id, got.body)
		}
	}
	u.use(first)
}

// succeeds waits until a job has succeeded, as the API has it.
func (u *upgrade) succeeds(job string) {
	u.t.Helper()
	var got answer
	testenv.Await(u.t, "job "+job, func() (any, bool) {
		got = u.do(http.MethodGet, "/v1/jobs/"+job, nil)
		return string(got.body), strings.Contains(string(got.body), `"succeeded"`)
	})
}
