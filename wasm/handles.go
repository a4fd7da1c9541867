//go:build js && wasm

package main

import (
	"fmt"

	"github.com/brontosig/brontosig/internal/abi"
)

// object is what a handle stands for.
type object interface {
	// wipe overwrites the secrets that the object holds. It is called once,
	// when the handle is dropped.
	wipe()
	// cost is the number of bytes of memory that the object may come to hold
	// in its life, roughly. It must not change.
	cost() int
}

// A handle is a positive int32: the generation of a place in the table in the
// upper bits and the number of the place in the lower ones.
const (
	placeBits     = 16
	maxGeneration = 1<<(31-placeBits) - 1
)

// place is one entry of the table. Its object is nil when it is free.
type place struct {
	object     object
	generation uint32
}

// table holds the living objects.
type table struct {
	places []place
	// free lists the places that are free. A place that has gone through all
	// generations is not among them: it is retired, lest an old handle fit a
	// new object.
	free []uint32
	// bytes is the cost of all living objects.
	bytes int
}

var handles table

// add puts an object into the table and returns its handle, in the form in
// which an export returns it. If there is no room the object is wiped.
func (t *table) add(o object) (int32, error) {
	if t.bytes+o.cost() > abi.MaxObjectBytes {
		o.wipe()
		return 0, tooMany("the living objects hold %d MiB of memory", abi.MaxObjectBytes>>20)
	}
	var number uint32
	switch last := len(t.free) - 1; {
	case last >= 0:
		number = t.free[last]
		t.free = t.free[:last]
	case len(t.places) < abi.MaxHandles:
		number = uint32(len(t.places))
		t.places = append(t.places, place{})
	default:
		o.wipe()
		return 0, tooMany("%d objects are alive or used up", abi.MaxHandles)
	}
	p := &t.places[number]
	p.generation++
	p.object = o
	t.bytes += o.cost()
	return int32(p.generation<<placeBits | number), nil
}

func tooMany(format string, args ...any) error {
	return &boundaryError{abi.TooManyObjects, fmt.Sprintf(format, args...)}
}

// find returns the place of a handle, or an error if the handle is stale or
// was never given out.
func (t *table) find(handle uint32) (*place, error) {
	number, generation := handle&(1<<placeBits-1), handle>>placeBits
	if int(number) < len(t.places) {
		p := &t.places[number]
		if p.object != nil && p.generation == generation {
			return p, nil
		}
	}
	return nil, &boundaryError{abi.InvalidHandle, "the handle names no living object"}
}

// drop wipes the object of a handle and frees its place.
func (t *table) drop(handle uint32) error {
	p, err := t.find(handle)
	if err != nil {
		return err
	}
	o := p.object
	p.object = nil
	t.bytes -= o.cost()
	if p.generation < maxGeneration {
		t.free = append(t.free, handle&(1<<placeBits-1))
	}
	o.wipe()
	return nil
}

// lookup returns the object of a handle if it is of the type T.
func lookup[T object](handle uint32) (T, error) {
	var none T
	p, err := handles.find(handle)
	if err != nil {
		return none, err
	}
	o, ok := p.object.(T)
	if !ok {
		return none, &boundaryError{abi.InvalidHandle, "the handle names an object of another class"}
	}
	return o, nil
}
