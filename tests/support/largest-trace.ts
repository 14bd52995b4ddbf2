import {
  BEACON_VERSION,
  type Beacon,
  EVENT_FIELDS,
  EventCode,
  MAX_BEACON_BYTES,
  MAX_BEACON_ITEMS,
  MAX_EVENT_VALUES,
  MAX_SESSION_BATCHES,
} from '../../contract/beacon';
import { ORDINARY } from './beacon';
import { seedRandom } from './trace';

// The largest session that the collector takes: as many batches as it may have, each as large as it may be.

const FAR = 2 ** 31 - 1;
/** The fields that have other bounds than most. */
const MOST: Record<string, number> = {
  ...{ dx: FAR, dy: FAR, x10: FAR, y10: FAR, offsetX10: FAR, offsetY10: FAR, y: FAR, width: FAR, height: FAR },
  ...{ held10: FAR, length: FAR, insertedLength: FAR, valueLength: FAR, screenX10: 9, screenY10: 9, flags: 1 },
  ...{ pointer: 2, role: 14, class: 14, type: 9, kind: 3, cause: 3, state: 1, persisted: 1, phase: 1, mode: 2 },
  ...{ page: MAX_BEACON_ITEMS - 1, slot: 63 },
};
const CODES = [
  ...[EventCode.Press, EventCode.Release, EventCode.KeyDown, EventCode.KeyUp, EventCode.Clipboard, EventCode.Input],
  ...[EventCode.Focus, EventCode.Scroll, EventCode.Visibility, EventCode.Page, EventCode.Leave, EventCode.Move],
];
/** What stands around the events of a beacon. */
const ENVELOPE_BYTES = 6_000;

export type LargestKind = 'moves' | 'everything';

/**
 * Makes the batches of such a session: nothing but short moves, as many as there can be, or everything far away. `documents`: in how
 * many documents they are. `maxBytes`: for the events of a batch.
 */
export function* makeLargestBatches(
  kind: LargestKind,
  documents: number,
  maxBytes: number = MAX_BEACON_BYTES,
): Generator<Beacon> {
  const random = seedRandom(7);
  for (let place = 0; place < MAX_SESSION_BATCHES; place++) {
    const n = Math.floor(place / documents);
    // Addresses of four bytes a character, and others in each batch. Only some fit next to the events.
    const p =
      kind === 'moves' ? [] : Array.from({ length: 6 }, (_, at) => `https://a/${place}-${at}/${'𝒜'.repeat(180)}`);
    const beacon: Beacon = {
      ...{
        v: BEACON_VERSION,
        k: `site_${'a'.repeat(24)}`,
        s: 'a'.repeat(32),
        d: (place % documents).toString(16).padStart(16, '0'),
        n,
      },
      ...{ c: [28_000_000, 1_800_000_000_000], ...(p.length > 0 && { p }), ev: [] },
      ...(n === 0 && { e: ORDINARY }),
    };
    const room = Math.min(maxBytes, MAX_BEACON_BYTES - ENVELOPE_BYTES - Buffer.byteLength(JSON.stringify(p)));
    let bytes = 0;
    for (let count = 0; ; count++) {
      const code = kind === 'moves' ? EventCode.Move : CODES[count % CODES.length]!;
      const step10 = count === 0 ? place * 140_000 : kind === 'moves' ? 9 : Math.floor(random() * 2_000);
      const event = [code, step10, ...EVENT_FIELDS[code].map((name) => choose(name, kind, p.length, random))];
      bytes += event.join().length + 1;
      if (bytes > room || beacon.ev.length + event.length > MAX_EVENT_VALUES) break;
      beacon.ev.push(...event);
    }
    yield beacon;
  }
}

function choose(name: string, kind: LargestKind, pages: number, random: () => number): number {
  if (kind === 'moves') return Math.floor(random() * 19) - 9;
  const most = name === 'page' ? pages - 1 : (MOST[name] ?? 0);
  // Both signs where there are signs, so that all differences are large.
  const isSigned = /^(d[xy]|[xy]10|offset|y$)/.test(name);
  const value = Math.floor(random() * (most + 1));
  return isSigned && random() < 0.5 ? -value : value;
}
