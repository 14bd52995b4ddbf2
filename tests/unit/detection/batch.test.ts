import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Beacon, EventCode, KEY_CLASSES, MAX_EVENT_VALUES, MAX_SESSION_BATCHES } from '../../../contract/beacon';
import { readBeacon } from '../../../server/detection/batch';
import { unpackNumbers } from '../../../server/detection/varints';
import { DESKTOP, TraceBuilder } from '../../support/trace';

const { receivedAtMs, events, ...content } = new TraceBuilder().move(10, 20).press(10, 20, 80).key('letter', 70).send()
  .batches[0]!;
const BEACON: Beacon = {
  ...content,
  ev: unpackNumbers(events),
  v: 1,
  k: 'site_AAAAAAAAAAAAAAAAAAAAAAAA',
  s: '0123456789abcdef0123456789abcdef',
  t: 'svk0x1.AAAAAAAAAAAAAAAAAAAAAA',
  i: 'fedcba9876543210fedcba9876543210',
  u: { id: 'u-1', name: 'Ada', email: 'ada@example.edu', url: 'https://lms.example.edu/u/1', context: 'c-1', lms: 1 },
  m: [0, 1],
  l: [3, 0],
  w: ['essay', ''],
  g: 1,
  x: 1,
};
/** A value as the wire brings it. */
const onWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const withEvents = (...ev: unknown[]) => ({ ...BEACON, p: ['https://a.example/'], ev });
const LETTER = [EventCode.KeyDown, 10, 0, 0, 1];

describe('readBeacon', () => {
  it('reads a whole beacon, and one with nothing optional', () => {
    expect(readBeacon(onWire(BEACON))).toEqual(BEACON);
    const { v, k, s, d, n, c } = BEACON;
    expect(readBeacon({ v, k, s, d, n, c, ev: [] })).toEqual({ v, k, s, d, n, c, ev: [] });
  });

  it('ignores unknown names, and names of the prototype', () => {
    const text = `{"constructor":1,"__proto__":{"x":1,"t":"stolen"},"later":[1],${JSON.stringify({ ...BEACON, x: undefined, t: undefined }).slice(1)}`;
    const beacon = readBeacon(JSON.parse(text));
    const { x, t, ...expected } = BEACON;
    expect(beacon).toEqual(expected);
    expect(beacon?.x).toBeUndefined();
    expect(Object.getPrototypeOf(beacon)).toBe(Object.prototype);
    expect(readBeacon(Object.create(BEACON))).toBeNull();
  });

  it('takes the environment of older pixels, and keeps nothing of it that no rule reads', () => {
    const e = { ...DESKTOP, l: 'en-GB,en', z: 'Europe/London', o: 'Linux x86_64', g: 'Mesa Intel UHD' };
    expect(readBeacon(onWire({ ...BEACON, e }))).toEqual({ ...BEACON, e: DESKTOP });
  });

  it.each<[string, unknown]>([
    ['another version', { ...BEACON, v: 2 }],
    ['a site key of another form', { ...BEACON, k: 'site_short' }],
    ['a nonce in capitals', { ...BEACON, s: BEACON.s.toUpperCase() }],
    ['a nonce with a line break', { ...BEACON, s: `${BEACON.s}\n` }],
    ['a short document', { ...BEACON, d: 'abc' }],
    ['a token with spaces', { ...BEACON, t: 'a b' }],
    ['a device that is null', { ...BEACON, i: null }],
    ['a sequence number past the last batch', { ...BEACON, n: MAX_SESSION_BATCHES }],
    ['a negative sequence number', { ...BEACON, n: -1 }],
    ['half a sequence number', { ...BEACON, n: 0.5 }],
    ['a clock without wall time', { ...BEACON, c: [1] }],
    ['a clock before its origin', { ...BEACON, c: [-1, 0] }],
    ['a clock of text', { ...BEACON, c: ['1', '2'] }],
    ['a flag of 2', { ...BEACON, x: 2 }],
    ['an unknown mark', { ...BEACON, m: [10_000] }],
    ['a mark that is text', { ...BEACON, m: ['push'] }],
    ['too many marks', { ...BEACON, m: Array(65).fill(0) }],
    ['losses below zero', { ...BEACON, l: [-1, 0] }],
    ['a page that is a script', { ...BEACON, p: ['javascript:alert(1)'] }],
    ['a page without a host', { ...BEACON, p: ['/quiz'] }],
    ['a page that is too long', { ...BEACON, p: [`https://a.example/${'x'.repeat(2_048)}`] }],
    ['a page with U+0000', { ...BEACON, p: ['https://a.example/\0'] }],
    ['too many pages', { ...BEACON, p: Array(65).fill('https://a.example/') }],
    ['a user that is text', { ...BEACON, u: 'Ada' }],
    ['a user that is a list', { ...BEACON, u: [] }],
    ['written documents that are text', { ...BEACON, w: 'essay' }],
    ['a written document that is a number', { ...BEACON, w: [1] }],
    ['written documents with a hole', { ...BEACON, w: [null] }],
    ['too many written documents', { ...BEACON, w: Array(17).fill('essay') }],
    ['an index past the written documents', { ...BEACON, w: ['essay'], ev: [EventCode.Writing, 10, 0, 1, 0] }],
    ['a writing event without documents', { ...BEACON, w: undefined, ev: [EventCode.Writing, 10, 0, 0, 0] }],
    ['a caret of -2', { ...BEACON, w: ['essay'], ev: [EventCode.Writing, 10, 0, 0, -2] }],
    ['a writing event that lacks a field', { ...BEACON, w: ['essay'], ev: [EventCode.Writing, 10, 0, 0] }],
    ['an environment without sizes', { ...BEACON, e: { ...DESKTOP, v: [] } }],
    ['an environment with a size of text', { ...BEACON, e: { ...DESKTOP, v: ['1', 1, 1, 1, 1, 1, 1, 1, 1, 1] } }],
    ['an environment with long text', { ...BEACON, e: { ...DESKTOP, r: 'x'.repeat(257) } }],
    ['an environment without text', { ...BEACON, e: { ...DESKTOP, r: undefined } }],
    ['a webdriver of 3', { ...BEACON, e: { ...DESKTOP, w: 3 } }],
    ['events that are no list', { ...BEACON, ev: {} }],
    ['an unknown event', withEvents(99, 0)],
    ['an event with a negative code', withEvents(-1, 0)],
    ['an event with a code of text', withEvents('push', 0)],
    ['an event without time', withEvents(EventCode.Alive)],
    ['an event that lacks a field', withEvents(...LETTER.slice(0, -1))],
    ['a field of text', withEvents(EventCode.KeyDown, 10, '0', 0, 1)],
    ['a fraction', withEvents(EventCode.Scroll, 10, 0.5)],
    ['a value past 2^40', withEvents(EventCode.Scroll, 10, 2 ** 40 + 1)],
    ['an unknown class of key', withEvents(EventCode.KeyDown, 10, 99, 0, 1)],
    ['the class of key that follows the last one', withEvents(EventCode.KeyDown, 10, KEY_CLASSES.length, 0, 1)],
    ['an index past the pages', withEvents(EventCode.Page, 10, 1, 0)],
    ['a page event without pages', { ...BEACON, p: undefined, ev: [EventCode.Page, 10, 0, 0] }],
    ['a count below zero', withEvents(EventCode.MoveSummary, 10, -1, 0, 0, 0)],
    ['a time that goes back by more than a minute', withEvents(EventCode.Alive, 700_000, EventCode.Alive, -600_001)],
    ['times that go back in small steps', withEvents(...Array(20).fill([EventCode.Alive, -50_000]).flat())],
    [
      'too many values',
      withEvents(
        ...Array(MAX_EVENT_VALUES / 2 + 1)
          .fill([EventCode.Alive, 1])
          .flat(),
      ),
    ],
  ])('refuses %s', (_, value) => {
    expect(readBeacon(onWire(value))).toBeNull();
  });

  it.each([['2026'], [{}], [null], [1e300], [-1e300], [true]])(
    'reads the wall time %j of a page that has replaced its clock as none',
    (wallMs) => {
      expect(readBeacon(onWire({ ...BEACON, c: [1, wallMs] }))).toEqual({ ...BEACON, c: [1, 0] });
    },
  );

  const { u: _, ...NOBODY } = BEACON;
  it.each<[string, unknown, object]>([
    ['a user without an id', { name: 'Ada' }, {}],
    ['a user with an empty id', { id: '' }, {}],
    ['a user id without anything to see', { id: '\u3164', name: 'Ada' }, { u: null }],
    ['a user called ..', { id: '..' }, { u: null }],
    ['a user id with a control character', { id: 'a\u0007' }, { u: null }],
    ['a user id that is too long', { id: 'a'.repeat(257), name: 'Ada' }, { u: null }],
    ['a name with a lone surrogate', { id: 'a', name: '\ud800' }, { u: { id: 'a' } }],
    ['a name of blanks', { id: 'a', name: ' \u00a0\u2800' }, { u: { id: 'a' } }],
    ['a name of marks that nobody sees', { id: 'a', name: '\u200b\u202e\u0301' }, { u: { id: 'a' } }],
    ['a name that is a number', { id: 'a', name: 5 }, { u: { id: 'a' } }],
    ['an address that is a script', { id: 'a', url: 'javascript:1' }, { u: { id: 'a' } }],
    ['a platform of 2', { id: 'a', lms: 2 }, { u: { id: 'a' } }],
    ['a user that is only from a platform', { lms: 1 }, {}],
    ['a short hash', { id: 'a', hash: 'ab', name: 'Ada' }, { u: { id: 'a', name: 'Ada' } }],
    ['a long email address', { id: 'a', email: 'x'.repeat(321) }, { u: { id: 'a' } }],
    ['a context with U+0000', { id: 'a', context: 'c\0' }, { u: { id: 'a' } }],
  ])('leaves out %s, and keeps the batch', (_name, u, kept) => {
    expect(readBeacon(onWire({ ...BEACON, u }))).toEqual(onWire({ ...NOBODY, ...kept }));
  });

  it('reads the id of a written document that cannot be kept as none', () => {
    const w = ['essay', '', 'a\0', '\ud800', 'x'.repeat(257)];
    expect(readBeacon(onWire({ ...BEACON, w }))).toEqual({ ...BEACON, w: ['essay', '', '', '', ''] });
  });

  it('takes what stands exactly at a bound', () => {
    const values = Array(MAX_EVENT_VALUES / 2)
      .fill([EventCode.Alive, 1])
      .flat();
    for (const beacon of [
      { ...BEACON, n: MAX_SESSION_BATCHES - 1 },
      withEvents(...values),
      withEvents(EventCode.Scroll, 10, -(2 ** 40)),
      withEvents(EventCode.Alive, 700_000, EventCode.Alive, -600_000),
      { ...BEACON, u: { id: '😀'.repeat(256), hash: 'a'.repeat(64) } },
      { ...BEACON, p: [`https://a.example/${'x'.repeat(2_048 - 18)}`], ev: [] },
      { ...BEACON, w: Array(16).fill('é'.repeat(256)), ev: [EventCode.Writing, 10, -1, 15, -1] },
      { ...BEACON, w: [] },
      { ...BEACON, u: null },
    ]) {
      expect(readBeacon(onWire(beacon))).toEqual(onWire(beacon));
    }
  });

  it('never throws, and answers only what it would accept again', () => {
    const paths = Object.keys(BEACON);
    const anything = fc.anything({ withNullPrototype: true, withSparseArray: true, withBigInt: true });
    const changed = fc
      .tuple(fc.constantFrom(...paths), anything)
      .map(([name, value]): unknown => ({ ...BEACON, [name]: value }));
    const values = fc.array(fc.oneof(fc.integer({ min: -2, max: 20 }), fc.maxSafeInteger(), fc.double()), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(
        fc.oneof(
          anything,
          fc.jsonValue(),
          changed,
          values.map((ev) => ({ ...BEACON, ev })),
        ),
        (value) => {
          const beacon = readBeacon(value);
          if (beacon !== null) expect(readBeacon(onWire(beacon))).toEqual(onWire(beacon));
        },
      ),
      { numRuns: 400 },
    );
  });
});
