// Measures the milliseconds from the import of the package to a first
// signature of two signers, in a fresh process or page. The keys are made
// before.
export async function firstSignature() {
  const secretKeys = [0, 1].map(() => crypto.getRandomValues(new Uint8Array(32)));
  const message = new Uint8Array(32);
  const started = performance.now();
  const { init } = await import('brontosig');
  const { Context, publicKey, verify } = await import('brontosig/musig2');
  await init();
  const loaded = performance.now();
  const publicKeys = secretKeys.map(publicKey);
  const contexts = secretKeys.map((secretKey) => new Context({ publicKeys, sort: false, secretKey }));
  const [one, two] = contexts.map((context) => context.newSession({ message }));
  one.addNonce(1, two.publicNonce);
  two.addNonce(0, one.publicNonce);
  one.addPartialSignature(1, two.sign());
  one.sign();
  const signature = one.finish();
  const signed = performance.now();
  if (!verify(signature, message, contexts[0].outputKey)) {
    throw new Error('the signature is not valid');
  }
  return { loadMs: loaded - started, signMs: signed - loaded };
}
