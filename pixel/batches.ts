import { type BeaconContent, EventCode } from '../contract/beacon';
import { toInteger } from './wire';

/**
 * An event before it becomes numbers of the wire: its fields are absolute, and its texts (the address of a page, the id of a
 * text) are not indexes yet.
 */
export type PixelEvent = [timeMs: number, code: EventCode, ...fields: (number | string)[]];

/** The buffer holds `buffered` events. A batch takes so many of them that it stays below 60 KB. */
enum Limit {
  buffered = 3_000,
  batchEvents = 500,
  batchTexts = 16,
  textLength = 256,
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
export function takeEvents(buffer: PixelEvent[]): Pick<BeaconContent, 'ev' | 'p' | 'w'> {
  const ev: number[] = [];
  const p: string[] = [];
  const w: string[] = [];
  let last = 0;
  let lastX = 0;
  let lastY = 0;
  let taken = 0;
  buffer.sort(([a], [b]) => a - b);
  for (const [timeMs, code, ...fields] of buffer) {
    if (p.length >= Limit.batchTexts || w.length >= Limit.batchTexts || taken >= Limit.batchEvents) break;
    taken++;
    const time = Math.round(timeMs * 10);
    if (code === EventCode.Page) fields[0] = findText(p, fields[0] as string);
    if (code === EventCode.Writing) fields[1] = findText(w, (fields[1] as string).slice(0, Limit.textLength));
    const written = fields.map(toInteger);
    if (code === EventCode.Move) {
      // The difference to the last place, which then becomes this one.
      lastX += written[0]! -= lastX;
      lastY += written[1]! -= lastY;
    }
    ev.push(code, time - last, ...written);
    last = time;
  }
  buffer.splice(0, taken);
  return { ev, p: p.length ? p : undefined, w: w.length ? w : undefined };
}

/** Finds the place of a text in a list. Adds it if it is not there. */
function findText(texts: string[], text: string): number {
  if (!texts.includes(text)) texts.push(text);
  return texts.indexOf(text);
}
