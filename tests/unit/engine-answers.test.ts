import { describe, expect, it } from 'vitest';
import { callFunction } from '../../inngest/embedded/executor';
import type { EngineFunction } from '../../inngest/embedded/functions';
import type { Run } from '../../inngest/embedded/store';

// What an answer of the SDK means for a run. embedded-engine.test.ts runs functions.

const FUNCTION: EngineFunction = {
  ...{ id: 'f', events: ['go'], crons: [], failureOf: null, retries: 3, concurrency: null },
};
const RUN: Run = { functionId: 'f', event: '{"name":"go"}', attempt: 0, stepIds: [], steps: '' };
const MIB = 1024 * 1024;

interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
  text?: string;
}
const call = (
  { status = 206, headers = {}, body = null, text = JSON.stringify(body) }: Answer,
  attempt = 0,
  run = RUN,
) => callFunction(async () => new Response(text, { status, headers }), FUNCTION, { run: 1, turn: 1 }, run, attempt);
const op = (name: string, more: object = {}) => ({ id: 'a', op: name, ...more });
const failed = (message: RegExp) => ({ kind: 'failed', error: { message: expect.stringMatching(message) } });
const error = { name: 'Odd', message: 'no' };

describe('an attempt that fails', () => {
  it.each([
    [2, {}, 'retry'],
    [3, {}, 'failed'],
    [0, { 'x-inngest-no-retry': 'true' }, 'failed'],
    [0, { 'x-inngest-no-retry': 'false' }, 'retry'],
  ])('number %i of 0 to 3, with the headers %j, means %s', async (attempt, headers, kind) => {
    expect(await call({ status: 500, headers, body: error }, attempt)).toMatchObject({ kind, error });
    const memo = { kind: 'memo', stepId: 'a', result: JSON.stringify({ error }) };
    const ofStep = await call({ headers, body: [op('StepError', { error })] }, attempt);
    expect(ofStep).toMatchObject(kind === 'retry' ? { kind, error } : memo);
    expect(await call({ headers, body: [op('StepFailed', { error })] }, attempt)).toEqual(memo);
  });

  it('is repeated after the time that it asks for, and after that of the engine if it asks for none', async () => {
    const delayOf = async (value: string) => {
      const verdict = await call({ status: 500, headers: { 'retry-after': value } }, 1);
      return verdict.kind === 'retry' ? verdict.delayMs : null;
    };
    expect(await delayOf('0')).toBe(0);
    expect(await delayOf('90')).toBe(90_000);
    expect(await delayOf('Thu, 01 Jan 1970 00:00:00 GMT')).toBe(0);
    const inAnHour = await delayOf(new Date(Date.now() + 3_600_000).toUTCString());
    expect([inAnHour! > 3_000_000, inAnHour! <= 3_600_000]).toEqual([true, true]);
    for (const none of ['', 'soon']) {
      const delayMs = await delayOf(none);
      expect([delayMs! >= 4_000, delayMs! <= 5_000]).toEqual([true, true]);
    }
  });

  it('is one too if there is no answer, or one that is no JSON', async () => {
    const cut = callFunction(() => Promise.reject(new TypeError('cut')), FUNCTION, { run: 1, turn: 1 }, RUN, 0);
    expect(await cut).toMatchObject({ kind: 'retry', error: { name: 'TypeError', message: 'cut' } });
    expect(await call({ status: 200, text: '<html>' })).toMatchObject({ kind: 'retry' });
    expect(await call({ status: 206, body: {} })).toMatchObject({ kind: 'retry' });
  });

  it('is told in a bounded text', async () => {
    const long = { name: 'n'.repeat(999), message: 'm'.repeat(9_999), stack: 's'.repeat(9_999) };
    const verdict = await call({ status: 400, body: long }, 3);
    expect(verdict).toEqual({
      kind: 'failed',
      error: { name: 'n'.repeat(200), message: 'm'.repeat(4_000), stack: 's'.repeat(4_000) },
    });
  });
});

describe('an answer', () => {
  it('ends the run, or is the result of a step', async () => {
    expect(await call({ status: 200, text: '' })).toEqual({ kind: 'completed' });
    expect(await call({ body: [op('RunComplete')] })).toEqual({ kind: 'completed' });
    const step = (data?: number) => call({ body: [op('StepRun', { data })] });
    expect(await step(5)).toEqual({ kind: 'memo', stepId: 'a', result: '{"data":5}' });
    expect(await step()).toEqual({ kind: 'memo', stepId: 'a', result: '{"data":null}' });
  });

  it.each([
    ['2026-11-21T09:00:00.000Z', '2026-11-21T09:00:00.000Z', 0],
    ['90s', null, 90_000],
    ['1h30m', null, 5_400_000],
    ['1w2d3h4m5s', null, 788_645_000],
    ['', null, 0],
  ])('that sleeps %j waits until %j or for %i ms', async (name, at, delayMs) => {
    const planned = { id: 'b', op: 'StepPlanned' };
    expect(await call({ body: [op('Sleep', { name }), planned] })).toEqual({
      kind: 'suspended',
      ops: [
        { id: 'a', kind: 'wake', at, delayMs },
        { id: 'b', kind: 'step', at: null, delayMs: 0 },
      ],
    });
  });

  it('fails the run if it asks for nothing, or for what the engine does not have', async () => {
    expect(await call({ body: [] })).toMatchObject(failed(/no operation/));
    expect(await call({ body: [op('Gateway')] })).toMatchObject(failed(/does not support the operation Gateway/));
    // Results come one at a time.
    const two = [op('StepRun'), op('StepRun')];
    expect(await call({ body: two })).toMatchObject(failed(/does not support the operation StepRun/));
  });

  it('is bounded, and so is what a run keeps', async () => {
    const ofLength = (length: number) => `"${'x'.repeat(length - 2)}"`;
    expect(await call({ status: 200, text: ofLength(4 * MIB) })).toEqual({ kind: 'completed' });
    expect(await call({ status: 200, text: ofLength(4 * MIB + 1) })).toMatchObject(failed(/its result exceeds 4 MiB/));
    const kept = (length: number) => ({ ...RUN, steps: `"s":${ofLength(length - 4)}` });
    expect(await call({ status: 200, text: '12' }, 0, kept(32 * MIB - 2))).toEqual({ kind: 'completed' });
    expect(await call({ status: 200, text: '123' }, 0, kept(32 * MIB - 2))).toMatchObject(failed(/exceed 32 MiB/));
    const ofSteps = (steps: number) => ({ ...RUN, stepIds: Array.from({ length: steps }, (_, n) => `s${n}`) });
    expect(await call({ body: [op('StepRun')] }, 0, ofSteps(999))).toMatchObject({ kind: 'memo' });
    expect(await call({ body: [op('StepRun')] }, 0, ofSteps(1_000))).toMatchObject(failed(/more than 1000 steps/));
  });
});
