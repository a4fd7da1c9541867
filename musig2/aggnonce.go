package musig2

import "github.com/brontosig/brontosig/internal/curve"

// noncePoints are the two points of a public or aggregate nonce.
type noncePoints [2]curve.Point

// parsePubNonce decodes a public nonce, both of whose points are finite. The
// text of an error says what is wrong.
func parsePubNonce(b *[PubNonceSize]byte) (points noncePoints, err error) {
	for i := range points {
		points[i], err = curve.ParseCompressed(b[i*curve.CompressedSize:][:curve.CompressedSize])
		if err != nil {
			return noncePoints{}, err
		}
	}
	return points, nil
}

// parseAggNonce decodes an aggregate nonce, each of whose points may be
// infinity: 33 zero bytes (cpoint_ext of BIP-327).
func parseAggNonce(b *[PubNonceSize]byte) (points noncePoints, err error) {
	for i := range points {
		half := b[i*curve.CompressedSize:][:curve.CompressedSize]
		if [curve.CompressedSize]byte(half) == [curve.CompressedSize]byte{} {
			continue
		}
		points[i], err = curve.ParseCompressed(half)
		if err != nil {
			return noncePoints{}, err
		}
	}
	return points, nil
}

// encode writes an aggregate nonce; infinity as 33 zero bytes (cbytes_ext).
func (n *noncePoints) encode() (b [PubNonceSize]byte) {
	for i := range n {
		if curve.IsInfinity(&n[i]) {
			continue
		}
		half := curve.Compress(&n[i])
		copy(b[i*curve.CompressedSize:], half[:])
	}
	return b
}

func sumNonces(nonces []*noncePoints) noncePoints {
	return curve.SumPairsNonConst(nonces)
}

// parsePubNonces decodes the public nonces of all signers, which it blames.
func parsePubNonces(pubNonces [][PubNonceSize]byte) ([]*noncePoints, error) {
	// BIP-327 blames in the order of the halves: a later signer's bad first
	// half comes before an earlier one's bad second half.
	memory := make([]noncePoints, len(pubNonces))
	parsed := make([]*noncePoints, len(pubNonces))
	for j := range 2 {
		for i := range pubNonces {
			half := pubNonces[i][j*curve.CompressedSize:][:curve.CompressedSize]
			p, err := curve.ParseCompressed(half)
			if err != nil {
				return nil, blame(i, ContributionPubNonce, err.Error())
			}
			memory[i][j] = p
			parsed[i] = &memory[i]
		}
	}
	return parsed, nil
}

// AggregateNonces adds public nonces up (NonceAgg of BIP-327). A half of the
// result that is the point at infinity is 33 zero bytes. It fails with ErrNoKeys
// for an empty list, and with an InvalidContributionError that blames the first
// signer whose nonce is invalid.
func AggregateNonces(pubNonces [][PubNonceSize]byte) ([PubNonceSize]byte, error) {
	if len(pubNonces) == 0 {
		return [PubNonceSize]byte{}, fail(ErrNoKeys, "the list of public nonces is empty")
	}
	parsed, err := parsePubNonces(pubNonces)
	if err != nil {
		return [PubNonceSize]byte{}, err
	}
	sum := sumNonces(parsed)
	return sum.encode(), nil
}
