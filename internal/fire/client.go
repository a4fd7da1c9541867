//go:build unix

package fire

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"
)

// ioTimeout ends what would hang.
const ioTimeout = 30 * time.Second

// Act is a well-formed act one or two of BOLT-8: version 0, the base point of
// the curve and a tag. The bridge has no key, so it cannot see more.
var act = append(append([]byte{0, 2,
	0x79, 0xbe, 0x66, 0x7e, 0xf9, 0xdc, 0xbb, 0xac, 0x55, 0xa0, 0x62, 0x95, 0xce, 0x87, 0x0b, 0x07,
	0x02, 0x9b, 0xfc, 0xdb, 0x2d, 0xce, 0x28, 0xd9, 0x59, 0xf2, 0x81, 0x5b, 0x16, 0xf8, 0x17, 0x98,
}, make([]byte, 15)...), 1)

// stream is a client's connection, over a WebSocket or as it is.
type stream interface {
	io.ReadWriteCloser
	SetDeadline(time.Time) error
}

// wsClient is a WebSocket client that is as lean as one can be, so that ten
// thousand of them fit beside what they measure, and so that it does not bound
// what is measured.
type wsClient struct {
	net.Conn
	r    *bufio.Reader
	left int    // payload bytes of the present frame
	out  []byte // header and masked payload of a frame
}

// closed is what a client reads when the server has sent a close frame.
type closed struct {
	code   int
	reason string
}

func (c closed) Error() string { return fmt.Sprintf("closed with %d: %s", c.code, c.reason) }

// refused is what a client gets instead of an upgrade.
type refused struct{ status int }

func (r refused) Error() string { return fmt.Sprintf("refused with HTTP status %d", r.status) }

// address is where a client comes from, and where it goes.
type address struct {
	from   string // an address of 127.0.0.0/8, or empty
	bridge string // host:port
	path   string
	origin string // empty for a program
	buffer int    // bytes of the reader's buffer
}

func dialTCP(from, to string) (net.Conn, error) {
	d := net.Dialer{Timeout: ioTimeout}
	if from != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	}
	conn, err := d.Dial("tcp", to)
	if err != nil {
		return nil, err
	}
	return conn, conn.SetDeadline(time.Now().Add(ioTimeout))
}

// request is that of an upgrade. A part of it is what a slow client sends.
func (a address) request() string {
	s := "GET " + a.path + " HTTP/1.1\r\nHost: " + a.bridge + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	if a.origin != "" {
		s += "Origin: " + a.origin + "\r\n"
	}
	return s + "\r\n"
}

// patiently opens a WebSocket as someone who means it: a connection that lost its
// place, before it was answered, to newer ones is tried again. It returns how
// often that was so.
func patiently(a address) (c *wsClient, again int, err error) {
	for ; ; again++ {
		c, err = dialWS(a)
		cut := errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
		if !cut || again == 20 {
			return c, again, err
		}
	}
}

// dialWS opens a WebSocket.
func dialWS(a address) (*wsClient, error) {
	conn, err := dialTCP(a.from, a.bridge)
	if err != nil {
		return nil, err
	}
	c := &wsClient{Conn: conn, r: bufio.NewReaderSize(conn, max(a.buffer, 512))}
	if err := c.upgrade(a); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return c, nil
}

func (c *wsClient) upgrade(a address) error {
	if _, err := io.WriteString(c.Conn, a.request()); err != nil {
		return err
	}
	resp, err := http.ReadResponse(c.r, nil)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		_ = resp.Body.Close()
		return refused{resp.StatusCode}
	}
	return nil
}

// Write sends one masked binary message of at most 64 KiB.
func (c *wsClient) Write(p []byte) (int, error) {
	var key [4]byte
	if _, err := rand.Read(key[:]); err != nil {
		return 0, err
	}
	b := append(c.out[:0], 0x82)
	if len(p) <= 125 {
		b = append(b, 0x80|byte(len(p)))
	} else {
		b = append(b, 0x80|126)
		b = binary.BigEndian.AppendUint16(b, uint16(len(p)))
	}
	b = append(b, key[:]...)
	at := len(b)
	b = append(b, p...)
	mask(b[at:], key)
	c.out = b
	if _, err := c.Conn.Write(b); err != nil {
		return 0, err
	}
	return len(p), nil
}

// mask combines p with a key, eight bytes at a time.
func mask(p []byte, key [4]byte) {
	wide := uint64(binary.LittleEndian.Uint32(key[:]))
	wide |= wide << 32
	for ; len(p) >= 8; p = p[8:] {
		binary.LittleEndian.PutUint64(p, binary.LittleEndian.Uint64(p)^wide)
	}
	for i := range p {
		p[i] ^= key[i%4]
	}
}

// Read reads the server's binary messages as one stream. It ends with what the
// close frame says. Pings are not answered: this client is one that is gone.
func (c *wsClient) Read(p []byte) (int, error) {
	for c.left == 0 {
		var h [10]byte
		if _, err := io.ReadFull(c.r, h[:2]); err != nil {
			return 0, err
		}
		n := int(h[1])
		switch n {
		case 126:
			if _, err := io.ReadFull(c.r, h[2:4]); err != nil {
				return 0, err
			}
			n = int(binary.BigEndian.Uint16(h[2:]))
		case 127:
			if _, err := io.ReadFull(c.r, h[2:]); err != nil {
				return 0, err
			}
			n = int(binary.BigEndian.Uint64(h[2:]))
		}
		switch h[0] {
		case 0x82:
			c.left = n
		case 0x88:
			return 0, c.readClose(n)
		default:
			if _, err := c.r.Discard(n); err != nil {
				return 0, err
			}
		}
	}
	n, err := c.r.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

func (c *wsClient) readClose(n int) error {
	b := make([]byte, n)
	if _, err := io.ReadFull(c.r, b); err != nil {
		return err
	}
	if n < 2 {
		return closed{code: 1005}
	}
	return closed{int(binary.BigEndian.Uint16(b)), string(b[2:])}
}

// handshake does the first two acts.
func handshake(s stream) error {
	if _, err := s.Write(act); err != nil {
		return err
	}
	got := make([]byte, len(act))
	_, err := io.ReadFull(s, got)
	return err
}

// connect opens a WebSocket and does the first two acts.
func connect(a address) (*wsClient, error) {
	c, err := dialWS(a)
	if err != nil {
		return nil, err
	}
	if err := handshake(c); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}
