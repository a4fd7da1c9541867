// Package abi holds what both sides of the wasm boundary must agree on and
// what is not a protocol constant: error codes, the kinds of contribution, and
// the limits that protect the instance. The generator in the gen directory
// writes it, with the protocols' sizes and the list of wasm exports, into
// js/src/generated.ts:
//
//	go generate ./internal/abi
package abi

//go:generate go run ./gen -root ../..
