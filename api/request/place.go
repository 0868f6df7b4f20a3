package request

import "ushuru/pkg/pace"

// Place is what a request has while it is computed: its turn at the processors, and, while
// a large body is read, room in memory.
type Place struct {
	Turn    *pace.Turn // nil without one
	Release func()     // gives the room back; nil without one
}

// Leave gives the place back, once the body is not needed.
func (p *Place) Leave() {
	p.Turn.Give()
	if p.Release != nil {
		p.Release()
	}
}
