package visitor

import "sync"

// Place is one of the places that a visitor or a network takes.
type Place struct {
	Whose string
	Most  int
}

// Places are those that are taken, of one process.
type Places struct {
	mu    sync.Mutex
	taken map[string]int
}

// Take takes places until release is called, which is nil when one is not to be had.
func (p *Places) Take(wanted ...Place) (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range wanted {
		if p.taken[w.Whose] >= w.Most {
			return nil
		}
	}
	if p.taken == nil {
		p.taken = map[string]int{}
	}
	for _, w := range wanted {
		p.taken[w.Whose]++
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, w := range wanted {
			if p.taken[w.Whose]--; p.taken[w.Whose] == 0 {
				delete(p.taken, w.Whose)
			}
		}
	}
}
