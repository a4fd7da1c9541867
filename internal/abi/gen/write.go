package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/brontosig/brontosig/brontide"
	"github.com/brontosig/brontosig/internal/abi"
	"github.com/brontosig/brontosig/lnpeer"
	"github.com/brontosig/brontosig/musig2"
)

// number is a size or limit that JavaScript needs, with its documentation.
type number struct {
	name  string
	value int
	doc   string
}

var numbers = []number{
	{"SECRET_KEY_SIZE", musig2.SecretKeySize, "Bytes of a secret key."},
	{"PUBLIC_KEY_SIZE", musig2.PubKeySize, "Bytes of a compressed public key."},
	{"X_ONLY_KEY_SIZE", musig2.XOnlyPubKeySize, "Bytes of an x-only public key (BIP-340)."},
	{"PUBLIC_NONCE_SIZE", musig2.PubNonceSize, "Bytes of a public nonce, and of an aggregate nonce (BIP-327)."},
	{"PARTIAL_SIGNATURE_SIZE", musig2.PartialSigSize, "Bytes of a partial signature (BIP-327)."},
	{"SIGNATURE_SIZE", musig2.SignatureSize, "Bytes of a signature (BIP-340)."},
	{"TWEAK_SIZE", musig2.TweakSize, "Bytes of a tweak and of a merkle root."},
	{"RAND_SIZE", musig2.RandSize, "Bytes of the optional randomness of deterministic signing (BIP-327)."},
	{"MAX_BRONTIDE_MESSAGE_SIZE", brontide.MaxMessageSize, "Bytes of the longest message of a Lightning connection (BOLT-8)."},
	{"MAX_BRONTIDE_PACKET_SIZE", brontide.HeaderSize + brontide.MaxMessageSize + brontide.MACSize, "Bytes of the same as it goes over the transport."},
	{"MAX_PING_PADDING", lnpeer.MaxPingPadding, "Bytes of the most padding in a ping (BOLT-1)."},
	{"NO_PONG", lnpeer.NoPong, "The least number of pong bytes in a ping that asks for no pong (BOLT-1)."},
	{"ANY_PONG", abi.AnyPong, "Asks for a number of pong bytes that tells a ping apart from the others."},
	{"PING_INTERVAL", int(lnpeer.PingInterval), "Milliseconds from one ping to the next, at least."},
	{"MAX_COMMANDO_REQUEST", lnpeer.MaxCommandoRequest, "Bytes of the longest commando request."},
	{"CHANNEL_ID_SIZE", 32, "Bytes of a channel's identifier (BOLT-2)."},
	{"CHAIN_HASH_SIZE", 32, "Bytes of the hash that names a network (BOLT-0)."},
	{"MAX_MESSAGE_SIZE", abi.MaxMessageSize, "Bytes of the longest message that can be signed or verified."},
	{"MAX_SIGNERS", abi.MaxSigners, "The largest number of keys, or of nonces, in one call."},
	{"MAX_INPUT_SIZE", abi.MaxInputSize, "Bytes that all arguments of one call may have together."},
}

// writeComment writes a doc comment, with the paragraphs of text kept.
func writeComment(out *bytes.Buffer, indent, text string) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) == 1 {
		fmt.Fprintf(out, "%s/** %s */\n", indent, lines[0])
		return
	}
	fmt.Fprintf(out, "%s/**\n", indent)
	for _, line := range lines {
		fmt.Fprintf(out, "%s\n", strings.TrimRight(indent+" * "+line, " "))
	}
	fmt.Fprintf(out, "%s */\n", indent)
}

// writeCodes writes the codes as a list, whose order gives their numbers, and
// as a type. A comment is repeated on the member of the type, where editors
// show it.
func writeCodes(out *bytes.Buffer, codes []code) {
	fmt.Fprint(out, "\n/** The kinds of error that the wasm module reports. */\nexport type CoreErrorCode =\n")
	for i, c := range codes {
		writeComment(out, "  ", c.doc)
		end := ""
		if i == len(codes)-1 {
			end = ";"
		}
		fmt.Fprintf(out, "  | '%s'%s\n", c.name, end)
	}
	fmt.Fprint(out, "\n/** The codes in the order of their numbers at the boundary, from 1. */\n")
	fmt.Fprint(out, "export const CORE_ERROR_CODES: readonly CoreErrorCode[] = [\n")
	for _, c := range codes {
		fmt.Fprintf(out, "  '%s',\n", c.name)
	}
	fmt.Fprint(out, "];\n")
}

// writeNames writes a list of names, whose order gives their numbers, and its
// union as a type.
func writeNames[T ~string](out *bytes.Buffer, typeName, typeDoc, listName string, values []T) {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = fmt.Sprintf("'%s'", v)
	}
	fmt.Fprintf(out, "\n/** %s */\n", typeDoc)
	fmt.Fprintf(out, "export type %s = %s;\n", typeName, strings.Join(names, " | "))
	fmt.Fprintf(out, "\n/** The values of {@link %s} in the order of their numbers at the boundary, from 0. */\n", typeName)
	fmt.Fprintf(out, "export const %s: readonly %s[] = [\n  %s,\n];\n", listName, typeName, strings.Join(names, ",\n  "))
}

func writeNumbers(out *bytes.Buffer) {
	for _, n := range numbers {
		fmt.Fprint(out, "\n")
		writeComment(out, "", n.doc)
		fmt.Fprintf(out, "export const %s = %d;\n", n.name, n.value)
	}
}

func writeExports(out *bytes.Buffer, exports []export) {
	fmt.Fprint(out, "\n/** The functions that the wasm module exports. */\nexport interface Exports {\n")
	for _, e := range exports {
		params := make([]string, len(e.params))
		for i, param := range e.params {
			params[i] = param + ": number"
		}
		result := "void"
		if e.result {
			result = "number"
		}
		writeComment(out, "  ", e.doc)
		fmt.Fprintf(out, "  readonly %s: (%s) => %s;\n", e.name, strings.Join(params, ", "), result)
	}
	fmt.Fprint(out, "}\n")
}
