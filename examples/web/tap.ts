import type { PeerOptions } from 'brontosig/lightning';

type Constructor = NonNullable<PeerOptions['WebSocket']>;

/** Bytes of the three acts of the handshake (BOLT-8). */
const ACT_ONE = 50;
const ACT_TWO = 50;
const ACT_THREE = 66;

/**
 * Makes a WebSocket class that tells what goes over its sockets: the acts of the
 * handshake, and how many bytes there were. What they say is not touched.
 *
 * @param tell - gets what has happened, for people.
 * @param count - gets the bytes that were sent and received, of all sockets.
 */
export function tapped(tell: (news: string) => void, count: (sent: number, received: number) => void): Constructor {
  let [allSent, allReceived] = [0, 0];
  class Tapped extends WebSocket {
    #sent = 0;
    #received = 0;

    constructor(url: string | URL, protocols?: string | string[]) {
      super(url, protocols);
      tell(`Calling the bridge at ${new URL(url).host}`);
      this.addEventListener('open', () => {
        tell('The bridge has let this page in');
      });
      this.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
        if (data instanceof ArrayBuffer) {
          const before = this.#received;
          this.#received += data.byteLength;
          allReceived += data.byteLength;
          if (before < ACT_TWO && this.#received >= ACT_TWO) {
            tell(`Act two came, ${ACT_TWO} bytes: the node’s ephemeral key`);
          }
          count(allSent, allReceived);
        }
      });
    }

    override send(data: Uint8Array<ArrayBuffer>): void {
      super.send(data);
      const before = this.#sent;
      this.#sent += data.byteLength;
      allSent += data.byteLength;
      if (before < ACT_ONE && this.#sent >= ACT_ONE) {
        tell(`Act one sent, ${ACT_ONE} bytes: an ephemeral key`);
      }
      if (before < ACT_ONE + ACT_THREE && this.#sent >= ACT_ONE + ACT_THREE) {
        tell(`Act three sent, ${ACT_THREE} bytes: this page’s key, encrypted`);
      }
      count(allSent, allReceived);
    }
  }
  return Tapped as unknown as Constructor;
}
