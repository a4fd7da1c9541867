//go:build !(js && wasm)

package demopeer

import (
	"crypto/subtle"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/brontosig/brontosig/lnpeer"
)

// The node's side of commando, as Core Lightning's plugins/commando.c has it: one
// unfinished request of a peer, which another one replaces, and sixteen over all
// peers; a request of more than a mebibyte is dropped without a word; replies
// come in parts of 65,000 bytes, those of several calls in any order. None of
// lnpeer's client code is used here.
const (
	maxRequest  = 1 << 20
	maxPartials = 16
	maxPart     = 65000

	// maxPattern is the most bytes of the method pattern.
	maxPattern = 32 << 20

	// maxRunning bounds the calls of one peer that are carried out at a time.
	maxRunning = 4
)

// Codes of errors, Core Lightning's and JSON-RPC's.
const (
	codeRemote        = 0x4c50
	codeNotAuthorized = 0x4c51
	codeNoMethod      = -32601
	codeBadParams     = -32602
)

// partial is a request that is not complete.
type partial struct {
	owner    *commando
	call     uint64
	contents []byte
	tooLong  bool
}

// commando serves one connection.
type commando struct {
	peer    *Peer
	send    func(msg []byte) error
	slots   chan struct{}
	running sync.WaitGroup
}

func newCommando(peer *Peer, send func([]byte) error) *commando {
	return &commando{peer: peer, send: send, slots: make(chan struct{}, maxRunning)}
}

// receive takes a message of a commando type. A reply, or what is too short for
// a number, is let pass.
func (c *commando) receive(typ uint16, payload []byte) {
	if typ != lnpeer.TypeCommandoRequestPart && typ != lnpeer.TypeCommandoRequest || len(payload) < 8 {
		return
	}
	call := binary.BigEndian.Uint64(payload)
	request, complete := c.peer.addRequest(c, call, payload[8:], typ == lnpeer.TypeCommandoRequest)
	if !complete {
		return
	}
	c.slots <- struct{}{}
	c.running.Go(func() {
		c.reply(call, c.answer(request))
		<-c.slots
	})
}

// end waits until nothing is carried out any more, and forgets what was not
// complete. The connection must be closed before.
func (c *commando) end() {
	c.running.Wait()
	c.peer.forgetRequests(c)
}

// addRequest adds a part of a request, and returns the request when it is
// complete.
func (p *Peer) addRequest(owner *commando, call uint64, part []byte, last bool) (request []byte, complete bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.IndexFunc(p.partials, func(r *partial) bool { return r.owner == owner })
	if at >= 0 && p.partials[at].call != call {
		p.partials = slices.Delete(p.partials, at, at+1)
		at = -1
	}
	if at < 0 {
		if len(p.partials) == maxPartials {
			p.partials = slices.Delete(p.partials, 0, 1)
		}
		at = len(p.partials)
		p.partials = append(p.partials, &partial{owner: owner, call: call})
	}
	r := p.partials[at]
	if len(r.contents)+len(part) > maxRequest {
		r.contents, r.tooLong = nil, true
	}
	if !r.tooLong {
		r.contents = append(r.contents, part...)
	}
	if !last {
		return nil, false
	}
	p.partials = slices.Delete(p.partials, at, at+1)
	return r.contents, !r.tooLong
}

func (p *Peer) forgetRequests(owner *commando) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.partials = slices.DeleteFunc(p.partials, func(r *partial) bool { return r.owner == owner })
}

// reply sends a reply in parts. If that fails the connection has ended.
func (c *commando) reply(call uint64, reply []byte) {
	for {
		typ, part := uint16(lnpeer.TypeCommandoReply), reply
		if len(reply) > maxPart {
			typ, part = lnpeer.TypeCommandoReplyPart, reply[:maxPart]
		}
		msg := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint16(nil, typ), call)
		if c.send(append(msg, part...)) != nil || len(part) == len(reply) {
			return
		}
		reply = reply[len(part):]
	}
}

// rpcError is an error of JSON-RPC.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// answer carries a request out and returns the reply.
func (c *commando) answer(request []byte) []byte {
	var call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		Rune   string          `json:"rune"`
		Filter map[string]any  `json:"filter"`
	}
	// An error of commando itself has no id.
	refuse := func(code int, text string) []byte {
		return marshal(map[string]any{"error": rpcError{Code: code, Message: text}})
	}
	if err := json.Unmarshal(request, &call); err != nil {
		return refuse(codeRemote, "Invalid JSON")
	}
	switch {
	case call.Method == "":
		return refuse(codeRemote, "No method")
	case len(call.Params) == 0 || call.Params[0] != '{' && call.Params[0] != '[':
		return refuse(codeRemote, "Params must be object or array")
	case call.ID == nil:
		return refuse(codeRemote, "missing id field")
	case call.Rune == "":
		return refuse(codeNotAuthorized, "Not authorized: Missing rune")
	case subtle.ConstantTimeCompare([]byte(call.Rune), []byte(c.peer.rune)) != 1:
		return refuse(codeNotAuthorized, "Not authorized: Invalid rune")
	}
	reply := map[string]any{"jsonrpc": "2.0", "id": call.ID}
	if result, failure := c.peer.carryOut(call.Method, call.Params); failure != nil {
		reply["error"] = failure
	} else {
		reply["result"] = filtered(result, call.Filter)
	}
	return marshal(reply)
}

// carryOut has the methods. They change nothing.
func (p *Peer) carryOut(method string, params json.RawMessage) (any, *rpcError) {
	switch method {
	case "getinfo":
		return p.info(), nil
	case "echo":
		return map[string]any{"params": params}, nil
	case "pattern":
		// A reply of about any length, to see parts and limits with.
		var args struct {
			Bytes int `json:"bytes"`
		}
		if err := json.Unmarshal(params, &args); err != nil || args.Bytes < 0 || args.Bytes > maxPattern {
			return nil, &rpcError{Code: codeBadParams, Message: fmt.Sprintf("bytes: a number up to %d expected", maxPattern)}
		}
		pattern := make([]byte, args.Bytes)
		for i := range pattern {
			pattern[i] = "0123456789abcdef"[i*7/16%16]
		}
		return map[string]any{"pattern": string(pattern)}, nil
	case "fail":
		return nil, &rpcError{Code: 205, Message: "this always fails", Data: map[string]any{"attempts": 1}}
	default:
		return nil, &rpcError{Code: codeNoMethod, Message: fmt.Sprintf("Unknown command '%s'", method)}
	}
}

// info is what getinfo says, in the words of Core Lightning.
func (p *Peer) info() map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	return map[string]any{
		"id": p.nodeID, "alias": "demo peer", "color": "02bf81", "version": "brontosig", "network": "regtest",
		"num_peers": len(p.conns), "num_pending_channels": 0, "num_active_channels": 0, "num_inactive_channels": 0,
		"blockheight": 0, "fees_collected_msat": 0,
	}
}

// filtered keeps of a result the members that a filter names.
func filtered(result any, filter map[string]any) any {
	members, ok := result.(map[string]any)
	if !ok || filter == nil {
		return result
	}
	kept := make(map[string]any)
	for name, value := range members {
		switch wanted := filter[name].(type) {
		case bool:
			if wanted {
				kept[name] = value
			}
		case map[string]any:
			kept[name] = filtered(value, wanted)
		}
	}
	return kept
}

// marshal encodes what is made here, which never fails.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
