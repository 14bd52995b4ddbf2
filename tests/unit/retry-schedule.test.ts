import { describe, expect, it } from 'vitest';
import { readEnv } from '../../server/platform/env';
import { judgeAttempt } from '../../server/webhooks/retry-schedule';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The delays before each attempt (specification): 0, 1 min, 5 min, 30 min, 2 h, 8 h. */
const DELAYS = [0, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 8 * HOUR];

type Result = Parameters<typeof judgeAttempt>[0];
const response = (status: number): Result => ({ kind: 'response', status, address: '203.0.113.1' }) as Result;
const timeout = { kind: 'timeout', address: null } as Result;
const network = { kind: 'network', address: null } as Result;
const refused = { kind: 'refused-address', address: null } as Result;

describe('a delivery attempt', () => {
  it.each([200, 201, 202, 204, 226, 299])('answered %i is Delivered, without retry', (status) => {
    for (const attempt of [1, 6])
      expect(judgeAttempt(response(status), attempt, DELAYS)).toEqual({
        status: 'Delivered',
        failureClass: null,
        retryDelayMs: null,
      });
  });

  it.each([300, 301, 302, 303, 304, 307, 308, 399, 600, 999])(
    'answered %i is Failed with HTTP{status}, without retry',
    (status) => {
      for (const attempt of [1, 6])
        expect(judgeAttempt(response(status), attempt, DELAYS)).toEqual({
          status: 'Failed',
          failureClass: `HTTP${status}`,
          retryDelayMs: null,
        });
    },
  );

  it.each([400, 401, 403, 404, 407, 409, 410, 418, 422, 428, 430, 451, 499])(
    'answered %i is PermanentFailure of class 4xx, without retry',
    (status) => {
      for (const attempt of [1, 6])
        expect(judgeAttempt(response(status), attempt, DELAYS)).toEqual({
          status: 'PermanentFailure',
          failureClass: '4xx',
          retryDelayMs: null,
        });
    },
  );

  it('refused for its address is PermanentFailure of class BlockedSsrf, without retry', () => {
    for (const attempt of [1, 6])
      expect(judgeAttempt(refused, attempt, DELAYS)).toEqual({
        status: 'PermanentFailure',
        failureClass: 'BlockedSsrf',
        retryDelayMs: null,
      });
  });

  describe.each<[string, Result, string]>([
    ['answered 500', response(500), '5xx'],
    ['answered 502', response(502), '5xx'],
    ['answered 503', response(503), '5xx'],
    ['answered 599', response(599), '5xx'],
    ['answered 408', response(408), 'Timeout'],
    ['that timed out', timeout, 'Timeout'],
    ['answered 429', response(429), 'RateLimited'],
    ['that lost its connection', network, 'Network'],
  ])('%s', (_what, result, failureClass) => {
    it.each([1, 2, 3, 4, 5])('number %i stays Pending until the delay of the next', (attempt) => {
      expect(judgeAttempt(result, attempt, DELAYS)).toEqual({
        status: 'Pending',
        failureClass,
        retryDelayMs: DELAYS[attempt],
      });
    });

    it('number 6 ends as MaxRetriesExceeded', () => {
      expect(judgeAttempt(result, 6, DELAYS)).toEqual({
        status: 'MaxRetriesExceeded',
        failureClass,
        retryDelayMs: null,
      });
    });
  });

  it('has a time for the next attempt exactly while it is Pending', () => {
    for (let status = 200; status < 600; status++)
      for (let attempt = 1; attempt <= 6; attempt++) {
        const outcome = judgeAttempt(response(status), attempt, DELAYS);
        expect([status, attempt, outcome.retryDelayMs !== null]).toEqual([
          status,
          attempt,
          outcome.status === 'Pending',
        ]);
      }
  });

  it('follows the specification’s schedule unless another is set', () => {
    expect(readEnv({}).WEBHOOK_RETRY_DELAYS).toEqual(DELAYS);
  });
});
