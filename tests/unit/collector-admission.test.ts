import { expect, it } from 'vitest';
import { createAdmission } from '../../server/collector/admission';

const WINDOW_MS = 100;

/** Offers batches at a steady rate while a function says how late the event loop is for what was taken in the last window. */
function drive(perWindow: number, windows: number, delayOf: (taken: number) => number) {
  let nowMs = 0;
  let inWindow = 0;
  const delay = { start: () => {}, stop: () => {}, readMs: () => delayOf(inWindow) };
  const admission = createAdmission(delay, () => nowMs);
  admission.start();
  return Array.from({ length: windows }, () => {
    let taken = 0;
    for (let n = 0; n < perWindow; n++) {
      if (admission.take()) taken++;
      nowMs += WINDOW_MS / perWindow;
    }
    inWindow = taken;
    return taken;
  });
}

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

it('takes everything before it is started', () => {
  const delay = { start: () => {}, stop: () => {}, readMs: () => BUSY_MS };
  const admission = createAdmission(delay, () => 0);
  expect(Array.from({ length: 100 }, () => admission.take())).toEqual(Array(100).fill(true));
});
