//go:build !js

package bridge

import "fmt"

// What the bridge needs descriptors for, beside two for every connection.
const (
	// fixedDescriptors are for the standard streams, the poller, listeners,
	// files and whatever else the program has open.
	fixedDescriptors = 48

	// descriptorsPerDial are for a dial's look-ups: two questions to the DNS,
	// and one to the kernel for the machine's own addresses.
	descriptorsPerDial = 3

	// maxPending is how many connections may be open that have not become a
	// WebSocket.
	maxPending = 128

	// maxPendingPerClient is how many of them one client may have.
	maxPendingPerClient = 32

	// maxRefusals is how many browsers the bridge upgrades at a time only to
	// refuse them. What comes beyond hears the HTTP status.
	maxRefusals = 64

	// maxLingering is how many connections beyond maxPending are answered.
	// What comes beyond is closed unheard.
	maxLingering = 32
)

// affordable returns how many connections a process can carry that may have so
// many descriptors open.
func affordable(descriptors uint64, dials int) (int, error) {
	reserve := uint64(fixedDescriptors+maxPending+maxRefusals+maxLingering) + descriptorsPerDial*uint64(dials)
	if descriptors < reserve+2 {
		return 0, Error{ErrInvalidLimit, fmt.Sprintf(
			"this process may open %d files (ulimit -n), and a bridge with %d dials at a time needs at least %d", descriptors, dials, reserve+2)}
	}
	return int(min((descriptors-reserve)/2, 1<<30)), nil
}
