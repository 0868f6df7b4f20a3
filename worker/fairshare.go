package worker

import "ushuru/pkg/batch"

// parkedWindows is how many times as many rows as run may be parked. Each has a job,
// which the sweeper looks at.
const parkedWindows = 10

// reservedPart is the part of the window that a key gets although others fill it.
const reservedPart = 10

// fairShares returns how many rows of each batch may be submitted, so that at most
// window rows run over all batches. Parked rows do not count, as long as there are not
// too many. Each row goes to the API key with the fewest running rows, and of its
// batches to the one with the fewest; among equals, to the batch that was served least
// recently, which is their order in active. A key that has less than a tenth of the
// window, parked rows included, always gets that: rows of another may run for long.
func fairShares(active []batch.ActiveBatch, window int) map[string]int {
	ofKey, parkedOfKey := map[string]int{}, map[string]int{}
	running := make([]int, len(active))
	waiting := make([]int, len(active))
	free, parked := window, 0
	for i, b := range active {
		running[i], waiting[i] = b.Running-b.Parked, b.Waiting
		ofKey[b.Owner] += running[i]
		free -= running[i]
		parked += b.Parked
		parkedOfKey[b.Owner] += b.Parked
	}
	free -= max(parked-parkedWindows*window, 0)
	shares := map[string]int{}
	for ; ; free-- {
		next := -1
		for i, b := range active {
			if waiting[i] == 0 {
				continue
			}
			if next < 0 || ofKey[b.Owner] < ofKey[active[next].Owner] ||
				b.Owner == active[next].Owner && running[i] < running[next] {
				next = i
			}
		}
		if next < 0 {
			break
		}
		if owner := active[next].Owner; free <= 0 && ofKey[owner]+parkedOfKey[owner] >= window/reservedPart {
			break
		}
		shares[active[next].ID]++
		ofKey[active[next].Owner]++
		running[next]++
		waiting[next]--
	}
	return shares
}
