//go:build unix

package fire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Command starts a program: its name, its first arguments, and what it needs in
// the environment.
type Command struct {
	Args []string
	Env  []string
}

// process is a running program that says on its first line where it is.
type process struct {
	cmd    *exec.Cmd
	input  io.Closer // a program that waits for the end of its input ends with this one
	stderr bytes.Buffer
	line   []byte
}

func (c Command) start(args ...string) (*process, error) {
	p := &process{cmd: exec.Command(c.Args[0], append(c.Args[1:len(c.Args):len(c.Args)], args...)...)}
	p.cmd.Env = append(os.Environ(), c.Env...)
	p.cmd.Stderr = &p.stderr
	var err error
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if p.line, err = bufio.NewReader(out).ReadBytes('\n'); err != nil {
		return nil, fmt.Errorf("%s does not start: %w: %s", c.Args[0], errors.Join(err, p.kill()), p.stderr.String())
	}
	return p, nil
}

// stop ends a process in good order.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return p.cmd.Wait()
}

// kill ends a process as kill -9 does.
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil {
		return err
	}
	var exit *exec.ExitError
	if err := p.cmd.Wait(); !errors.As(err, &exit) {
		return err
	}
	return nil
}

// bridge is a running bridge.
type bridge struct {
	*process
	address string // host:port
	status  string // URL
	pid     int
	asker   http.Client // with one connection, which is there whenever something is counted
}

const testOrigin = "https://wallet.example"

func startBridge(c Command, args ...string) (*bridge, error) {
	p, err := c.start(append([]string{"--listen=127.0.0.1:0", "--status-listen=127.0.0.1:0", "--origin=" + testOrigin}, args...)...)
	if err != nil {
		return nil, err
	}
	var line struct{ Bridge, Status string }
	if err := json.Unmarshal(p.line, &line); err != nil {
		return nil, errors.Join(err, p.kill())
	}
	return &bridge{
		process: p, address: strings.TrimPrefix(line.Bridge, "ws://"), status: line.Status, pid: p.cmd.Process.Pid,
		asker: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}, Timeout: ioTimeout},
	}, nil
}

// metric reads one number without labels from the bridge's metrics.
func (b *bridge) metric(name string) (int, error) {
	resp, err := b.asker.Get(b.status + "/metrics")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	// To its end, or the connection is not used again.
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(body)); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			f, err := strconv.ParseFloat(value, 64)
			return int(f), err
		}
	}
	return 0, fmt.Errorf("no metric %s", name)
}

// usage is what a process holds.
type usage struct{ descriptors, goroutines, connections int }

func (b *bridge) usage() (u usage, err error) {
	if u.goroutines, err = b.metric("go_goroutines"); err != nil {
		return u, err
	}
	if u.connections, err = b.metric("brontosig_bridge_connections"); err != nil {
		return u, err
	}
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", b.pid))
	u.descriptors = len(entries)
	return u, err
}

// settle waits until the bridge holds no more than it did.
func (b *bridge) settle(before usage, patience time.Duration) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		now, err := b.usage()
		if err != nil {
			return err
		}
		if now.descriptors <= before.descriptors && now.goroutines <= before.goroutines && now.connections == before.connections {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("before: %+v, after %v: %+v", before, patience, now)
		}
	}
}

// rss returns the bytes of memory that a process has resident.
func rss(pid int) (int, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	return field(b, "VmRSS:")
}

// field reads a number of kB from a file of /proc.
func field(b []byte, name string) (int, error) {
	_, rest, ok := strings.Cut(string(b), name)
	if fields := strings.Fields(rest); ok && len(fields) > 0 {
		n, err := strconv.Atoi(fields[0])
		return n << 10, err
	}
	return 0, fmt.Errorf("no %s", name)
}

// family returns a process and all that descend from it.
func family(pid int) ([]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, path := range stats {
		fields, err := statFields(path)
		if err != nil {
			continue // it has ended since
		}
		child, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], child)
	}
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all, nil
}

// statFields returns the fields of /proc/PID/stat that follow the name.
func statFields(path string) ([]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	at := bytes.LastIndexByte(b, ')')
	if at < 0 {
		return nil, fmt.Errorf("%s: %q", path, b)
	}
	return strings.Fields(string(b[at+1:])), nil
}

// clockTick is the unit of times in /proc (USER_HZ), the same on every Linux.
const clockTick = 10 * time.Millisecond

// cpu returns the time that a process and its descendants have run.
func cpu(pid int) (time.Duration, error) {
	all, err := family(pid)
	if err != nil {
		return 0, err
	}
	var ticks int
	for _, pid := range all {
		fields, err := statFields(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return 0, err
		}
		// utime, stime, and those of children that have ended.
		for _, f := range fields[11:15] {
			n, err := strconv.Atoi(f)
			if err != nil {
				return 0, err
			}
			ticks += n
		}
	}
	return time.Duration(ticks) * clockTick, nil
}
