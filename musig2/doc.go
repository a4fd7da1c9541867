// Package musig2 makes BIP-340 signatures together with other signers, as
// BIP-327 (MuSig2, version 1.0.4) specifies: n signers, each with an own key,
// make one signature under one aggregate key in two rounds.
//
// # A session
//
// Each signer makes a [Context] of the public keys and the own secret key, and
// from it one [Session] per signature. The signers exchange the public nonces of
// their sessions ([Session.PublicNonce], [Session.RegisterPubNonce]), sign
// ([Session.Sign]), exchange the partial signatures ([Session.CombineSig]), and
// anyone of them combines ([Session.FinalSig]). Instead of all to all, nonces and
// partial signatures may go through a [Coordinator], which needs no key.
//
// Whatever comes from outside names the signer it comes from by index in the
// effective order of the keys, so that an [InvalidContributionError] can say whom
// to exclude from the next attempt. A contribution that is refused leaves the
// session as it was.
//
// # What keeps the key safe
//
// A secret nonce that signs twice gives the secret key away. Therefore a session
// signs once; the nonce is taken out of memory by the first step of signing that
// reads it, whether or not signing succeeds, and no session or nonce can be
// encoded or restored. What this package cannot prevent is that a whole process
// is duplicated: do not fork, snapshot, suspend to disk and restore twice, or
// clone a virtual machine while a session is between [Context.NewSession] and
// [Session.Sign].
//
// No branch and no memory index depends on a secret key or secret nonce, but for
// the checks that a valid one passes (not zero, below n). Both are overwritten
// after use, on error and by Wipe, as far as Go allows: the compiler and the
// runtime may keep copies in registers and on the stack.
//
// # Coming from btcec
//
// The names are those of github.com/btcsuite/btcd/btcec/v2/schnorr/musig2, and
// so are the key types. What differs:
//
//	btcec                           here                            why
//	AggregateKeys(keys, sort, opt)  AggregateKeys(keys, sort, t...) tweaks are one ordered list of any mix
//	WithKeyTweaks, With…Tweak       PlainTweak, XOnlyTweak,
//	                                TaprootTweak, BIP86Tweak
//	msg [32]byte                    msg []byte                      BIP-327 signs messages of any length
//	Sign(secNonce [97]byte, …)      Sign(secNonce *[97]byte, …)     the nonce is taken away, also on error
//	*PartialSignature (S, R)        PartialSignature, 32 bytes      it is parsed where the signer to blame is known
//	CombineSigs → *schnorr.Sig…     CombineSigs → [64]byte, error   the result is verified first
//	RegisterPubNonce(nonce)         RegisterPubNonce(i, nonce)      blame needs to know who it was
//	CombineSig(sig)                 CombineSig(i, sig)              likewise; verified when it arrives
//	Session.Sign aggregates again   the Context aggregates once     n-1 multiplications fewer per signature
//	RegisterSigner, WithNumSigners  WithKnownSigners                a Context never changes
//	errors by variable              ErrorKind with errors.Is, and   blame is data
//	                                InvalidContributionError
package musig2
