//go:build !js

package bridge

import "sync"

// pipes are the open ones. Its zero value has none.
type pipes struct {
	mu      sync.Mutex
	open    map[*pipe]struct{}
	stopped func(*pipe) // what becomes of those that are added late
}

func (s *pipes) add(p *pipe) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped != nil {
		s.stopped(p)
		return
	}
	if p.finished {
		return
	}
	if s.open == nil {
		s.open = map[*pipe]struct{}{}
	}
	s.open[p] = struct{}{}
}

func (s *pipes) remove(p *pipe) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.finished = true
	delete(s.open, p)
}

// endAll ends all pipes in good order, and those that will be added.
func (s *pipes) endAll() { s.stop(func(p *pipe) { p.end(endShutdown) }) }

// killAll cuts all pipes off, and those that will be added.
func (s *pipes) killAll() { s.stop((*pipe).kill) }

func (s *pipes) stop(how func(*pipe)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = how
	for p := range s.open {
		how(p)
	}
}
