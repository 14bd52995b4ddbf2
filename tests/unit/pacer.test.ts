import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPacer } from '../../server/findings/pacer';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it('works at once, then at most once in the interval, with all names that came meanwhile', async () => {
  const calls: string[] = [];
  const pacer = createPacer(2_000, async (names) => void calls.push(names.join(' ')));
  pacer.note(['a']);
  await vi.advanceTimersByTimeAsync(0);
  expect(calls).toEqual(['a']);
  pacer.note(['b', 'a']);
  pacer.note(['b']);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(calls).toEqual(['a']);
  await vi.advanceTimersByTimeAsync(1);
  expect(calls).toEqual(['a', 'b a']);
  await vi.advanceTimersByTimeAsync(60_000);
  pacer.note(['c']);
  await vi.advanceTimersByTimeAsync(0);
  expect(calls).toEqual(['a', 'b a', 'c']);
});

it('never works twice at the same time, and waits for its work when it stops', async () => {
  let running = 0;
  const ends: (() => void)[] = [];
  const pacer = createPacer(2_000, async () => {
    running++;
    await new Promise<void>((resolve) => ends.push(resolve));
    running--;
  });
  pacer.note(['a']);
  await vi.advanceTimersByTimeAsync(0);
  pacer.note(['b']);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([running, ends.length]).toEqual([1, 1]);
  ends[0]!();
  await vi.advanceTimersByTimeAsync(0);
  expect([running, ends.length]).toEqual([1, 2]);
  let isStopped = false;
  const stopping = pacer.stop().then(() => {
    isStopped = true;
  });
  pacer.note(['c']);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([isStopped, ends.length]).toEqual([false, 2]);
  ends[1]!();
  await stopping;
  await vi.advanceTimersByTimeAsync(60_000);
  expect([running, ends.length]).toEqual([0, 2]);
});
