import { describe, expect, it } from 'vitest';
import { ENVIRONMENT_BITS, EVENT_FLAGS, EventCode, INPUT_TYPES, MAX_BEACON_BYTES } from '../../../contract/beacon';
import { RECORDED_KEYS, RECORDED_TEXTS } from '../../../contract/recorded-kinds';
import { MAX_RECORDING_BYTES } from '../../../contract/recordings';
import { readBeacon } from '../../../server/detection/batch';
import { MAX_KEYS, MAX_PATH_POINTS, makeRecording } from '../../../server/detection/recording';
import type { TraceBatch } from '../../../server/detection/trace';
import { packNumbers } from '../../../server/detection/varints';
import { makeLargestBatches } from '../../support/largest-trace';
import { buildTrace, DESKTOP, TraceBuilder } from '../../support/trace';

const START_MS = 1_800_000_000_000;
/** When the builder's documents have their time origin by the server's clock. */
const ORIGIN_MS = START_MS + 40;
const { trusted, hasCode } = EVENT_FLAGS;

describe('the recording of a session', () => {
  it('says when and where pointer, keys, texts, focus and pages were', () => {
    const builder = new TraceBuilder({ originMs: START_MS });
    builder.wait(100).move(100, 100).wait(100).move(200, 120);
    builder.wait(50).press(200, 120, 80, { width: 60, height: 20, offsetX10: 100, offsetY10: -20, role: 3 });
    builder.wait(20).add(EventCode.Focus, { field: 0, role: 4 });
    builder.wait(100).key('capital', 90).wait(50).key('backspace', 60);
    builder.wait(50).add(EventCode.Clipboard, { kind: 0, length: 480 });
    builder.wait(50).add(EventCode.Input, { type: 1, insertedLength: 40 });
    builder.wait(50).add(EventCode.Scroll, { y: 300 }).wait(50).add(EventCode.Visibility, { state: 1 });
    builder.wait(50).page('https://lms.example.edu/next', 1);
    const { documents, urls, endMs, ...rest } = makeRecording(buildTrace(builder).batches, ORIGIN_MS);
    expect(urls).toEqual(['https://lms.example.edu/quiz', 'https://lms.example.edu/next']);
    expect(endMs).toBe(1_000);
    expect(rest).toEqual({ pathTolerancePx: 1, scrollTolerancePx: 1, leftOut: 0 });
    const paste = RECORDED_TEXTS.indexOf('paste');
    const insert = RECORDED_TEXTS.indexOf('insert');
    expect(documents).toEqual([
      {
        ...{ startMs: 100, isFramed: false, windows: [0, 1385, 813] },
        pages: [0, 0, 900, 1],
        path: [100, 100, 100, 100, 200, 120],
        presses: [250, 0, 200, 120, 160, 112, 60, 20, 3, 80, 0],
        focuses: [350, 4],
        keys: [450, 90, RECORDED_KEYS.indexOf('character'), 140, 60, RECORDED_KEYS.indexOf('erase')],
        typing: [],
        texts: [700, paste, 2, 50, insert, 1],
        scrolls: [800, 300],
        visibility: [850, 1],
      },
    ]);
  });

  it('never tells letters, digits and capitals apart, so that nobody reads words out of it', () => {
    const write = (kinds: ('letter' | 'capital' | 'digit' | 'space' | 'punctuation')[]) => {
      const builder = new TraceBuilder({ originMs: START_MS });
      for (const kind of kinds) builder.wait(100).key(kind, 50, trusted | hasCode);
      return JSON.stringify(makeRecording(buildTrace(builder).batches, ORIGIN_MS));
    };
    expect(write(['capital', 'digit', 'space'])).toBe(write(['letter', 'punctuation', 'letter']));
  });

  it('says which documents are frames', () => {
    const frame = { ...DESKTOP, b: ENVIRONMENT_BITS.framed };
    const pages = [
      new TraceBuilder({ originMs: START_MS }),
      new TraceBuilder({ document: '00000000000000d2', originMs: START_MS + 1, environment: frame }),
    ];
    const { documents } = makeRecording(buildTrace(pages).batches, ORIGIN_MS);
    expect(documents.map(({ isFramed }) => isFramed)).toEqual([false, true]);
  });

  it('tells a key that was released at once from one that is still down', () => {
    const builder = new TraceBuilder({ originMs: START_MS }).wait(100).key('letter', 0).wait(100);
    builder.add(EventCode.KeyDown, { class: 0, slot: 9, flags: trusted | hasCode });
    const [document] = makeRecording(buildTrace(builder).batches, ORIGIN_MS).documents;
    const character = RECORDED_KEYS.indexOf('character');
    expect(document!.keys).toEqual([100, 0, character, 100, -1, character]);
  });

  it('shows text that came at once, by the class of its length', () => {
    const textsOf = (fields: { type: number; insertedLength: number }) => {
      const builder = new TraceBuilder({ originMs: START_MS, url: null }).add(EventCode.Input, fields);
      return makeRecording(buildTrace(builder).batches, ORIGIN_MS).documents[0]!.texts;
    };
    const insert = RECORDED_TEXTS.indexOf('insert');
    const [typed, other, pasted] = ['insertText', 'other', 'insertFromPaste'].map((name) =>
      INPUT_TYPES.indexOf(name as 'other'),
    );
    // Fewer are those of a key. A paste has its own event.
    expect(textsOf({ type: typed!, insertedLength: 9 })).toEqual([]);
    expect(textsOf({ type: pasted!, insertedLength: 500 })).toEqual([]);
    const classes = [10, 11, 100, 101, 1_000, 1_001].map((insertedLength) => textsOf({ type: other!, insertedLength }));
    expect(classes).toEqual([0, 1, 1, 2, 2, 3].map((lengthClass) => [0, insert, lengthClass]));
    const pasteOf = (length: number) => {
      const builder = new TraceBuilder({ originMs: START_MS, url: null }).add(EventCode.Clipboard, { kind: 0, length });
      return makeRecording(buildTrace(builder).batches, ORIGIN_MS).documents[0]!.texts[2];
    };
    expect([-1, 0].map(pasteOf)).toEqual([-1, 0]);
  });

  it('says when a page was left, and what a script pressed', () => {
    const builder = new TraceBuilder({ originMs: START_MS, url: null }).press(9, 9, 20, { flags: 0 });
    builder.wait(10).add(EventCode.Leave);
    const [document] = makeRecording(buildTrace(builder).batches, ORIGIN_MS).documents;
    expect([document!.presses.slice(-2), document!.visibility]).toEqual([
      [20, 1],
      [30, 2],
    ]);
  });

  it('shows the pages that it has room for, cut to what tells them apart', () => {
    const base = 'https://lms.example.edu/';
    const builder = new TraceBuilder({ originMs: START_MS, url: base.padEnd(160, 'a') });
    builder.wait(10).page(base.padEnd(161, 'b'), 1).wait(10).page(base.padEnd(161, 'b'), 1);
    for (let n = 0; n < 49; n++) builder.wait(10).page(`${base}${n}`, 1);
    const { urls, documents } = makeRecording(buildTrace(builder).batches, ORIGIN_MS);
    expect(urls.slice(0, 2)).toEqual([base.padEnd(160, 'a'), `${base.padEnd(159, 'b')}…`]);
    expect([urls.length, urls.at(-1)]).toEqual([50, `${base}47`]);
    const shown = documents[0]!.pages.filter((_, place) => place % 2 === 1);
    expect(shown).toEqual([0, 1, 1, ...Array.from({ length: 48 }, (_, n) => n + 2), -1]);
  });

  it('leaves out presses evenly if there are too many, and says how many', () => {
    const recordOf = (counts: number[]) => {
      const pages = counts.map((count, place) => {
        const builder = new TraceBuilder({
          ...{ originMs: START_MS + place * 10_000_000, document: `${place}`.repeat(16), environment: null, url: null },
        });
        for (let n = 0; n < count; n++) builder.wait(100).press(9, 9, 20);
        return builder;
      });
      const { documents, leftOut } = makeRecording(buildTrace(pages).batches, ORIGIN_MS);
      return [documents.map(({ presses }) => presses.length / 11), leftOut];
    };
    expect(recordOf([400, 200])).toEqual([[400, 200], 0]);
    expect(recordOf([800, 400])).toEqual([[400, 200], 600]);
    expect(recordOf([401, 200])).toEqual([[400, 200], 1]);
  });

  it('leaves out documents beyond the first 120', () => {
    const pages = Array.from({ length: 122 }, (_, n) =>
      new TraceBuilder({ originMs: START_MS + n, document: `${n}`.padStart(16, '0') }).wait(10).press(9, 9, 20),
    );
    const { documents, leftOut } = makeRecording(buildTrace(pages).batches, ORIGIN_MS);
    // Of each: its window, page and press.
    expect([documents.length, documents[0]!.startMs, leftOut]).toEqual([120, 100, 2 * 3]);
  });

  it('tells runs of typing instead of each key if there are too many', () => {
    const builder = new TraceBuilder({ originMs: START_MS });
    for (let count = 0; count <= MAX_KEYS; count++) builder.wait(count === 10 ? 5_000 : 100).key('letter', 50);
    const [document] = makeRecording(buildTrace(builder).batches, ORIGIN_MS).documents;
    expect(document!.keys).toEqual([]);
    expect(document!.typing).toEqual([100, 9 * 150, 10, 9 * 150 + 5_050, (MAX_KEYS - 10) * 150, MAX_KEYS - 9]);
  });

  it('joins keys up to a second apart to a run, or more if there are too many runs', () => {
    const typingOf = (pausesMs: (n: number) => number, count = MAX_KEYS + 1) => {
      const builder = new TraceBuilder({ originMs: START_MS, url: null });
      for (let n = 0; n < count; n++) builder.wait(pausesMs(n) - 50).key('letter', 50);
      const [document] = makeRecording(buildTrace(builder).batches, ORIGIN_MS).documents;
      return [document!.keys.length / 3, document!.typing.length / 3];
    };
    expect(typingOf(() => 1_000, MAX_KEYS)).toEqual([MAX_KEYS, 0]);
    expect(typingOf(() => 1_000)).toEqual([0, 1]);
    const often = (many: number) => (n: number) => (n <= many ? 1_001 : 100);
    expect(typingOf(often(1_499))).toEqual([0, 1_500]);
    expect(typingOf(often(1_500))).toEqual([0, 1]);
  });

  it.each([
    ['moves', 1, 20],
    ['moves', 2_000, 2_000],
    ['everything', 1, 20],
    ['everything', 400, 2_000],
  ] as const)('is bounded for the largest session of %s in %i documents', (kind, documents, count) => {
    const batches: TraceBatch[] = [];
    // In all as many numbers as are read (server/collector/recordings.ts).
    for (const beacon of makeLargestBatches(kind, documents, 750_000 / count)) {
      if (batches.length === 0) {
        const text = JSON.stringify(beacon);
        expect(readBeacon(JSON.parse(text))).not.toBeNull();
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BEACON_BYTES);
      }
      batches.push({
        ...beacon,
        events: packNumbers(beacon.ev),
        receivedAtMs: START_MS + 28_000_000 + batches.length * 7,
      });
      if (batches.length >= count) break;
    }
    const recording = makeRecording(batches, START_MS);
    // And the segments, of which there are at most 120.
    expect(Buffer.byteLength(JSON.stringify(recording))).toBeLessThan(MAX_RECORDING_BYTES - 6_000);
    const points = recording.documents.reduce((sum, { path }) => sum + path.length / 3, 0);
    expect(points).toBeLessThanOrEqual(MAX_PATH_POINTS);
    expect(points).toBeGreaterThan(0);
  });
});
