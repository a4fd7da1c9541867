package main

import (
	"bufio"
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/mod/sumdb/dirhash"
)

// provide returns the path of the node's program, which it builds unless it is
// there. The folder's lock ends with the process, so no run finds one that was
// left behind, and the program gets its name when it is complete.
func (n node) provide(ctx context.Context, dir string) (string, error) {
	home := filepath.Join(dir, n.name+"-"+n.version)
	program := filepath.Join(home, n.name)
	if err := os.MkdirAll(home, 0o777); err != nil {
		return "", err
	}
	lock, err := os.Create(filepath.Join(home, "lock"))
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := n.lock(ctx, lock); err != nil {
		return "", err
	}
	if n.isBuilt(program) {
		return program, nil
	}

	work := filepath.Join(home, "work")
	if err := os.RemoveAll(work); err != nil { // what a killed run has left
		return "", err
	}
	defer os.RemoveAll(work)
	source, unfinished := filepath.Join(work, "source"), filepath.Join(work, n.name)
	if err := n.fetch(ctx, source); err != nil {
		return "", err
	}
	if err := n.build(ctx, source, unfinished); err != nil {
		return "", err
	}
	return program, os.Rename(unfinished, program)
}

// lock waits until no other run builds the same node.
func (n node) lock(ctx context.Context, file *os.File) error {
	for said := false; ; said = true {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		if !said {
			n.say("waiting for another run that builds it")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// isBuilt reports whether the program is there and made as it would be now. Go
// writes into a program what made it.
func (n node) isBuilt(program string) bool {
	info, err := buildinfo.ReadFile(program)
	if err != nil || info.GoVersion != runtime.Version() {
		return false
	}
	tags := ""
	for _, setting := range info.Settings {
		if setting.Key == "-tags" {
			tags = setting.Value
		}
	}
	return tags == n.tags
}

// fetch puts the module's files into the folder source and compares them with
// the sum.
func (n node) fetch(ctx context.Context, source string) error {
	n.say("fetching the source")
	cmd := command(ctx, os.TempDir(), "mod", "download", "-json", n.module+"@"+n.version)
	out, err := cmd.Output()
	var module struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &module); jsonErr != nil || module.Error != "" {
		return fmt.Errorf("go mod download: %w: %s", errors.Join(err, jsonErr), module.Error)
	}
	if err := os.CopyFS(source, os.DirFS(module.Dir)); err != nil {
		return err
	}
	sum, err := dirhash.HashDir(source, n.module+"@"+n.version, dirhash.Hash1)
	if err != nil {
		return err
	}
	if sum != n.sum {
		return fmt.Errorf("the source has the sum %s and must have %s", sum, n.sum)
	}
	return nil
}

// build builds the program and shows how far it is.
func (n node) build(ctx context.Context, source, program string) error {
	flags := []string{"-mod=readonly", "-trimpath", "-tags=" + n.tags}
	list := command(ctx, source, append(append([]string{"list", "-deps"}, flags...), "./"+n.folder)...)
	list.Stderr = os.Stderr
	packages, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	total := bytes.Count(packages, []byte("\n"))
	n.say(fmt.Sprintf("building up to %d packages", total))

	flags = append(flags, "-v", "-buildvcs=false", "-ldflags=-s -w", "-o", program)
	build := command(ctx, source, append(append([]string{"build"}, flags...), "./"+n.folder)...)
	stderr, err := build.StderrPipe()
	if err != nil {
		return err
	}
	start := time.Now()
	if err := build.Start(); err != nil {
		return err
	}
	messages := n.follow(stderr, start)
	if err := build.Wait(); err != nil {
		return fmt.Errorf("go build: %w\n%s", errors.Join(err, ctx.Err()), messages)
	}
	n.say(fmt.Sprintf("built in %s", time.Since(start).Round(time.Second)))
	return nil
}

// follow reads what go build -v prints, the name of each package that is
// compiled, shows their number now and then, and returns the other lines.
func (n node) follow(stderr io.Reader, start time.Time) string {
	var others strings.Builder
	compiled, shown := 0, start
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		line := lines.Text()
		if strings.ContainsAny(line, " \t:") {
			others.WriteString(line + "\n")
			continue
		}
		compiled++
		if now := time.Now(); now.Sub(shown) >= 15*time.Second {
			shown = now
			n.say(fmt.Sprintf("%4d packages compiled, %s", compiled, now.Sub(start).Round(time.Second)))
		}
	}
	return others.String()
}

// command is a go command that ends with ctx and sees the node's module alone.
func command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	return cmd
}

// say writes to the standard error: the standard output is for the paths.
func (n node) say(text string) {
	fmt.Fprintf(os.Stderr, "    %s %s: %s\n", n.name, n.version, text)
}
