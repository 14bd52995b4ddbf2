import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createAdmission } from '../../server/collector/admission';

const WINDOW_MS = 100;

/**
 * Offers batches, as many in a window as `perWindow` says, while a function says how late the event loop is for what was taken in
 * the last window.
 */
function drive(perWindow: number | number[], windows: number, delayOf: (taken: number) => number) {
  let nowMs = 0;
  let inWindow = 0;
  const delay = { start: () => {}, stop: () => {}, readMs: () => delayOf(inWindow) };
  const admission = createAdmission(delay, () => nowMs);
  admission.start();
  return Array.from({ length: windows }, (_, window) => {
    const offered = typeof perWindow === 'number' ? perWindow : perWindow[window]!;
    const startMs = nowMs;
    let taken = 0;
    for (let n = 0; n < offered; n++) {
      if (admission.take()) taken++;
      nowMs = startMs + (WINDOW_MS * (n + 1)) / offered;
    }
    nowMs = startMs + WINDOW_MS;
    inWindow = taken;
    return taken;
  });
}

/** Answers one after the other, then the last one again and again. */
const inTurn = (...delays: number[]) => {
  let turn = 0;
  return () => delays[Math.min(turn++, delays.length - 1)]!;
};

const BUSY_MS = 50;

it('takes everything while the event loop is in time', () => {
  expect(drive(5_000, 30, () => 2)).toEqual(Array(30).fill(5_000));
});

it('takes everything through a single long task', () => {
  let window = 0;
  expect(drive(200, 30, () => (window++ % 5 < 2 ? 400 : 1))).toEqual(Array(30).fill(200));
});

it('finds what the process can take, and takes no more', () => {
  const capacity = 300;
  const taken = drive(1_000, 200, (count) => (count > capacity ? BUSY_MS : 2)).slice(100);
  expect(Math.max(...taken)).toBeLessThanOrEqual(capacity * 1.2);
  expect(taken.reduce((sum, count) => sum + count) / taken.length).toBeGreaterThan(capacity / 2);
});

it('takes some batches however busy the process is with other things', () => {
  const taken = drive(1_000, 100, () => BUSY_MS);
  expect(taken.at(-1)).toBe(50);
  expect(drive(50, 100, () => BUSY_MS)).toEqual(Array(100).fill(50));
});

it('takes everything again within two seconds after the overload', () => {
  let window = 0;
  const taken = drive(400, 80, () => (window++ < 40 ? BUSY_MS : 1));
  expect(taken[39]).toBe(50);
  expect(taken.slice(60)).toEqual(Array(20).fill(400));
});

it('takes fewer from the fourth window on, the fewer the later the event loop is, down to seven tenths at once', () => {
  expect(drive(1_000, 4, () => 10)).toEqual([1_000, 1_000, 1_000, 1_000]);
  expect(drive(1_000, 4, () => 12.5)).toEqual([1_000, 1_000, 1_000, 800]);
  expect(drive(1_000, 4, () => BUSY_MS)).toEqual([1_000, 1_000, 1_000, 700]);
});

it('takes fewer still as soon as the event loop is late again, while it takes not everything', () => {
  expect(drive(1_000, 6, inTurn(BUSY_MS, BUSY_MS, BUSY_MS, 1, BUSY_MS)).slice(3)).toEqual([700, 806, 565]);
});

it('takes everything again after ten windows in which it was in time and refused nothing', () => {
  const late = Array<number>(20).fill(BUSY_MS);
  const after = (quiet: number, delays: number[]) =>
    drive([...Array(20).fill(400), ...Array(quiet).fill(40), 400], 21 + quiet, inTurn(...late, ...delays, 1)).at(-1);
  expect([after(9, []), after(10, [])]).toEqual([50, 400]);
  // Counted from the last window that was late.
  expect(after(14, [1, 1, 1, 1, BUSY_MS])).toBe(50);
});

it('takes more by a seventh in each window while it still refuses some, not everything at once', () => {
  const taken = drive(5_000, 40, inTurn(...Array<number>(20).fill(BUSY_MS), 1)).slice(20);
  for (const [window, count] of taken.entries())
    if (window > 0) expect(count / taken[window - 1]!).toBeCloseTo(1.16, 1);
});

it('counts the windows of a pause, in which nothing comes', () => {
  const pause = Array<number>(9).fill(0);
  const offered = [...Array<number>(20).fill(400), 40, ...pause, 400];
  expect(drive(offered, offered.length, inTurn(...Array<number>(20).fill(BUSY_MS), 1)).at(-1)).toBe(400);
  // What came before a pause is no rate: a thousand in ten windows are a hundred in each.
  expect(drive([1_000, 1_000, 1_000, ...pause, 1_000], 13, () => BUSY_MS).at(-1)).toBe(70);
});

it('takes everything before it is started and after it is stopped, and measures in between alone', () => {
  const calls: string[] = [];
  const delay = { start: () => calls.push('start'), stop: () => calls.push('stop'), readMs: () => BUSY_MS };
  let nowMs = 0;
  const admission = createAdmission(delay, () => nowMs);
  const countTaken = () => Array.from({ length: 100 }, () => admission.take()).filter(Boolean).length;
  expect([countTaken(), calls]).toEqual([100, []]);
  admission.start();
  for (let window = 0; window < 9; window++) {
    countTaken();
    nowMs += WINDOW_MS;
  }
  expect([countTaken(), calls]).toEqual([50, ['start']]);
  admission.stop();
  expect([countTaken(), calls]).toEqual([100, ['start', 'stop']]);
});

it('measures the event loop of the process', async () => {
  const admission = createAdmission();
  admission.start();
  let isRefused = false;
  while (!isRefused) {
    const untilMs = performance.now() + BUSY_MS;
    while (performance.now() < untilMs);
    for (let n = 0; n < 1_000; n++) isRefused ||= !admission.take();
    await setTimeout(0);
  }
  admission.stop();
});
