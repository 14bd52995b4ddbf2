import { type BeaconContent, EventCode } from '../contract/beacon';

/** An event before it becomes numbers of the wire: fields are absolute. The field of a page is its index in a list of addresses. */
export type PixelEvent = [timeMs: number, code: EventCode, ...fields: number[]];

/** The buffer holds `buffered` events. A batch takes so many of them that it stays below 60 KB. */
enum Limit {
  buffered = 3_000,
  batchEvents = 800,
  batchCharacters = 36_000,
  batchPages = 32,
}

/** Adds an event to a buffer. A full buffer drops moves first, then the oldest others. Answers how many of each. */
export function addBounded(buffer: PixelEvent[], event: PixelEvent): [moves: number, others: number] {
  buffer.push(event);
  const { length } = buffer;
  if (length <= Limit.buffered) return [0, 0];
  const others = buffer.filter(([, code]) => code !== EventCode.Move);
  const surplus = others.splice(0, others.length - Limit.buffered / 2);
  // Later events belong to the last page.
  const page = surplus.filter(([, code]) => code === EventCode.Page).pop();
  if (page) others.unshift(page);
  const moves = length - others.length - surplus.length + (page ? 1 : 0);
  buffer.splice(0, length, ...others);
  return [moves, length - moves - others.length];
}

/** Takes the events of one batch from a buffer, in order of time, as one column of numbers. */
export function takeEvents(buffer: PixelEvent[], addresses: readonly string[]): Pick<BeaconContent, 'ev' | 'p'> {
  const ev: number[] = [];
  const p: string[] = [];
  let [last, lastX, lastY, characters, taken] = [0, 0, 0, 0, 0];
  buffer.sort(([a], [b]) => a - b);
  for (const [timeMs, code, ...fields] of buffer) {
    if (taken >= Limit.batchEvents || characters > Limit.batchCharacters || p.length >= Limit.batchPages) break;
    taken++;
    let written = fields.map(Math.round);
    if (code === EventCode.Move) {
      const [x, y] = written as [number, number];
      written = [x - lastX, y - lastY];
      [lastX, lastY] = [x, y];
    }
    if (code === EventCode.Page) {
      const address = addresses[written[0]!]!;
      if (!p.includes(address)) p.push(address);
      written[0] = p.indexOf(address);
      characters += address.length * 3;
    }
    const time = Math.round(timeMs * 10);
    written.unshift(code, time - last);
    last = time;
    ev.push(...written);
    characters += `${written},`.length;
  }
  buffer.splice(0, taken);
  return { ev, p: p.length > 0 ? p : undefined };
}
