import { element, svg } from './dom.js';

/** How many pings are shown. */
const SHOWN = 60;

const WIDTH = 600;
const HEIGHT = 140;

/** A graph of round trips, whose figures stand beside it as text. */
export class PingGraph {
  readonly #host: HTMLElement;
  /** Milliseconds, or undefined for a ping that was not answered. */
  #trips: (number | undefined)[] = [];
  #total = 0;

  constructor(host: HTMLElement) {
    this.#host = host;
    this.#draw();
  }

  /** Adds a round trip, or a ping that was not answered. */
  add(rttMs: number | undefined): void {
    this.#total++;
    this.#trips = [...this.#trips, rttMs].slice(-SHOWN);
    this.#draw();
  }

  /** Forgets everything. */
  clear(): void {
    this.#total = 0;
    this.#trips = [];
    this.#draw();
  }

  #draw(): void {
    const answered = this.#trips.filter((trip) => trip !== undefined);
    const longest = Math.max(0, ...answered);
    const scale = niceScale(longest);
    const x = (i: number): number => ((i + 0.5) * WIDTH) / SHOWN;
    const y = (trip: number): number => HEIGHT - 6 - (trip / scale) * (HEIGHT - 16);
    const points = this.#trips.map((trip, i) => (trip === undefined ? undefined : `${x(i).toFixed(1)} ${y(trip).toFixed(1)}`));
    let path = '';
    points.forEach((point, i) => {
      path += point === undefined ? '' : `${points[i - 1] === undefined ? 'M' : 'L'}${point}`;
    });
    const dots = points.map((point) => (point === undefined ? '' : `M${point}h0`)).join('');
    const lost = this.#trips.map((trip, i) => (trip === undefined ? `M${x(i).toFixed(1)} 4V${HEIGHT}` : '')).join('');
    const figures = [
      ['Last', ms(answered.at(-1))],
      ['Median', ms(answered.toSorted((a, b) => a - b)[answered.length >> 1])],
      ['Longest', ms(answered.length === 0 ? undefined : longest)],
      ['Lost', `${this.#trips.length - answered.length} of ${this.#trips.length}`],
    ] as const;
    const label = this.#trips.length === 0
      ? 'Graph of round trips: no ping yet'
      : `Graph of the last ${this.#trips.length} of ${this.#total} pings. ${figures.map(([name, value]) => `${name}: ${value}`).join(', ')}`;
    this.#host.replaceChildren(
      element('p', { className: 'scale hint', ariaHidden: 'true' }, `${scale} ms`),
      svg(
        'svg',
        { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
        svg('path', { class: 'grid', d: [10, 73, HEIGHT - 6].map((at) => `M0 ${at}H${WIDTH}`).join('') }),
        svg('path', { class: 'lost', d: lost }),
        svg('path', { class: 'curve', d: path }),
        svg('path', { class: 'dots', d: dots }),
      ),
      element('dl', { className: 'figures' }, ...figures.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value)))),
    );
  }
}

/** A round number of milliseconds above all that is shown. */
function niceScale(longest: number): number {
  let scale = 1;
  for (let i = 0; scale < longest; i++) {
    scale *= i % 3 === 1 ? 2.5 : 2;
  }
  return scale;
}

function ms(value: number | undefined): string {
  return value === undefined ? '–' : `${value.toFixed(1)} ms`;
}
