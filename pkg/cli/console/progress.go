package console

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Progress is a line that says how far a command has come. On a terminal it is
// overwritten, and removed at the end. Elsewhere only the first text is printed, on a
// line of its own.
type Progress struct {
	w        io.Writer
	terminal bool
	began    time.Time
	stop     chan struct{}

	mu    sync.Mutex
	text  string
	ended bool
}

const (
	progressInterval = time.Second
	clearLine        = "\r\x1b[K"
	noWrap, wrap     = "\x1b[?7l", "\x1b[?7h" // a narrow terminal cuts the line
)

// NewProgress returns a Progress on standard error. A silent one prints nothing where
// standard error is not a terminal: a program reads it there.
func (s Streams) NewProgress(silent bool) *Progress {
	p := &Progress{w: s.Err, terminal: IsTerminal(s.Err), began: time.Now(), stop: make(chan struct{})}
	if !p.terminal && silent {
		p.w = io.Discard
	}
	if p.terminal {
		go p.tick()
	}
	return p
}

// Show replaces the text.
func (p *Progress) Show(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := p.text == ""
	p.text = text
	switch {
	case p.terminal:
		p.draw()
	case first:
		_, _ = fmt.Fprintln(p.w, Printable(text))
	}
}

// End removes the line.
func (p *Progress) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.ended = true
	close(p.stop)
	if p.terminal && p.text != "" {
		_, _ = io.WriteString(p.w, clearLine)
	}
}

// tick shows that time passes while the text stays.
func (p *Progress) tick() {
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-ticker.C:
			p.mu.Lock()
			p.draw()
			p.mu.Unlock()
		}
	}
}

// draw writes the line. The caller holds the lock.
func (p *Progress) draw() {
	if p.ended || p.text == "" {
		return
	}
	_, _ = fmt.Fprintf(p.w, "%s%s%v  %s%s", clearLine, noWrap, time.Since(p.began).Round(time.Second), Printable(p.text), wrap)
}
