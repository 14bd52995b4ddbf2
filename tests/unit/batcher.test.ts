import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createBatcher } from '../../server/platform/batcher';

const PAUSE_MS = 15;
let batches: number[][];
let submit: (item: number) => Promise<void>;

beforeEach(() => {
  vi.useFakeTimers();
  batches = [];
  submit = createBatcher<number, void>(
    3,
    async (batch) => {
      batches.push(batch.map(({ item }) => item));
      for (const { resolve } of batch) resolve();
    },
    PAUSE_MS,
  );
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('a batcher with a pause', () => {
  it('works on a single item at once, and again after the pause', async () => {
    void submit(1);
    await pass(0);
    expect(batches).toEqual([[1]]);
    await pass(PAUSE_MS);
    void submit(2);
    await pass(0);
    expect(batches).toEqual([[1], [2]]);
  });

  it('lets the next batch grow for the length of the pause', async () => {
    void submit(1);
    await pass(0);
    void submit(2);
    await pass(PAUSE_MS - 1);
    void submit(3);
    expect(batches).toEqual([[1]]);
    await pass(1);
    expect(batches).toEqual([[1], [2, 3]]);
  });

  it('does not wait if the next batch is full already', async () => {
    for (let n = 1; n <= 7; n++) void submit(n);
    await pass(0);
    expect(batches).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    await pass(PAUSE_MS);
    expect(batches).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
  });
});
