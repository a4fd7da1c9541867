//go:build unix

package fire

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
)

// Helper is the entry of the processes that Run starts: a target, or a crowd of
// clients. Its arguments are Run's own.
func Helper(args []string) error {
	switch args[0] {
	case "target":
		return target(args[1])
	case "crowd":
		return crowd(args[1:])
	}
	return fmt.Errorf("no helper %q", args[0])
}

// target answers act one with act two and then, as its kind says, echoes, never
// reads again, or sends for ever. It ends with its input.
func target(kind string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go serveTarget(conn.(*net.TCPConn), kind)
	}
}

func serveTarget(conn *net.TCPConn, kind string) {
	// Whatever goes wrong, the other side sees the connection end.
	defer conn.Close()
	first := make([]byte, len(act))
	if _, err := io.ReadFull(conn, first); err != nil {
		return
	}
	if _, err := conn.Write(act); err != nil {
		return
	}
	switch kind {
	case "echo":
		echo(conn)
	case "deaf":
		select {}
	case "flood":
		chunk := make([]byte, 16<<10)
		for {
			if _, err := conn.Write(chunk); err != nil {
				return
			}
		}
	}
}

func echo(conn net.Conn) {
	// What waits for its client takes little memory.
	small := make([]byte, 1)
	for {
		if _, err := conn.Read(small); err != nil {
			return
		}
		if _, err := conn.Write(small); err != nil {
			return
		}
		if !echoLarge(conn) {
			return
		}
	}
}

func echoLarge(conn net.Conn) bool {
	buf := make([]byte, 64<<10)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return false
		}
		if _, err := conn.Write(buf[:n]); err != nil {
			return false
		}
	}
}

// crowd opens many connections from many addresses, says so, and holds them
// until its input ends. Its arguments are the bridge's address, the path, how
// many, and the first of the addresses as a number.
func crowd(args []string) error {
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	first, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	var work sync.WaitGroup
	var mu sync.Mutex
	var failed error
	conns := make([]*wsClient, n)
	next := make(chan int)
	for range 32 {
		work.Go(func() {
			for i := range next {
				c, err := connect(address{from: loopback(first + i%(1+n/perAddress)), bridge: args[0], path: args[1]})
				mu.Lock()
				if conns[i] = c; err != nil && failed == nil {
					failed = fmt.Errorf("connection %d: %w", i, err)
				}
				mu.Unlock()
			}
		})
	}
	for i := range conns {
		next <- i
	}
	close(next)
	work.Wait()
	if failed != nil {
		return failed
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// perAddress is how many connections come from one address.
const perAddress = 50

// loopback returns an address of 127.0.0.0/8 by its number.
func loopback(i int) string { return fmt.Sprintf("127.1.%d.%d", i/250, 1+i%250) }
