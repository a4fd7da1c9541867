//go:build js && wasm

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/brontosig/brontosig/brontide"
	"github.com/brontosig/brontosig/internal/abi"
	"github.com/brontosig/brontosig/lnpeer"
	"github.com/brontosig/brontosig/musig2"
)

// boundaryError is an error that arises at the boundary and not in a protocol.
type boundaryError struct {
	code abi.Code
	text string
}

func (e *boundaryError) Error() string { return e.text }

// argumentError says that the wrapper made a call of the wrong form.
func argumentError(format string, args ...any) error {
	return &boundaryError{abi.InvalidArgument, fmt.Sprintf(format, args...)}
}

// limitError says that an argument is too large for the module.
func limitError(format string, args ...any) error {
	return &boundaryError{abi.LimitExceeded, fmt.Sprintf(format, args...)}
}

// kinds gives each kind of error of the protocol packages its code.
var kinds = []struct {
	kind error
	code abi.Code
}{
	{musig2.ErrInvalidContribution, abi.InvalidContribution},
	{musig2.ErrNoKeys, abi.NoKeys},
	{musig2.ErrKeyNotInSet, abi.KeyNotInSet},
	{musig2.ErrSignerIndex, abi.SignerIndex},
	{musig2.ErrInvalidSecretKey, abi.InvalidSecretKey},
	{musig2.ErrNoSecretKey, abi.NoSecretKey},
	{musig2.ErrAggregateInfinity, abi.AggregateInfinity},
	{musig2.ErrInvalidTweak, abi.InvalidTweak},
	{musig2.ErrRandom, abi.RandomFailed},
	{musig2.ErrNonceUsed, abi.NonceUsed},
	{musig2.ErrInvalidSecNonce, abi.InvalidSecretNonce},
	{musig2.ErrNonceMismatch, abi.NonceMismatch},
	{musig2.ErrMissingContributions, abi.MissingContributions},
	{musig2.ErrNoMessage, abi.NoMessage},
	{musig2.ErrMessageConflict, abi.MessageConflict},
	{musig2.ErrContributionConflict, abi.ContributionConflict},
	{musig2.ErrInvalidSignature, abi.InvalidSignature},
	{musig2.ErrSelfVerify, abi.SelfVerifyFailed},
	{musig2.ErrSessionFailed, abi.SessionFailed},
	{musig2.ErrWiped, abi.Wiped},
	{musig2.ErrMalformedContext, abi.MalformedContext},
	{musig2.ErrInvalidArgument, abi.InvalidArgument},

	{brontide.ErrArgument, abi.InvalidArgument},
	{brontide.ErrPublicKey, abi.InvalidPublicKey},
	{brontide.ErrWrongAct, abi.WrongAct},
	{brontide.ErrVersion, abi.UnsupportedVersion},
	{brontide.ErrMAC, abi.MacFailed},
	{brontide.ErrNotAnswered, abi.NotAnswered},
	{brontide.ErrTruncated, abi.Truncated},
	{brontide.ErrHandshakeIncomplete, abi.HandshakeIncomplete},
	{brontide.ErrPoisoned, abi.Poisoned},
	{brontide.ErrMaxMessageLengthExceeded, abi.MessageTooLong},

	{lnpeer.ErrArgument, abi.InvalidArgument},
	{lnpeer.ErrAlreadyStarted, abi.AlreadyStarted},
	{lnpeer.ErrNotReady, abi.PeerNotReady},
	{lnpeer.ErrReservedType, abi.ReservedType},
	{lnpeer.ErrTooManyPings, abi.TooManyPings},
	{lnpeer.ErrPingTooSoon, abi.PingTooSoon},
	{lnpeer.ErrTooManyCalls, abi.TooManyCalls},
	{lnpeer.ErrRandom, abi.RandomFailed},
	{lnpeer.ErrSilent, abi.PeerSilent},
	{lnpeer.ErrMalformed, abi.MalformedMessage},
	{lnpeer.ErrTLV, abi.MalformedTlv},
	{lnpeer.ErrNoInit, abi.NoInit},
	{lnpeer.ErrDuplicateInit, abi.DuplicateInit},
	{lnpeer.ErrUnknownFeature, abi.UnknownFeature},
	{lnpeer.ErrFeatureDependency, abi.FeatureDependency},
	{lnpeer.ErrNoCommonNetwork, abi.NoCommonNetwork},
	{lnpeer.ErrUnknownType, abi.UnknownMessageType},
	{lnpeer.ErrClosed, abi.PeerClosed},
}

// codeOf returns the code of err. An error that no code is known for is a bug.
func codeOf(err error) abi.Code {
	if boundary, ok := errors.AsType[*boundaryError](err); ok {
		return boundary.code
	}
	for _, k := range kinds {
		if errors.Is(err, k.kind) {
			return k.code
		}
	}
	return abi.Internal
}

// The detail buffer: see the package comment.
const (
	detailSigner       = 0
	detailContribution = 4
	detailLength       = 8
	detailText         = 12
	detailSize         = 1024
)

var detailBuffer [detailSize]byte

// refuse describes err in the detail buffer, wipes the output buffer and
// returns what the export returns.
func refuse(err error) int32 {
	clearOutput()
	signer, contribution := -1, -1
	if blame, ok := errors.AsType[*musig2.InvalidContributionError](err); ok {
		if blame.Signer != musig2.NoSigner {
			signer = blame.Signer
		}
		contribution = slices.Index(abi.Contributions[:], blame.Contribution)
	}
	text := err.Error()
	if len(text) > detailSize-detailText {
		// A cut may fall into a character; what is left of it goes too.
		text = strings.ToValidUTF8(text[:detailSize-detailText], "")
	}
	clear(detailBuffer[:])
	binary.LittleEndian.PutUint32(detailBuffer[detailSigner:], uint32(int32(signer)))
	binary.LittleEndian.PutUint32(detailBuffer[detailContribution:], uint32(int32(contribution)))
	binary.LittleEndian.PutUint32(detailBuffer[detailLength:], uint32(len(text)))
	copy(detailBuffer[detailText:], text)
	return -int32(codeOf(err))
}
