package abi

import "github.com/brontosig/brontosig/musig2"

// Contributions lists the kinds of contribution in the order of the numbers
// that stand for them at the boundary, counted from 0.
var Contributions = [...]musig2.Contribution{
	musig2.ContributionPubKey,
	musig2.ContributionPubNonce,
	musig2.ContributionAggNonce,
	musig2.ContributionAggOtherNonce,
	musig2.ContributionPartialSig,
}
