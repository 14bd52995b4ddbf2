import { type BeaconContent, EventCode } from '../contract/beacon';
import { toInteger } from './wire';

/** An event before it becomes numbers of the wire: its fields are absolute, and a page's first field is its address. */
export type PixelEvent = [timeMs: number, code: EventCode, ...fields: (number | string)[]];

/** The buffer holds `buffered` events. A batch takes so many of them that it stays below 60 KB. */
enum Limit {
  buffered = 3_000,
  batchEvents = 500,
  batchPages = 16,
}

/** Adds an event to a buffer. A full buffer drops moves first, then the oldest others, and counts both in `dropped`. */
export function addBounded(buffer: PixelEvent[], event: PixelEvent, dropped: [moves: number, others: number]): void {
  buffer.push(event);
  const { length } = buffer;
  if (length <= Limit.buffered) return;
  const others = buffer.filter(([, code]) => code !== EventCode.Move);
  dropped[0] += length - others.length;
  const surplus = others.splice(0, others.length - Limit.buffered / 2);
  // Later events belong to the last page.
  const pages = surplus.filter(([, code]) => code === EventCode.Page).slice(-1);
  dropped[1] += surplus.length - pages.length;
  buffer.splice(0, length, ...pages, ...others);
}

/** Takes the events of one batch from a buffer, in order of time, as one column of numbers. */
export function takeEvents(buffer: PixelEvent[]): Pick<BeaconContent, 'ev' | 'p'> {
  const ev: number[] = [];
  const p: string[] = [];
  let last = 0;
  let lastX = 0;
  let lastY = 0;
  let taken = 0;
  buffer.sort(([a], [b]) => a - b);
  for (const [timeMs, code, ...fields] of buffer) {
    if (taken >= Limit.batchEvents || p.length >= Limit.batchPages) break;
    taken++;
    if (code === EventCode.Page) {
      const address = fields[0] as string;
      if (!p.includes(address)) p.push(address);
      fields[0] = p.indexOf(address);
    }
    const written = fields.map(toInteger);
    if (code === EventCode.Move) {
      const [x, y] = written as [number, number];
      written[0] = x - lastX;
      written[1] = y - lastY;
      lastX = x;
      lastY = y;
    }
    const time = Math.round(timeMs * 10);
    ev.push(code, time - last, ...written);
    last = time;
  }
  buffer.splice(0, taken);
  return { ev, p: p.length ? p : undefined };
}
