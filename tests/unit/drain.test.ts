import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ClaimedDelivery } from '../../server/webhooks/deliveries';
import { Drain } from '../../server/webhooks/drain';

/** A subscription with rows to send: claims hand them out, `finish` ends attempts. */
class Rows {
  waiting: string[] = [];
  claimed: string[] = [];
  claims = 0;
  inFlight = 0;
  mostInFlight = 0;
  readonly #ends: (() => void)[] = [];

  add(count: number) {
    for (let n = 0; n < count; n++) this.waiting.push(`dlv_${this.claimed.length + this.waiting.length}`);
  }

  finish(count = Number.POSITIVE_INFINITY) {
    for (const end of this.#ends.splice(0, count)) end();
  }

  readonly ports = {
    claim: async (limit: number) => {
      this.claims++;
      const ids = this.waiting.splice(0, limit);
      this.claimed.push(...ids);
      return ids.map((deliveryId) => ({ deliveryId }) as ClaimedDelivery);
    },
    deliver: async () => {
      this.inFlight++;
      this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
      await new Promise<void>((resolve) => this.#ends.push(resolve));
      this.inFlight--;
    },
  };
}

const MINUTE_MS = 60_000;
let rows: Rows;
let drain: Drain;
let result: boolean | null;

beforeEach(() => {
  vi.useFakeTimers();
  rows = new Rows();
  drain = new Drain(rows.ports);
  result = null;
});
afterEach(() => {
  vi.useRealTimers();
});

function start() {
  void drain.run().then((mayHaveMore) => {
    result = mayHaveMore;
  });
}
/** Lets `ms` pass, with everything that happens in it. */
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('a drain', () => {
  it('sends every row, once, with at most 25 under way', async () => {
    rows.add(60);
    start();
    await pass(1);
    expect(rows.inFlight).toBe(25);
    for (let n = 0; n < 60; n++) {
      rows.finish(1);
      await pass(1);
    }
    expect(rows.claimed).toHaveLength(60);
    expect(new Set(rows.claimed).size).toBe(60);
    expect(rows.mostInFlight).toBe(25);
  });

  it('refills its window as attempts end, without waiting for the slowest', async () => {
    rows.add(26);
    start();
    await pass(1);
    expect(rows.claimed).toHaveLength(25);
    rows.finish(1);
    await pass(1);
    expect(rows.claimed).toHaveLength(26);
    expect(rows.inFlight).toBe(25);
  });

  it('lingers two seconds when idle, then ends with nothing left', async () => {
    start();
    await pass(1_900);
    expect(result).toBeNull();
    await pass(200);
    expect(result).toBe(false);
    expect(rows.claims).toBeLessThanOrEqual(5);
  });

  it('finds within half a second what another process committed, idle or with places free', async () => {
    start();
    await pass(100);
    rows.add(1);
    await pass(500);
    expect(rows.claimed).toHaveLength(1);
    rows.add(1);
    await pass(500);
    expect(rows.claimed).toHaveLength(2);
  });

  it('is woken while it lingers, and lingers again', async () => {
    start();
    await pass(1_500);
    rows.add(1);
    drain.wake();
    await pass(1);
    expect(rows.claimed).toHaveLength(1);
    rows.finish();
    await pass(1_900);
    expect(result).toBeNull();
    await pass(200);
    expect(result).toBe(false);
  });

  it('looks again after a wake that comes during a claim', async () => {
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

  it('looks twice a second at most while its rows are under way, and not at all without a free place', async () => {
    rows.add(3);
    start();
    await pass(5_000);
    expect(rows.claims).toBeLessThanOrEqual(11);
    const before = rows.claims;
    rows.add(22);
    drain.wake();
    await pass(5_000);
    expect(rows.inFlight).toBe(25);
    expect(rows.claims).toBe(before + 1);
  });

  it('waits for what is under way before it ends', async () => {
    rows.add(1);
    start();
    await pass(MINUTE_MS);
    expect(result).toBeNull();
    rows.finish();
    await pass(1);
    expect(result).not.toBeNull();
  });

  it('ends its run after 20 s and says that rows may be left', async () => {
    rows.add(1_000);
    start();
    for (let n = 0; n < 19; n++) {
      await pass(1_000);
      rows.finish(10);
    }
    const before = rows.claimed.length;
    await pass(2_000);
    rows.finish();
    await pass(1);
    expect(result).toBe(true);
    await pass(MINUTE_MS);
    expect(rows.claimed.length - before).toBeLessThanOrEqual(25);
    expect(rows.waiting.length).toBeGreaterThan(0);
  });

  it('claims nothing more once it is stopped, and ends with its attempts', async () => {
    rows.add(60);
    start();
    await pass(1);
    drain.stop();
    rows.finish(10);
    await pass(1);
    expect(rows.claimed).toHaveLength(25);
    expect(result).toBeNull();
    rows.finish();
    await pass(1);
    expect(rows.claimed).toHaveLength(25);
    expect(result).toBe(true);
  });

  it('ends at once when it is stopped while it lingers', async () => {
    start();
    await pass(500);
    drain.stop();
    await pass(1);
    expect(result).toBe(false);
  });
});
