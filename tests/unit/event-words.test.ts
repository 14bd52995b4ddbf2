import { describe, expect, it } from 'vitest';
import {
  listEventMetadata,
  showMilliseconds,
  summariseEvent,
} from '../../app/dashboard/[integrationId]/sessions/[sessionId]/event-words';

const show = (metadata: Record<string, unknown>) =>
  listEventMetadata(metadata).facts.map(({ name, text }) => [name, text]);

describe('the metadata of an event', () => {
  it('of the pixel is shown in words', () => {
    expect(show({ kind: 'paste', length: 1_200, trusted: false })).toEqual([
      ['Clipboard', 'pasted'],
      ['Length', '1,200 characters'],
      ['Made by', 'a script of the page'],
    ]);
    expect(show({ state: 'hidden' })).toEqual([['The page was', 'hidden']]);
    expect(show({ cause: 'history' })).toEqual([['Cause', 'the address changed within the page']]);
    expect(summariseEvent({ type: 'clipboard', metadata: { kind: 'paste', length: 1 } })).toBe('pasted, 1 character');
    expect(summariseEvent({ type: 'clipboard', metadata: { kind: 'copy' } })).toBe('copied');
    expect(summariseEvent({ type: 'mouse', metadata: null })).toBe('');
  });

  it.each([
    ['delayMs', 1_234, '1.2 s'],
    ['delay_ms', 850, '850 ms'],
    ['ms', 250_000, '4 min 10 s'],
    ['payloadBytes', 1_500, '1.5 KB'],
    ['bytes', 12, '12 bytes'],
    ['bytes', 999, '999 bytes'],
    ['bytes', 1_000, '1 KB'],
    ['bytes', 2e15, '2,000 TB'],
    ['trusted', true, 'the browser'],
    ['distancePx', 1_234.56, '1,234.6 px'],
    ['clickCount', 12_345, '12,345'],
    // Without a unit in its name, nobody knows what it is.
    ['duration', 1_234, '1234'],
    ['items', 5, '5'],
    ['alarms', 5, '5'],
    ['account', 1_234, '1234'],
    ['length', 'long', 'long'],
    ['kind', 'teleport', 'teleport'],
    ['trusted', 'perhaps', 'perhaps'],
    ['toString', 'text', 'text'],
    ['state', 'constructor', 'constructor'],
    ['nothing', null, 'null'],
  ])('%s: %j reads %s', (key, value, text) => {
    expect(listEventMetadata({ [key]: value }).facts[0]!.text).toBe(text);
  });

  it('that is nested is JSON, and everything is bounded', () => {
    const { facts } = listEventMetadata({ tree: { leaves: [1, 2] } });
    expect(facts[0]).toMatchObject({ name: 'tree', text: JSON.stringify({ leaves: [1, 2] }, null, 2), isNested: true });
    const long = listEventMetadata({ text: 'x'.repeat(100_000) }).facts[0]!.text;
    expect(long).toMatch(/… \(100,000 characters\)$/);
    expect(long.length).toBeLessThan(4_100);
    const shown = (length: number) => listEventMetadata({ text: 'x'.repeat(length) }).facts[0]!.text;
    expect([shown(4_000).length, shown(4_001).startsWith(`${'x'.repeat(4_000)} … (4,001`)]).toEqual([4_000, true]);
    const many = listEventMetadata(Object.fromEntries(Array.from({ length: 70 }, (_, n) => [`key${n}`, n])));
    expect([many.facts.length, many.left]).toEqual([50, 20]);
  });
});

describe('milliseconds', () => {
  it.each([
    [0, '0 ms'],
    [-1_500, '-1.5 s'],
    [999.9, '999.9 ms'],
    [1_000, '1 s'],
    [59_940, '59.9 s'],
    [60_000, '1 min'],
    [7_500_000, '2 h 5 min'],
  ])('%d is %s', (ms, text) => expect(showMilliseconds(ms)).toBe(text));
});
