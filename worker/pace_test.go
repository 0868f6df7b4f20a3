package worker

import (
	"maps"
	"slices"
	"testing"
	"time"

	"ushuru/tasks"
)

// A task of a person has a server of its own; far from Redis more than one fetches
// those of batches.
func TestAWorkerFetchesEachClassByItself(t *testing.T) {
	t.Parallel()
	far := pace{far: true, interactive: time.Second, bulk: 4 * time.Second}
	fetching, slots := map[string]int{}, map[string]int{}
	for _, server := range far.serversOf(tasks.RoleAuthority, 32) {
		names := slices.Collect(maps.Keys(server.queues))
		if len(names) != 1 {
			t.Fatalf("a server of %v", names)
		}
		slots[names[0]] += server.concurrency
		if want := map[bool]time.Duration{false: far.interactive, true: far.bulk}[tasks.IsBulkQueue(names[0])]; server.check != want {
			t.Errorf("%s is looked at every %v, want %v", names[0], server.check, want)
		}
		fetching[names[0]]++
	}
	if fetching["authority"] != 1 || fetching["authority_bulk"] != 2 {
		t.Errorf("servers %v", fetching)
	}
	if slots["authority"] != 32 || slots["authority_bulk"] != 32 {
		t.Errorf("slots %v", slots)
	}
	if near := (pace{}).serversOf(tasks.RoleAuthority, 32); len(near) != 2 || len(near[0].queues) != 1 {
		t.Errorf("near: %v", near)
	}
}
