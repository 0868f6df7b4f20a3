package worker

import (
	"maps"
	"slices"
	"testing"
	"time"

	"ushuru/tasks"
)

// Far from Redis a task of a person has a server of its own, and more than one
// fetches those of batches.
func TestAFarWorkerFetchesEachClassByItself(t *testing.T) {
	t.Parallel()
	far := pace{far: true, interactive: time.Second, bulk: 4 * time.Second}
	fetching := map[string]int{}
	for _, server := range far.serversOf(tasks.RoleAuthority, 8) {
		names := slices.Collect(maps.Keys(server.queues))
		if len(names) != 1 || server.concurrency != 8 {
			t.Errorf("a server of %v with %d slots", names, server.concurrency)
		}
		if want := map[bool]time.Duration{false: far.interactive, true: far.bulk}[tasks.IsBulkQueue(names[0])]; server.check != want {
			t.Errorf("%s is looked at every %v, want %v", names[0], server.check, want)
		}
		fetching[names[0]]++
	}
	if fetching["authority"] != 1 || fetching["authority_bulk"] != 2 {
		t.Errorf("servers %v", fetching)
	}
	if near := (pace{}).serversOf(tasks.RoleAuthority, 8); len(near) != 1 || len(near[0].queues) != 2 {
		t.Errorf("near: %v", near)
	}
}
