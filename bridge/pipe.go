package bridge

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

const (
	// chunkSize is how many bytes the bridge holds at most in each direction.
	// It is also the largest WebSocket message it sends.
	chunkSize = 16 << 10

	// lingerTimeout bounds how long the target's last bytes are read and
	// dropped after the client is gone. Closing with unread bytes would reset
	// the connection, and with it what the client had sent.
	lingerTimeout = 2 * time.Second
)

// ending is how an open connection ends, as the client is told.
type ending struct {
	code   websocket.StatusCode
	reason string
}

var (
	endNodeClosed   = ending{websocket.StatusNormalClosure, "the node closed the connection"}
	endNoActTwo     = ending{websocket.StatusNormalClosure, "the node hung up without answering act one"}
	endClientClosed = ending{websocket.StatusNormalClosure, "the client closed the connection"}
	endShutdown     = ending{websocket.StatusGoingAway, "the bridge is shutting down"}
	endText         = ending{websocket.StatusUnsupportedData, "text messages are not carried: send binary ones"}
	endNotActOne    = ending{4400, "the first 50 bytes are not act one of BOLT-8"}
	endTooEarly     = ending{4400, "more bytes than act one were sent before the node's act two"}
	endLateActOne   = ending{4408, "no act one came in time"}
	endIdle         = ending{4408, "the connection was idle for too long"}
	endNotActTwo    = ending{4502, "the node's answer is not act two of BOLT-8"}
	endNodeLost     = ending{4502, "the connection to the node broke"}
	endLateActTwo   = ending{4504, "the node did not answer act one in time"}
)

// The stages of a pipe, for the timer that watches over it.
const (
	awaitActOne int32 = iota
	awaitActTwo
	open
)

// pipe carries one connection. Each direction has one goroutine that writes
// what it read before it reads again: a slow receiver on one side so stops the
// sender on the other, and no byte is held beside the two buffers.
type pipe struct {
	ws     *clientConn
	target *net.TCPConn

	handshake time.Duration
	idle      time.Duration
	stage     atomic.Int32
	timer     *time.Timer

	first chan ending  // takes the first ending; later ones follow from it
	left  atomic.Int32 // directions that still run

	fromClient atomic.Int64 // bytes written to the target
	fromTarget atomic.Int64 // bytes written to the client
}

func newPipe(ws *clientConn, target *net.TCPConn, handshake, idle time.Duration) *pipe {
	// Messages are read in chunks, so their size bounds nothing.
	ws.SetReadLimit(-1)
	p := &pipe{ws: ws, target: target, handshake: handshake, idle: idle, first: make(chan ending, 1)}
	p.left.Store(2)
	return p
}

// run carries bytes until either side ends, time runs out or stop is closed. It
// returns after both connections are closed and both goroutines are done.
func (p *pipe) run(stop <-chan struct{}) ending {
	p.timer = time.AfterFunc(p.handshake, p.expire)
	defer p.timer.Stop()

	var directions sync.WaitGroup
	directions.Go(func() { p.up(); p.leave() })
	directions.Go(func() { p.down(); p.leave() })

	var end ending
	select {
	case end = <-p.first:
	case <-stop:
		end = endShutdown
	}
	p.close(end, &directions)
	return end
}

// close tells the client, then lets the target have what is on its way to it.
func (p *pipe) close(end ending, directions *sync.WaitGroup) {
	// The client may be gone, or not answer: the end is the same.
	_ = p.ws.Close(end.code, end.reason)

	// Neither goroutine can read another byte, but one may be blocked at the
	// target, reading or writing.
	_ = p.target.SetReadDeadline(time.Unix(1, 0))
	_ = p.target.SetWriteDeadline(time.Now().Add(lingerTimeout))
	directions.Wait()

	if p.target.CloseWrite() == nil && p.target.SetReadDeadline(time.Now().Add(lingerTimeout)) == nil {
		_, _ = io.Copy(io.Discard, p.target)
	}
	_ = p.target.Close()
}

func (p *pipe) end(e ending) {
	select {
	case p.first <- e:
	default:
	}
}

// leave marks the end of a direction. A failed write leaves it to the other
// direction to name the ending; when both failed so, both sides are gone.
func (p *pipe) leave() {
	if p.left.Add(-1) == 0 {
		p.end(endNodeLost)
	}
}

func (p *pipe) expire() {
	switch p.stage.Load() {
	case awaitActOne:
		p.end(endLateActOne)
	case awaitActTwo:
		p.end(endLateActTwo)
	default:
		p.end(endIdle)
	}
}

// up carries from the client to the target.
func (p *pipe) up() {
	client := &clientStream{ws: p.ws.Conn}
	if !p.actOne(client) {
		return
	}
	buf := make([]byte, chunkSize)
	for {
		n, err := client.Read(buf)
		if err != nil {
			p.endClient(err)
			return
		}
		if p.stage.Load() != open {
			p.end(endTooEarly)
			return
		}
		p.timer.Reset(p.idle)
		if !p.writeTarget(buf[:n]) {
			return
		}
		p.timer.Reset(p.idle)
	}
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
	p.stage.Store(awaitActTwo)
	p.timer.Reset(p.handshake)
	return p.writeTarget(act[:])
}

// endClient ends the pipe after a read from the client failed.
func (p *pipe) endClient(err error) {
	if errors.Is(err, errText) {
		p.end(endText)
		return
	}
	p.end(endClientClosed)
}

// writeTarget ends its direction when it fails, but not the pipe: what the
// target had sent before it broke off is still there to be read and delivered,
// and behind it the other direction finds the end.
func (p *pipe) writeTarget(b []byte) bool {
	n, err := p.target.Write(b)
	p.fromClient.Add(int64(n))
	return err == nil
}

// down carries from the target to the client.
func (p *pipe) down() {
	if !p.actTwo() {
		return
	}
	buf := make([]byte, chunkSize)
	for {
		n, err := p.target.Read(buf)
		if n > 0 {
			p.timer.Reset(p.idle)
			if !p.writeClient(buf[:n]) {
				return
			}
			p.timer.Reset(p.idle)
		}
		switch {
		case errors.Is(err, io.EOF):
			p.end(endNodeClosed)
			return
		case err != nil:
			p.end(endNodeLost)
			return
		}
	}
}

// actTwo lets the target's act two through, if it is one, and opens the gate.
func (p *pipe) actTwo() bool {
	act, n, err := readActTwo(p.target)
	switch {
	case err == nil:
		// Before the client has the act, so that its answer finds the gate open.
		p.stage.Store(open)
		p.timer.Reset(p.idle)
		return p.writeClient(act[:])
	case errors.Is(err, errNotAct):
		p.end(endNotActTwo)
	case n == 0 && p.stage.Load() == awaitActTwo:
		// A node that got an act one for another key ends the connection.
		// Whether its end arrives as FIN or as RST says nothing more.
		p.end(endNoActTwo)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		if n == 0 || p.writeClient(act[:n]) {
			p.end(endNodeClosed)
		}
	default:
		p.end(endNodeLost)
	}
	return false
}

// writeClient is writeTarget's twin.
func (p *pipe) writeClient(b []byte) bool {
	if err := p.ws.Write(context.Background(), websocket.MessageBinary, b); err != nil {
		return false
	}
	p.fromTarget.Add(int64(len(b)))
	return true
}
