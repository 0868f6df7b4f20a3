package worker

import "ushuru/pkg/batch"

// fairShares says how many rows of each batch may begin, so that no more than
// window are at work at once over all. Each goes to the key with the fewest
// rows at work, and of its batches to that with the fewest; among equals, to
// that which had no turn for longest, in whose order they come.
func fairShares(open []batch.ActiveBatch, window int) map[string]int {
	ofKey := map[string]int{}
	running := make([]int, len(open))
	waiting := make([]int, len(open))
	free := window
	for i, b := range open {
		running[i], waiting[i] = b.Running, b.Waiting
		ofKey[b.Owner] += b.Running
		free -= b.Running
	}
	shares := map[string]int{}
	for ; free > 0; free-- {
		next := -1
		for i, b := range open {
			if waiting[i] == 0 {
				continue
			}
			if next < 0 || ofKey[b.Owner] < ofKey[open[next].Owner] ||
				b.Owner == open[next].Owner && running[i] < running[next] {
				next = i
			}
		}
		if next < 0 {
			break
		}
		shares[open[next].ID]++
		ofKey[open[next].Owner]++
		running[next]++
		waiting[next]--
	}
	return shares
}
