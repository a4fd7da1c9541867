package musig2

// RandSize is the length of the optional randomness of DeterministicSign.
const RandSize = 32

// DeterministicSign makes the public nonce and the partial signature of the
// signer that comes last, without a state to keep (DeterministicSign of
// BIP-327). aggOtherNonce is the aggregate of the public nonces of all other
// signers. rand is optional randomness that protects against faults; nil leaves
// it out. Signing twice with the same input gives the same result, so nothing
// needs to be remembered.
//
// The errors are ErrNoSecretKey, ErrWiped, ErrSelfVerify and an
// InvalidContributionError for aggOtherNonce.
func (c *Context) DeterministicSign(aggOtherNonce [PubNonceSize]byte, message []byte,
	rand *[RandSize]byte) ([PubNonceSize]byte, PartialSignature, error) {

	key, err := c.signingKey()
	if err != nil {
		return [PubNonceSize]byte{}, PartialSignature{}, err
	}
	other, err := parsePubNonce(&aggOtherNonce)
	if err != nil {
		return [PubNonceSize]byte{}, PartialSignature{}, blame(NoSigner, ContributionAggOtherNonce, err.Error())
	}
	var seed [32]byte
	defer clear(seed[:])
	if rand != nil {
		seed = *rand
		maskSecretKey(&seed, key)
	} else {
		key.Key.PutBytes(&seed)
	}
	length := putUint64(len(message))
	secret, err := deriveNonce(tagDetNonce, c.agg.signers[c.signer].encoded,
		seed[:], aggOtherNonce[:], c.agg.xOnly[:], length[:], message)
	if err != nil {
		return [PubNonceSize]byte{}, PartialSignature{}, err
	}
	defer secret.wipe()
	own := secret.public()
	sum := sumNonces([]*noncePoints{&own, &other})
	encoded := sum.encode()
	v := newSessionValues(c.agg, &encoded, &sum, message)
	sig, err := v.signChecked(secret, &key.Key, c.signer, &own)
	if err != nil {
		return [PubNonceSize]byte{}, PartialSignature{}, err
	}
	return own.encode(), sig, nil
}
