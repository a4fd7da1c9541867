//go:build !(js && wasm)

package brontide

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
)

// slots are the handshakes that a Listener has under way. When there are too
// many, the oldest gives way: an honest peer is done within a round trip or two,
// while those who stall to keep others out are the ones that grow old.
type slots struct {
	total, perIP int
	// end closes a carrier and does not wait for that.
	end func(net.Conn)
	// shut is closed with the listener.
	shut chan struct{}

	mu     sync.Mutex
	closed bool
	// open has the slots in the order in which they were taken.
	open   *list.List
	origin map[netip.Prefix]int
}

// slot is one handshake under way.
type slot struct {
	carrier net.Conn
	origin  netip.Prefix
	// place is nil once the slot has been freed or taken away.
	place   *list.Element
	evicted bool
}

func newSlots(total, perIP int, end func(net.Conn)) *slots {
	return &slots{
		end:    end,
		total:  total,
		perIP:  perIP,
		shut:   make(chan struct{}),
		open:   list.New(),
		origin: make(map[netip.Prefix]int),
	}
}

// take makes room if need be and returns a slot for carrier. After close it
// closes carrier, so that the handshake ends at once.
func (s *slots) take(carrier net.Conn) *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	slot := &slot{carrier: carrier, origin: originOf(carrier.RemoteAddr())}
	if s.closed {
		s.end(carrier)
		return slot
	}
	if s.origin[slot.origin] >= s.perIP {
		s.evict(&slot.origin)
	} else if s.open.Len() >= s.total {
		s.evict(nil)
	}
	slot.place = s.open.PushBack(slot)
	s.origin[slot.origin]++
	return slot
}

// evict ends the oldest handshake, or the oldest of one origin.
func (s *slots) evict(origin *netip.Prefix) {
	for e := s.open.Front(); e != nil; e = e.Next() {
		oldest := e.Value.(*slot)
		if origin == nil || oldest.origin == *origin {
			oldest.evicted = true
			s.remove(oldest)
			s.end(oldest.carrier)
			return
		}
	}
}

// release frees a slot and reports whether it had been taken away.
func (s *slots) release(slot *slot) (evicted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(slot)
	return slot.evicted
}

func (s *slots) remove(slot *slot) {
	if slot.place == nil {
		return
	}
	s.open.Remove(slot.place)
	slot.place = nil
	if s.origin[slot.origin]--; s.origin[slot.origin] == 0 {
		delete(s.origin, slot.origin)
	}
}

// close ends all handshakes under way and those that would come.
func (s *slots) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	close(s.shut)
	for e := s.open.Front(); e != nil; e = e.Next() {
		s.end(e.Value.(*slot).carrier)
	}
}

// originOf returns what MaxHandshakesPerIP counts: an IPv4 address, or the
// 64 bits of an IPv6 address that one subscriber has for himself. All addresses
// that are not of IP count as one.
func originOf(addr net.Addr) netip.Prefix {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	prefix, err := ip.Prefix(bits)
	if err != nil {
		// Only an invalid address has no prefix.
		return netip.Prefix{}
	}
	return prefix
}
