import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ClaimedDelivery } from '../../server/webhooks/deliveries';
import { Drain } from '../../server/webhooks/drain';

/** A subscription with rows to send: claims take rows, and `finish` ends attempts. */
class Rows {
  waiting: string[] = [];
  claimed: string[] = [];
  claims = 0;
  inFlight = 0;
  mostInFlight = 0;
  allowed = Number.POSITIVE_INFINITY;
  freed = 0;
  readonly #ends: ((isDelivered: boolean) => void)[] = [];
  /** While true, answers are not recorded. */
  isHeld = false;
  readonly #held: (() => void)[] = [];

  add(count: number) {
    for (let n = 0; n < count; n++) this.waiting.push(`dlv_${this.claimed.length + this.waiting.length}`);
  }

  finish(count = Number.POSITIVE_INFINITY, isDelivered = true) {
    for (const end of this.#ends.splice(0, count)) end(isDelivered);
  }

  /** Records the answers so far, and from now on every further one. */
  record(count = Number.POSITIVE_INFINITY) {
    for (const record of this.#held.splice(0, count)) record();
  }

  readonly ports = {
    claim: async (limit: number) => {
      this.claims++;
      const ids = this.waiting.splice(0, limit);
      this.claimed.push(...ids);
      return ids.map((deliveryId) => ({ deliveryId }) as ClaimedDelivery);
    },
    deliver: async (_delivery: ClaimedDelivery, onAnswered: (isDelivered: boolean) => void) => {
      this.inFlight++;
      this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
      const isDelivered = await new Promise<boolean>((resolve) => this.#ends.push(resolve));
      this.inFlight--;
      onAnswered(isDelivered);
      if (this.isHeld) await new Promise<void>((resolve) => this.#held.push(resolve));
    },
    allow: (_inFlight: number, window: number) => Math.min(window, this.allowed),
    onFree: () => {
      this.freed++;
    },
  };
}

const MINUTE_MS = 60_000;
let rows: Rows;
let drain: Drain;
let isOver: boolean;

beforeEach(() => {
  vi.useFakeTimers();
  rows = new Rows();
  drain = new Drain(rows.ports);
  isOver = false;
});
afterEach(() => {
  vi.useRealTimers();
});

function start() {
  isOver = false;
  void drain.run().then(() => {
    isOver = true;
  });
}
/** Advances the time by `ms`, running everything that happens in it. */
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('a drain', () => {
  it('sends every row, once, with at most 25 under way while the receiver fails', async () => {
    rows.add(60);
    start();
    await pass(1);
    expect(rows.inFlight).toBe(25);
    for (let n = 0; n < 60; n++) {
      rows.finish(1, false);
      await pass(1);
    }
    expect(rows.claimed).toHaveLength(60);
    expect(new Set(rows.claimed).size).toBe(60);
    expect(rows.mostInFlight).toBe(25);
  });

  it('opens its window to 100 while the receiver accepts everything, and closes it to 25 when it fails', async () => {
    rows.add(1_000);
    start();
    for (let n = 0; n < 20; n++) {
      await pass(1);
      rows.finish(10);
    }
    await pass(1);
    expect(rows.inFlight).toBe(100);
    expect(rows.mostInFlight).toBe(100);
    rows.finish(3, false);
    await pass(1);
    expect(rows.inFlight).toBe(97);
    rows.finish(80, false);
    await pass(1);
    expect(rows.inFlight).toBe(25);
  });

  it('keeps its window while the receiver has nothing more to take', async () => {
    for (let n = 0; n < 50; n++) {
      rows.add(10);
      if (n === 0) start();
      else drain.wake();
      await pass(1);
      rows.finish();
      await pass(1);
    }
    rows.add(60);
    drain.wake();
    await pass(1);
    expect(rows.inFlight).toBe(25);
  });

  it('has no more under way than the process allows', async () => {
    rows.allowed = 5;
    rows.add(60);
    start();
    await pass(1);
    expect(rows.inFlight).toBe(5);
    rows.finish(2);
    await pass(1);
    expect(rows.inFlight).toBe(5);
    rows.allowed = 10;
    rows.finish(1);
    await pass(1);
    expect(rows.inFlight).toBe(10);
  });

  it('refills its window as attempts end, without waiting for the slowest', async () => {
    rows.add(26);
    start();
    await pass(1);
    expect(rows.claimed).toHaveLength(25);
    rows.finish(1, false);
    await pass(1);
    expect(rows.claimed).toHaveLength(26);
    expect(rows.inFlight).toBe(25);
  });

  it('lingers two seconds when idle, then ends with nothing left', async () => {
    start();
    await pass(1_900);
    expect(isOver).toBe(false);
    await pass(200);
    expect(isOver).toBe(true);
    expect(drain.mayHaveMore).toBe(false);
    expect(rows.claims).toBeLessThanOrEqual(5);
  });

  it('finds within half a second what another process committed, whether idle or with free places', async () => {
    start();
    await pass(100);
    rows.add(1);
    await pass(500);
    expect(rows.claimed).toHaveLength(1);
    rows.add(1);
    await pass(500);
    expect(rows.claimed).toHaveLength(2);
  });

  it('finds it also while it sends what is handed over to it all the time', async () => {
    start();
    await pass(1);
    for (let n = 0; n < 20; n++) {
      expect(drain.reserve()).toBe(true);
      drain.start({ deliveryId: `dlv_own_${n}` } as ClaimedDelivery);
      if (n === 10) rows.add(1);
      await pass(100);
      rows.finish();
    }
    expect(rows.claimed).toHaveLength(1);
    expect(rows.claims).toBeLessThanOrEqual(5);
  });

  it('can be woken while it lingers, and then lingers again', async () => {
    start();
    await pass(1_500);
    rows.add(1);
    drain.wake();
    await pass(1);
    expect(rows.claimed).toHaveLength(1);
    rows.finish();
    await pass(1_900);
    expect(isOver).toBe(false);
    await pass(200);
    expect(isOver).toBe(true);
  });

  it('looks again after a wake during a claim', async () => {
    const claim = rows.ports.claim;
    rows.ports.claim = async (limit) => {
      const claimed = await claim(limit);
      if (rows.claims === 1) {
        rows.add(1);
        drain.wake();
      }
      return claimed;
    };
    start();
    await pass(1);
    expect(rows.claimed).toHaveLength(1);
  });

  it('looks at most twice a second, and not at all without a free place', async () => {
    rows.add(3);
    start();
    await pass(1_999);
    expect(rows.claims).toBeLessThanOrEqual(5);
    const before = rows.claims;
    rows.add(22);
    drain.wake();
    await pass(1_999);
    expect(rows.inFlight).toBe(25);
    expect(rows.claims).toBe(before + 1);
  });

  it('ends its run although attempts hang, and reports when one of their places is free', async () => {
    rows.add(26);
    start();
    await pass(2_100);
    expect(isOver).toBe(true);
    expect([drain.isRunning, drain.inFlight, drain.mayHaveMore, drain.hasPlace]).toEqual([false, 25, true, false]);
    rows.finish(1, false);
    await pass(1);
    expect([rows.freed, drain.inFlight, drain.hasPlace]).toEqual([1, 24, true]);
    start();
    await pass(1);
    expect(rows.claimed).toHaveLength(26);
  });

  it('counts attempts of an earlier run as under way', async () => {
    rows.add(20);
    start();
    await pass(2_100);
    expect(isOver).toBe(true);
    rows.add(20);
    start();
    await pass(1);
    expect(rows.inFlight).toBe(25);
  });

  it('settles when nothing is under way', async () => {
    rows.add(2);
    start();
    await pass(2_100);
    let isSettled = false;
    void drain.settle().then(() => {
      isSettled = true;
    });
    rows.finish(1);
    await pass(MINUTE_MS);
    expect(isSettled).toBe(false);
    rows.finish();
    await pass(1);
    expect(isSettled).toBe(true);
  });

  it('ends its run after 20 s and reports that rows may be left', async () => {
    rows.add(1_000);
    start();
    for (let n = 0; n < 19; n++) {
      await pass(1_000);
      rows.finish(10);
    }
    await pass(1_100);
    expect([isOver, drain.mayHaveMore]).toEqual([true, true]);
    const before = rows.claimed.length;
    rows.finish();
    await pass(MINUTE_MS);
    expect(rows.claimed.length).toBe(before);
    expect(rows.waiting.length).toBeGreaterThan(0);
  });

  it('claims nothing more once stopped, and ends at once', async () => {
    rows.add(60);
    start();
    await pass(1);
    drain.stop();
    rows.finish(10);
    await pass(1);
    expect(isOver).toBe(true);
    expect(rows.claimed).toHaveLength(25);
  });

  it('stops running when a claim fails, and reports that rows may be left', async () => {
    rows.ports.claim = () => Promise.reject(new Error('the database is away'));
    await expect(drain.run()).rejects.toThrow('the database is away');
    expect([drain.isRunning, drain.mayHaveMore]).toEqual([false, true]);
  });

  it('fills a place when the receiver has answered, recorded or not', async () => {
    rows.isHeld = true;
    rows.add(60);
    start();
    await pass(1);
    rows.finish(10, false);
    await pass(1);
    expect(rows.inFlight).toBe(25);
    expect(rows.claimed).toHaveLength(35);
  });

  it('claims nothing while 200 answers wait for their record', async () => {
    rows.isHeld = true;
    rows.add(1_000);
    start();
    for (let n = 0; n < 50; n++) {
      rows.finish();
      await pass(1);
    }
    const { claimed } = rows;
    expect(claimed.length).toBeGreaterThanOrEqual(200);
    expect(claimed.length).toBeLessThan(300 + 1);
    const before = claimed.length;
    await pass(100);
    expect(claimed).toHaveLength(before);
    rows.record();
    await pass(1);
    expect(claimed.length).toBeGreaterThan(before);
  });

  it('keeps places for rows that are about to be committed, but no more than it has', async () => {
    start();
    await pass(1);
    for (let n = 0; n < 25; n++) expect(drain.reserve()).toBe(true);
    expect(drain.reserve()).toBe(false);
    rows.add(1);
    drain.wake();
    await pass(1);
    expect(rows.claimed).toEqual([]);
    drain.release();
    await pass(1);
    expect(rows.claimed).toHaveLength(1);
  });

  it('sends the row that a place was kept for, and counts it as under way', async () => {
    start();
    await pass(1);
    expect(drain.reserve()).toBe(true);
    drain.start({ deliveryId: 'dlv_own' } as ClaimedDelivery);
    expect(rows.inFlight).toBe(1);
    expect(drain.isIdle).toBe(false);
    rows.finish();
    await pass(1);
    expect(drain.isIdle).toBe(true);
  });

  it('keeps no place without a run, while rows may wait, during a claim or once stopped', async () => {
    expect(drain.reserve()).toBe(false);
    rows.add(30);
    start();
    expect(drain.reserve()).toBe(false);
    await pass(1);
    expect(rows.inFlight).toBe(25);
    rows.finish(3);
    // The claim took as many rows as there were places, so more may be due.
    expect(drain.reserve()).toBe(false);
    await pass(1);
    rows.finish();
    await pass(1);
    expect(drain.reserve()).toBe(true);
    drain.stop();
    expect(drain.reserve()).toBe(false);
  });
});
