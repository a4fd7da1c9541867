package musig2

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// model is a session under test, what is known of it from outside, and signers
// who answer as honestly or dishonestly as the dice say.
type model struct {
	t    *testing.T
	rng  *rand.Rand
	g    *group
	s    *Session
	peer []*secretNonce // of all signers but the first, which is s

	public [][PubNonceSize]byte // of all signers
	honest [PubNonceSize]byte   // their sum

	// The values under the aggregate nonce cached, for each message.
	cache  [2]*sessionValues
	cached [PubNonceSize]byte

	messages   [2][]byte
	message    int // index of the session's message, or -1
	bound      int // index of the message that the nonce is bound to, or -1
	nonces     []bool
	aggregate  *[PubNonceSize]byte
	given      bool // the aggregate nonce was given, not computed
	partials   []*PartialSignature
	signatures int
	signed     int // index of the message that was signed, or -1
	complete   bool
	wiped      bool
}

func newModel(t *testing.T, rng *rand.Rand, g *group) *model {
	n := len(g.contexts)
	m := &model{t: t, rng: rng, g: g, message: -1, bound: -1, signed: -1,
		nonces: make([]bool, n), partials: make([]*PartialSignature, n)}
	m.messages = [2][]byte{[]byte("one"), {}}
	for i := 1; i < n; i++ {
		o := nonceGenOptions{rand: systemRand()}
		secret, err := o.secret(g.contexts[i].agg.signers[i].encoded)
		requireOK(t, "nonce", err)
		m.peer = append(m.peer, secret)
	}
	var options []SessionOption
	if rng.IntN(2) == 0 {
		m.message = rng.IntN(2)
		m.bound = m.message
		options = append(options, WithSessionMessage(m.messages[m.message]))
	}
	var err error
	m.s, err = g.contexts[0].NewSession(options...)
	requireOK(t, "session", err)
	m.public = append(m.public, m.s.PublicNonce())
	for _, secret := range m.peer {
		points := secret.public()
		m.public = append(m.public, points.encode())
	}
	m.honest, err = AggregateNonces(m.public)
	requireOK(t, "aggregate", err)
	m.nonces[0] = true
	m.settle()
	return m
}

// settle computes the aggregate nonce once all nonces are known.
func (m *model) settle() {
	if m.aggregate == nil && !slices.Contains(m.nonces, false) {
		m.aggregate = &m.honest
	}
}

// values are those under which the session signs or has signed.
func (m *model) values(message int) *sessionValues {
	if v := m.cache[message]; v != nil && m.cached == *m.aggregate {
		return v
	}
	if m.cached != *m.aggregate {
		m.cache = [2]*sessionValues{}
		m.cached = *m.aggregate
	}
	points, err := parseAggNonce(m.aggregate)
	requireOK(m.t, "aggregate", err)
	m.cache[message] = newSessionValues(m.s.agg, m.aggregate, &points, m.messages[message])
	return m.cache[message]
}

func (m *model) partialOf(i, message int) PartialSignature {
	secret := *m.peer[i-1]
	s := m.values(message).sign(&secret, &m.g.contexts[i].key.Key, i)
	return s.Bytes()
}

// isWrong reports whether the partial signature of signer i is there and is not
// the right one, as far as there is a right one.
func (m *model) isWrong(i int) bool {
	message := max(m.message, m.signed)
	return i > 0 && m.partials[i] != nil && m.aggregate != nil && message >= 0 &&
		*m.partials[i] != m.partialOf(i, message)
}

func (m *model) state() SessionState {
	switch {
	case m.wiped:
		return StateFailed
	case m.complete:
		return StateComplete
	case m.signed >= 0:
		return StateSigned
	case m.aggregate != nil:
		return StateReady
	}
	return StateNonces
}

// check compares what the session shows with the model.
func (m *model) check(what string) {
	m.t.Helper()
	var nonces, partials []int
	for i := range m.nonces {
		if !m.nonces[i] {
			nonces = append(nonces, i)
		}
		if m.partials[i] == nil {
			partials = append(partials, i)
		}
	}
	if got := m.s.State(); got != m.state() {
		m.t.Fatalf("%s: state %s, want %s", what, got, m.state())
	}
	if got := m.s.MissingNonces(); !slices.Equal(got, nonces) {
		m.t.Fatalf("%s: nonces missing %v, want %v", what, got, nonces)
	}
	if got := m.s.MissingPartialSigs(); !slices.Equal(got, partials) {
		m.t.Fatalf("%s: partial signatures missing %v, want %v", what, got, partials)
	}
	if (m.signed >= 0 || m.wiped) && (m.s.own.SecNonce != [SecNonceSize]byte{} || !m.s.key.Key.IsZero()) {
		m.t.Fatalf("%s: secrets are left", what)
	}
}

// expect compares an error with the kinds that are possible here; none means
// that there must be no error.
func (m *model) expect(what string, err error, kinds ...ErrorKind) {
	m.t.Helper()
	if len(kinds) == 0 && err == nil {
		return
	}
	if !slices.ContainsFunc(kinds, func(kind ErrorKind) bool { return errors.Is(err, kind) }) {
		m.t.Fatalf("%s: got error %v, want one of %v", what, err, kinds)
	}
}

// expectWrong checks whom an error blames for a partial signature of signer i that
// is wrong. Nonces are those that are known when it is found out.
func (m *model) expectWrong(what string, err error, i int, nonces []bool) {
	m.t.Helper()
	switch {
	case m.given && slices.Contains(nonces, false):
		requireKind(m.t, what, err, ErrInvalidSignature)
	case *m.aggregate != m.honest:
		requireBlame(m.t, what, err, NoSigner, ContributionAggNonce)
	default:
		requireBlame(m.t, what, err, i, ContributionPartialSig)
	}
}

func (m *model) step() string {
	i := m.rng.IntN(len(m.nonces))
	switch m.rng.IntN(13) {
	case 0, 1, 2:
		return m.registerNonce(i)
	case 3:
		return m.registerBadNonce(i)
	case 4:
		return m.setAggregate()
	case 5, 6:
		return m.sign()
	case 7, 8, 9:
		return m.combine(i)
	case 10, 11:
		return m.finish()
	}
	if m.rng.IntN(20) == 0 {
		m.s.Wipe()
		m.wiped = true
		return "wipe"
	}
	_, err := m.s.CombinedNonce()
	switch {
	case m.wiped:
		m.expect("combined nonce", err, ErrWiped)
	case m.aggregate == nil:
		m.expect("combined nonce", err, ErrMissingContributions)
	default:
		m.expect("combined nonce", err)
	}
	return "combined nonce"
}

func (m *model) registerNonce(i int) string {
	_, err := m.s.RegisterPubNonce(i, m.public[i])
	what := fmt.Sprintf("nonce %d", i)
	with := slices.Clone(m.nonces)
	with[i] = true
	last := !m.nonces[i] && !slices.Contains(with, false)
	switch {
	case m.wiped:
		m.expect(what, err, ErrWiped)
	case m.nonces[i]:
		m.expect(what, err)
	case last && m.given && m.signed < 0 && *m.aggregate != m.honest:
		requireBlame(m.t, what, err, NoSigner, ContributionAggNonce)
	case m.isWrong(i):
		m.expectWrong(what, err, i, with)
		m.partials[i] = nil
	default:
		m.expect(what, err)
		m.nonces[i] = true
		m.settle()
	}
	return what
}

func (m *model) registerBadNonce(i int) string {
	nonce := m.public[i]
	kind := ErrInvalidContribution
	switch m.rng.IntN(3) {
	case 0:
		nonce[0] = 0
	case 1:
		nonce[33] ^= 4
	default:
		nonce[33] ^= 1 // the opposite point: valid, but not the one it was
		if !m.nonces[i] {
			return "nothing" // would be accepted, as from a dishonest signer
		}
		kind = ErrContributionConflict
	}
	if m.wiped {
		kind = ErrWiped
	}
	_, err := m.s.RegisterPubNonce(i, nonce)
	m.expect("bad nonce", err, kind)
	return "bad nonce"
}

func (m *model) setAggregate() string {
	nonce := m.honest
	honest := m.rng.IntN(3) > 0
	if !honest {
		nonce[m.rng.IntN(2)*33] ^= 1
	}
	err := m.s.RegisterCombinedNonce(nonce)
	const what = "aggregate nonce"
	switch {
	case m.wiped:
		m.expect(what, err, ErrWiped)
	case m.aggregate != nil && *m.aggregate == nonce:
		m.expect(what, err)
	case m.signed >= 0:
		m.expect(what, err, ErrContributionConflict)
	case !honest && !slices.Contains(m.nonces, false):
		m.expect(what, err, ErrInvalidContribution)
	default:
		m.expect(what, err)
		if m.aggregate != nil {
			clear(m.partials)
		}
		m.aggregate, m.given = &nonce, true
	}
	return what
}

func (m *model) sign() string {
	which := m.rng.IntN(3) - 1 // -1: the session's message
	var message []byte
	if which >= 0 {
		message = m.messages[which]
	}
	sig, err := m.s.Sign(message)
	const what = "sign"
	if err == nil {
		m.signatures++
	}
	switch {
	case m.signed >= 0 && !m.wiped:
		m.expect(what, err, ErrNonceUsed)
	case m.wiped:
		m.expect(what, err, ErrWiped)
	case m.aggregate == nil:
		m.expect(what, err, ErrMissingContributions)
	case which < 0 && m.message < 0:
		m.expect(what, err, ErrNoMessage)
	case which >= 0 && m.message >= 0 && which != m.message:
		m.expect(what, err, ErrMessageConflict)
	default:
		m.expect(what, err)
		m.signed = max(which, m.message)
		m.partials[0] = &sig
		s, ok := sig.parse()
		own, parseErr := parsePubNonce(&m.s.public)
		if !ok || parseErr != nil || !m.values(m.signed).verify(&s, &own, 0) {
			m.t.Fatal("the own partial signature is wrong")
		}
	}
	if m.signatures > 1 {
		m.t.Fatal("two signatures from one nonce")
	}
	return what
}

func (m *model) combine(i int) string {
	const what = "partial signature"
	message := max(m.message, m.signed)
	sig := PartialSignature{31: byte(1 + m.rng.IntN(2))}
	if i > 0 && m.aggregate != nil && message >= 0 {
		sig = m.partialOf(i, message)
		if m.rng.IntN(3) == 0 {
			sig[31] ^= 1
		}
	}
	_, err := m.s.CombineSig(i, sig)
	have := m.partials[i]
	switch {
	case m.wiped:
		m.expect(what, err, ErrWiped)
	case i == 0 && have == nil:
		m.expect(what, err, ErrInvalidArgument)
	case have != nil && *have == sig:
		m.expect(what, err)
	case have != nil:
		m.expect(what, err, ErrContributionConflict)
	default:
		m.partials[i] = &sig
		if m.nonces[i] && m.isWrong(i) {
			m.partials[i] = nil
			m.expectWrong(what, err, i, m.nonces)
			break
		}
		m.expect(what, err)
	}
	return what
}

func (m *model) finish() string {
	signature, err := m.s.FinalSig()
	const what = "finish"
	// The first wrong partial signature that can be told, and whether there is
	// one that cannot.
	first, unknown := -1, false
	for i := range m.partials {
		if m.isWrong(i) && m.nonces[i] && first < 0 {
			first = i
		}
		unknown = unknown || m.isWrong(i) && !m.nonces[i]
	}
	switch {
	case m.wiped:
		m.expect(what, err, ErrWiped)
	case m.complete:
		m.expect(what, err)
	case m.aggregate == nil || slices.Contains(m.partials, nil):
		m.expect(what, err, ErrMissingContributions, ErrNoMessage)
	case first >= 0:
		m.expectWrong(what, err, first, m.nonces)
		m.partials[first] = nil
	case unknown && err != nil:
		m.expect(what, err, ErrInvalidSignature)
	case *m.aggregate != m.honest:
		m.expect(what, err, ErrInvalidContribution, ErrInvalidSignature)
	default:
		// Two wrong ones that cannot be told may cancel each other out: then
		// there is a signature all the same.
		m.expect(what, err)
		m.complete = true
		xOnly := m.s.agg.xOnly
		if !VerifySignature(&signature, m.messages[m.signed], &xOnly) {
			m.t.Fatal("the signature does not verify")
		}
	}
	return what
}

// TestSessionModel runs random operations on sessions and compares what they
// answer with a model.
func TestSessionModel(t *testing.T) {
	operations := 1_000_000
	if runtime.GOOS == "js" || testing.Short() {
		operations = 20_000
	}
	for range 2 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			runSessionModel(t, operations)
		})
	}
}

func runSessionModel(t *testing.T, operations int) {
	t.Helper()
	rng := newRand(t)
	var groups []*group
	for n := 1; n <= 4; n++ {
		groups = append(groups, newGroup(t, rng, n, true, n == 3, randomTweaks(rng, n-1)))
	}
	var history bytes.Buffer // of the session at hand
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(history.String())
		}
	})
	completed := 0
	for done := 0; done < operations; {
		m := newModel(t, rng, groups[rng.IntN(len(groups))])
		history.Reset()
		for range 20 + rng.IntN(60) {
			what := m.step()
			fmt.Fprintln(&history, what)
			m.check(what)
			done++
		}
		if m.complete {
			completed++
		}
	}
	if completed == 0 {
		t.Fatal("no session was completed")
	}
	t.Logf("%d sessions completed", completed)
}
