//go:build unix

package bridge

import "syscall"

// descriptorLimit returns how many files this process may have open.
func descriptorLimit() (uint64, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, err
	}
	return uint64(limit.Cur), nil // signed on some systems
}
