import { once } from 'node:events';
import type { Socket } from 'node:net';
import { init } from 'brontosig';
import { Machine } from 'brontosig/brontide';
import { WebSocketServer, type WebSocket } from 'ws';
import { tcpServer, type TestServer } from '../connections.js';
import { startDemoBridge } from '../demo-bridge.js';
import { nodeSecret, type Carrier, type Place } from './places.js';

/** One connection of a node, over TCP or a WebSocket. */
interface Wire {
  readonly onBytes: (take: (bytes: Uint8Array) => void) => void;
  readonly send: (bytes: Uint8Array, sent?: () => void) => void;
  /** Ends it in order. */
  readonly end: () => void;
  /** Ends it as the death of the process does. */
  readonly kill: () => void;
  /** Reads no more. */
  readonly pause: () => void;
  /** Sends a text, where that is possible. */
  readonly text: (text: string) => void;
}

/** Answers the handshake, then runs something with every batch of messages, the first of which is empty. */
function respond(wire: Wire, ready: (machine: Machine, messages: readonly Uint8Array[]) => void): void {
  const machine = new Machine({ role: 'responder', secretKey: nodeSecret });
  wire.onBytes((bytes) => {
    let received;
    try {
      received = machine.receive(bytes);
    } catch {
      wire.end(); // as a node does that meets a wrong act or message
      return;
    }
    if (received.send !== undefined) {
      wire.send(received.send);
    }
    if (machine.state === 'ready') {
      ready(machine, received.messages);
    }
  });
}

/** Answers the handshake, and then does one thing. */
function afterHandshake(wire: Wire, then: (machine: Machine) => void): void {
  let done = false;
  respond(wire, (machine) => {
    if (!done) {
      done = true;
      then(machine);
    }
  });
}

/** Two messages, of which the second is damaged. */
function damaged(wire: Wire, at: number): void {
  afterHandshake(wire, (machine) => {
    const good = machine.encrypt(Uint8Array.of(1));
    const bad = machine.encrypt(new Uint8Array(50));
    bad[at] = (bad[at] ?? 0) ^ 1;
    wire.send(Buffer.concat([good, bad]));
  });
}

/** A message and a half, then the end. */
function inTheMiddle(wire: Wire, end: () => void): void {
  afterHandshake(wire, (machine) => {
    const whole = machine.encrypt(Uint8Array.of(1));
    const half = machine.encrypt(new Uint8Array(1000)).subarray(0, 500);
    wire.send(Buffer.concat([whole, half]), end);
  });
}

function actTwo(act: Uint8Array): Uint8Array {
  return new Machine({ role: 'responder', secretKey: nodeSecret }).receive(act).send ?? new Uint8Array();
}

/** Nodes that behave well, and in every bad way. */
const nodes: Readonly<Record<string, (wire: Wire) => void>> = {
  echo(wire) {
    respond(wire, (machine, messages) => {
      for (const message of messages) {
        wire.send(machine.encrypt(message));
      }
    });
  },
  bytewise(wire) {
    const piecemeal = (bytes: Uint8Array): void => {
      for (let at = 0; at < bytes.length; at++) {
        wire.send(bytes.subarray(at, at + 1));
      }
    };
    nodes['echo']?.({ ...wire, send: piecemeal });
  },
  endsAtOnce(wire) {
    wire.end();
  },
  endsAfterActOne(wire) {
    wire.onBytes(wire.end);
  },
  killsAfterActOne(wire) {
    wire.onBytes(wire.kill);
  },
  endsInActTwo(wire) {
    wire.onBytes((act) => {
      wire.send(actTwo(act).subarray(0, 20), wire.end);
    });
  },
  badActTwo(wire) {
    wire.onBytes((act) => {
      const bytes = actTwo(act);
      bytes[49] = (bytes[49] ?? 0) ^ 1;
      wire.send(bytes);
    });
  },
  wrongVersion(wire) {
    wire.onBytes(() => {
      wire.send(new Uint8Array(50).fill(1));
    });
  },
  silent() {
    // It takes what comes and says nothing.
  },
  garbage(wire) {
    afterHandshake(wire, () => {
      wire.send(new Uint8Array(100).fill(7));
    });
  },
  badHeader(wire) {
    damaged(wire, 35 + 3);
  },
  badBody(wire) {
    damaged(wire, 35 + 30);
  },
  killsInMessage(wire) {
    inTheMiddle(wire, wire.kill);
  },
  endsInMessage(wire) {
    inTheMiddle(wire, wire.end);
  },
  lastWords(wire) {
    afterHandshake(wire, (machine) => {
      const words = [1, 2, 3].map((n) => machine.encrypt(Uint8Array.of(n)));
      // They are given a turn to arrive: a TCP reset overtakes what was sent.
      wire.send(Buffer.concat(words), () => setImmediate(wire.kill));
    });
  },
  stuck(wire) {
    afterHandshake(wire, wire.pause);
  },
  flood(wire) {
    afterHandshake(wire, (machine) => {
      let left = 256;
      const more = (): void => {
        if (left-- > 0) {
          wire.send(machine.encrypt(new Uint8Array(65_535)), more);
        }
      };
      more();
    });
  },
  text(wire) {
    afterHandshake(wire, (machine) => {
      wire.send(machine.encrypt(Uint8Array.of(1)));
      wire.text('text');
      wire.send(machine.encrypt(Uint8Array.of(2)));
    });
  },
  oversized(wire) {
    afterHandshake(wire, (machine) => {
      wire.send(machine.encrypt(Uint8Array.of(1)));
      wire.send(new Uint8Array((1 << 20) + 1));
      wire.send(machine.encrypt(Uint8Array.of(2)));
    });
  },
};

function tcpWire(socket: Socket): Wire {
  return {
    onBytes: (take) => socket.on('data', take),
    send: (bytes, sent) => socket.write(bytes, sent),
    end: () => socket.end(),
    kill: () => socket.resetAndDestroy(),
    pause: () => socket.pause(),
    text: (text) => socket.write(text),
  };
}

function webSocketWire(socket: WebSocket): Wire {
  return {
    onBytes: (take) => socket.on('message', (data: Buffer) => { take(data); }),
    send: (bytes, sent) => { socket.send(bytes, sent); },
    end: () => { socket.close(); },
    kill: () => { socket.terminate(); },
    pause: () => { socket.pause(); },
    text: (text) => { socket.send(text); },
  };
}

/** Serves all nodes over WebSockets, each at a path of its name. */
async function webSockets(host: string): Promise<TestServer & { readonly addresses: Record<string, string> }> {
  const server = new WebSocketServer({ host, port: 0 });
  server.on('connection', (socket, request) => {
    socket.on('error', () => { socket.terminate(); });
    nodes[(request.url ?? '').slice(1)]?.(webSocketWire(socket));
  });
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const authority = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  return {
    port,
    addresses: Object.fromEntries(Object.keys(nodes).map((name) => [name, `ws://${authority}/${name}`])),
    async stop() {
      for (const socket of server.clients) {
        socket.terminate();
      }
      server.close();
      await once(server, 'close');
    },
  };
}

/** The nodes and the bridge, while they run. */
export interface Running {
  readonly place: Place;
  stop(): Promise<void>;
}

/** Starts every node on every carrier. */
export async function startNodes({ origin, ipv6 = false }: { origin?: string; ipv6?: boolean } = {}): Promise<Running> {
  await init();
  const host = ipv6 ? '::1' : '127.0.0.1';
  const authority = (port: number): string => (ipv6 ? `[::1]:${port}` : `127.0.0.1:${port}`);
  const servers = await Promise.all(
    Object.entries(nodes).map(async ([name, node]) => {
      const server = await tcpServer((socket) => { node(tcpWire(socket)); }, host);
      return { name, server, target: authority(server.port) };
    }),
  );
  const direct = await webSockets(host);
  const bridge = await startDemoBridge([
    ...servers.flatMap(({ target }) => ['--allow', target]),
    ...(origin === undefined ? [] : ['--origin', origin]),
  ]);
  const addresses = (prefix: string): Record<string, string> =>
    Object.fromEntries(servers.map(({ name, target }) => [name, `${prefix}${target}`]));
  const carriers: Carrier[] = [
    { name: 'tcp', addresses: addresses('tcp://') },
    { name: 'ws', addresses: direct.addresses },
    { name: 'bridge', addresses: addresses(`${bridge.bridge}/`) },
  ];
  return {
    place: { carriers, bridge: bridge.bridge, peer: `${bridge.nodeId}@${bridge.address}`, rune: bridge.rune },
    async stop() {
      await bridge.stop();
      await direct.stop();
      await Promise.all(servers.map(async ({ server }) => server.stop()));
    },
  };
}
