package web

import "sync"

// place is one of the places that a visitor or a network takes.
type place struct {
	whose string
	most  int
}

// places are those that are taken, of one process.
type places struct {
	mu    sync.Mutex
	taken map[string]int
}

// take takes places until release is called, which is nil when one is not to be had.
func (p *places) take(wanted ...place) (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range wanted {
		if p.taken[w.whose] >= w.most {
			return nil
		}
	}
	if p.taken == nil {
		p.taken = map[string]int{}
	}
	for _, w := range wanted {
		p.taken[w.whose]++
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, w := range wanted {
			if p.taken[w.whose]--; p.taken[w.whose] == 0 {
				delete(p.taken, w.whose)
			}
		}
	}
}
