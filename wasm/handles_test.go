//go:build js && wasm

package main

import (
	"testing"

	"github.com/brontosig/brontosig/internal/abi"
)

// thing is an object that counts how often it was wiped.
type thing struct{ wiped, size int }

func (o *thing) wipe()     { o.wiped++ }
func (o *thing) cost() int { return o.size }

// other is an object of another class.
type other struct{ thing }

// emptyTable gives a test the table for itself.
func emptyTable(t *testing.T) {
	handles = table{}
	t.Cleanup(func() { handles = table{} })
}

func mustAdd(t *testing.T, o object) uint32 {
	t.Helper()
	handle, err := handles.add(o)
	if err != nil {
		t.Fatal(err)
	}
	if handle <= 0 {
		t.Fatalf("handle %d is not positive", handle)
	}
	return uint32(handle)
}

func TestHandleOfDroppedObject(t *testing.T) {
	emptyTable(t)
	first := &thing{}
	old := mustAdd(t, first)
	if got, err := lookup[*thing](old); err != nil || got != first {
		t.Fatalf("found %v, error %v", got, err)
	}
	if err := handles.drop(old); err != nil {
		t.Fatal(err)
	}
	second := &thing{}
	fresh := mustAdd(t, second)
	if fresh == old {
		t.Fatal("a handle was given out twice")
	}
	if len(handles.places) != 1 {
		t.Fatal("the place was not used again")
	}
	if _, err := lookup[*thing](old); codeOf(err) != abi.InvalidHandle {
		t.Errorf("stale handle: error %v", err)
	}
	if err := handles.drop(old); codeOf(err) != abi.InvalidHandle {
		t.Errorf("second drop: error %v", err)
	}
	if first.wiped != 1 || second.wiped != 0 {
		t.Errorf("wiped %d and %d times, want 1 and 0", first.wiped, second.wiped)
	}
}

func TestHandleOfAnotherClass(t *testing.T) {
	emptyTable(t)
	handle := mustAdd(t, &other{})
	if _, err := lookup[*thing](handle); codeOf(err) != abi.InvalidHandle {
		t.Errorf("error %v", err)
	}
	if _, err := lookup[*other](handle); err != nil {
		t.Error(err)
	}
}

func TestHandleNeverGivenOut(t *testing.T) {
	emptyTable(t)
	handle := mustAdd(t, &thing{})
	for _, wrong := range []uint32{0, 1, handle + 1, handle + 1<<placeBits, handle | 1<<31, 1<<32 - 1} {
		if _, err := lookup[*thing](wrong); codeOf(err) != abi.InvalidHandle {
			t.Errorf("handle %#x: error %v", wrong, err)
		}
		if status := handleDispose(0, wrong); status != -int32(abi.InvalidHandle) {
			t.Errorf("handle_dispose(%#x): status %d", wrong, status)
		}
	}
}

// TestPlaceRetires goes through all generations of one place: the next object
// must get another, and no handle may come twice.
func TestPlaceRetires(t *testing.T) {
	emptyTable(t)
	seen := make(map[uint32]bool)
	for range maxGeneration {
		handle := mustAdd(t, &thing{})
		if seen[handle] {
			t.Fatalf("handle %#x was given out twice", handle)
		}
		seen[handle] = true
		if err := handles.drop(handle); err != nil {
			t.Fatal(err)
		}
	}
	if len(handles.places) != 1 {
		t.Fatalf("%d places were used", len(handles.places))
	}
	if handle := mustAdd(t, &thing{}); handle&(1<<placeBits-1) != 1 {
		t.Errorf("handle %#x is not in a second place", handle)
	}
}

func TestTooManyHandles(t *testing.T) {
	emptyTable(t)
	var last uint32
	for range abi.MaxHandles {
		last = mustAdd(t, &thing{})
	}
	refused := &thing{}
	if _, err := handles.add(refused); codeOf(err) != abi.TooManyObjects {
		t.Errorf("error %v", err)
	}
	if refused.wiped != 1 {
		t.Error("the object that had no room was not wiped")
	}
	if err := handles.drop(last); err != nil {
		t.Fatal(err)
	}
	mustAdd(t, &thing{})
}

func TestTooMuchMemory(t *testing.T) {
	emptyTable(t)
	large := mustAdd(t, &thing{size: abi.MaxObjectBytes - 10})
	mustAdd(t, &thing{size: 10})
	refused := &thing{size: 1}
	if _, err := handles.add(refused); codeOf(err) != abi.TooManyObjects {
		t.Errorf("error %v", err)
	}
	if refused.wiped != 1 {
		t.Error("the object that had no room was not wiped")
	}
	if err := handles.drop(large); err != nil {
		t.Fatal(err)
	}
	mustAdd(t, refused)
}
