import table from '../../lnpeer/features.txt?raw';

/** A feature that a node has said in init. */
export interface Feature {
  readonly bit: number;
  readonly name: string;
  /** Whether the other side must know it: its bit is even. */
  readonly required: boolean;
}

/** The names of the features, by their even bits. */
const names = new Map(
  table
    .split('\n')
    .filter((line) => /^\d/.test(line))
    .map((line) => line.split(/\s+/))
    .map(([bit = '', name = '']) => [Number(bit), name] as const),
);

/** Lists the features of a bit map, which is big-endian. */
export function featuresOf(bitMap: Uint8Array): Feature[] {
  const found: Feature[] = [];
  bitMap.toReversed().forEach((byte, i) => {
    for (let bit = 8 * i; bit < 8 * i + 8; bit++) {
      if ((byte >> (bit % 8)) % 2 === 1) {
        found.push({ bit, name: names.get(bit - (bit % 2)) ?? 'not in BOLT-9', required: bit % 2 === 0 });
      }
    }
  });
  return found;
}
