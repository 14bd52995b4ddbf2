import { describe, expect, it } from 'vitest';
import { measurePages, type PageChange } from '../../server/domain/visited-pages';

const at = (seconds: number) => seconds * 1_000;
const go = (seconds: number, url: string): PageChange => ({ type: 'navigation', url, atMs: at(seconds), state: null });
const hide = (seconds: number, url: string | null): PageChange => ({
  ...{ type: 'visibility', url, atMs: at(seconds), state: 'hidden' },
});
const show = (seconds: number, url: string | null): PageChange => ({ ...hide(seconds, url), state: 'visible' });
const measure = (changes: PageChange[], lastEventMs: number | null = at(100)) =>
  measurePages({ pageUrl: '/a', startMs: 0, lastEventMs }, changes).map(({ url, spentMs }) => [url, spentMs]);

describe('the time on each page of a session', () => {
  it('ends with the next page, and for the last one with the last event', () => {
    expect(measure([go(10, '/b'), go(30, '/c')])).toEqual([
      ['/a', 10_000],
      ['/b', 20_000],
      ['/c', 70_000],
    ]);
  });

  it('does not count while the page is hidden', () => {
    expect(measure([hide(20, '/a'), show(70, '/a')])).toEqual([['/a', 50_000]]);
    expect(measure([hide(20, null), show(70, null)])).toEqual([['/a', 50_000]]);
    expect(measure([hide(20, '/a')])).toEqual([['/a', 20_000]]);
    expect(measure([hide(20, '/a'), hide(30, '/a'), show(70, '/a')])).toEqual([['/a', 50_000]]);
  });

  it('goes to the tab that is in front', () => {
    const tabs = [hide(10, '/a'), go(10, '/b'), hide(40, '/b'), show(40, '/a')];
    expect(measure(tabs)).toEqual([
      ['/a', 70_000],
      ['/b', 30_000],
    ]);
    // The hidden tab is not the one in front.
    expect(measure([go(10, '/b'), hide(12, '/a')])).toEqual([
      ['/a', 10_000],
      ['/b', 90_000],
    ]);
  });

  it('goes to the latest visit of a page that was visited twice', () => {
    expect(measure([go(10, '/b'), go(20, '/a'), hide(30, '/a'), show(50, '/a')])).toEqual([
      ['/a', 10_000],
      ['/b', 10_000],
      ['/a', 60_000],
    ]);
  });

  it('is unknown without an event, and never negative', () => {
    expect(measure([], null)).toEqual([['/a', null]]);
    expect(measure([go(-5, '/b')], -3_000)).toEqual([
      ['/a', 0],
      ['/b', 2_000],
    ]);
  });

  it('ignores what says neither visible nor hidden, and pages without an address', () => {
    const odd: PageChange = { type: 'visibility', url: '/a', atMs: at(5), state: 'prerender' };
    expect(measure([odd, { ...go(6, ''), url: null }])).toEqual([['/a', 100_000]]);
  });
});
