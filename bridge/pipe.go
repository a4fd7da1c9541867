//go:build !js

package bridge

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// pipe carries one connection. Each direction has one goroutine that writes
// what it read before it reads again: a slow receiver on one side so stops the
// sender on the other, and no byte is held beside one chunk for each direction.
type pipe struct {
	ws       *clientConn
	target   *net.TCPConn
	lazy     *lazyReader // reads from target
	throttle throttle
	meter    *meter
	watch    watch

	maxMessage int // bytes in one message of the client

	directions sync.WaitGroup
	left       atomic.Int32 // directions that still run
	writing    atomic.Bool  // up waits for the target
	sending    atomic.Bool  // down waits for the client
	pinging    atomic.Bool  // so does a ping

	ended    atomic.Bool
	done     chan struct{} // closed when ended is set
	killed   atomic.Bool
	finished bool // guarded by pipes
	onEnd    func(ending)

	fromClient atomic.Int64 // bytes written to the target
	fromTarget atomic.Int64 // bytes written to the client
}

// start carries bytes until either side ends, time runs out or end is called. It
// does not wait: onEnd is called after both connections are closed and both
// goroutines are done.
func (p *pipe) start() {
	p.ws.SetReadLimit(-1) // clientStream counts, and ends with a reason of ours
	p.watch.clock = p.ws.carrier.clock
	p.done = make(chan struct{})
	p.left.Store(2)
	p.directions.Add(2)
	p.watch.timer = time.AfterFunc(p.watch.timeouts.handshake, p.look)
	p.watch.enter(awaitActOne)
	go func() { p.up(); p.leave() }()
	go func() { p.down(); p.leave() }()
}

// end ends the pipe, unless it has ended already: the first ending counts, later
// ones follow from it.
func (p *pipe) end(e ending) {
	if p.ended.Swap(true) {
		return
	}
	close(p.done)
	go p.finish(e)
}

// leave marks the end of a direction. A failed write leaves it to the other
// direction to name the ending; when both failed so, both sides are gone.
func (p *pipe) leave() {
	if p.left.Add(-1) == 0 {
		p.end(endNodeLost)
	}
	p.directions.Done()
}

// finish tells the client, lets each side have what is on its way to it, and
// closes both connections.
func (p *pipe) finish(e ending) {
	p.watch.stop()
	patience := p.watch.timeouts.answer
	if e.byNode() {
		patience = p.watch.timeouts.drain
	}
	deadline := time.Now().Add(patience)
	// Errors here mean that a connection is closed already, which is the aim.
	_ = p.target.SetReadDeadline(time.Unix(1, 0))
	_ = p.target.SetWriteDeadline(deadline)
	_ = p.ws.carrier.SetDeadline(deadline)
	_ = p.ws.carrier.sendClose(e.code, e.reason)
	// Up goes on until the client has answered.
	p.directions.Wait()
	_ = p.ws.CloseNow()

	// A node that has not taken anything for long will not do so now.
	if e != endIdle && !p.killed.Load() && p.target.CloseWrite() == nil &&
		p.target.SetReadDeadline(time.Now().Add(p.watch.timeouts.linger)) == nil {
		_, _ = io.CopyN(io.Discard, p.target, lingerBytes)
	}
	_ = p.target.Close()
	p.onEnd(e)
}

// kill drops both connections, however far they are.
func (p *pipe) kill() {
	p.killed.Store(true)
	_ = p.ws.carrier.Conn.Close()
	_ = p.target.Close()
	p.end(endShutdown)
}

// look is the timer's.
func (p *pipe) look() {
	if p.ended.Load() {
		return
	}
	v := p.watch.look(p.ws.carrier.heard.Load(), p.writing.Load() || p.sending.Load())
	if v.ended {
		p.end(v.ending)
		return
	}
	if v.ping && !p.pinging.Swap(true) {
		// Waits behind bytes that the client has not taken. The next look does
		// not wait for it.
		at := p.watch.clock.now() // the answer may be here before the write returns
		if p.ws.carrier.control(framePing, nil) == nil {
			p.watch.pinged.Store(at)
		}
		p.pinging.Store(false)
	}
}

// up carries from the client to the target.
func (p *pipe) up() {
	client := &clientStream{ws: p.ws.Conn, carrier: p.ws.carrier, max: p.maxMessage}
	if p.actOne(client) {
		for p.upChunk(client) {
		}
	}
	// The client may still be sending, and its answer to the close follows.
	client.discard()
}

// upChunk carries what one read brings, which may be several messages.
func (p *pipe) upChunk(client *clientStream) bool {
	// No buffer is held while nothing comes.
	if err := client.await(); err != nil {
		p.endClient(err)
		return false
	}
	c := newChunk()
	defer c.free()
	n, err := client.gather(c.room())
	if err != nil {
		p.endClient(err)
		return false
	}
	if n == 0 {
		return true
	}
	if p.watch.stage.Load() != open {
		p.end(endTooEarly)
		return false
	}
	p.watch.move()
	p.throttle.wait(p.done, n)
	ok := p.writeTarget(c.room()[:n])
	p.watch.move()
	return ok
}

// actOne lets the client's act one through, if it is one.
func (p *pipe) actOne(client *clientStream) bool {
	var act [actSize]byte
	if _, err := io.ReadFull(client, act[:]); err != nil {
		p.endClient(err)
		return false
	}
	whole, err := client.atBoundary()
	switch {
	case err != nil:
		p.endClient(err)
		return false
	case checkAct(&act) != nil:
		p.end(endNotActOne)
		return false
	case !whole:
		p.end(endTooEarly)
		return false
	}
	p.watch.enter(awaitActTwo)
	return p.writeTarget(act[:])
}

// endClient ends the pipe after a read from the client failed.
func (p *pipe) endClient(err error) {
	switch {
	case errors.Is(err, errText):
		p.end(endText)
	case errors.Is(err, errTooBig):
		p.end(endTooBig)
	default:
		p.end(endClientClosed)
	}
}

// writeTarget ends its direction when it fails, but not the pipe: what the
// target had sent before it broke off is still there to be read and delivered,
// and behind it the other direction finds the end.
func (p *pipe) writeTarget(b []byte) bool {
	p.writing.Store(true)
	n, err := p.target.Write(b)
	p.writing.Store(false)
	p.fromClient.Add(int64(n))
	p.meter.fromClient.Add(float64(n))
	return err == nil
}

// down carries from the target to the client.
func (p *pipe) down() {
	if !p.actTwo() {
		return
	}
	for p.downChunk() {
	}
}

// downChunk carries what one read brings.
func (p *pipe) downChunk() bool {
	c, n, err := p.lazy.next()
	switch {
	case errors.Is(err, io.EOF):
		p.end(endNodeClosed)
		return false
	case err != nil:
		p.end(endNodeLost)
		return false
	}
	defer c.free()
	p.watch.move()
	p.throttle.wait(p.done, n)
	ok := p.writeClient(c, n)
	p.watch.move()
	return ok
}

// actTwo lets the target's act two through, if it is one, and opens the gate.
func (p *pipe) actTwo() bool {
	act, n, err := readActTwo(p.target)
	if err == nil && p.watch.stage.Load() != awaitActTwo {
		// Nobody has asked yet.
		err = errNotAct
	}
	switch {
	case err == nil:
		// Before the client has the act, so that its answer finds the gate open.
		p.watch.enter(open)
		c := newChunk()
		defer c.free()
		return p.writeClient(c, copy(c.room(), act[:]))
	case errors.Is(err, errNotAct), errors.Is(err, io.ErrUnexpectedEOF):
		p.end(endNotActTwo)
	case n == 0 && p.watch.stage.Load() == awaitActTwo:
		// A node that got an act one for another key ends the connection.
		// Whether its end arrives as FIN or as RST says nothing more.
		p.end(endNoActTwo)
	case errors.Is(err, io.EOF):
		p.end(endNodeClosed)
	default:
		p.end(endNodeLost)
	}
	return false
}

// writeClient is writeTarget's twin. It writes the n bytes in a chunk's room.
func (p *pipe) writeClient(c *chunk, n int) bool {
	p.sending.Store(true)
	err := p.ws.carrier.send(c, n)
	p.sending.Store(false)
	if err != nil {
		return false
	}
	p.fromTarget.Add(int64(n))
	p.meter.fromTarget.Add(float64(n))
	return true
}
