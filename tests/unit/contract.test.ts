import { describe, expect, it } from 'vitest';
import { ERROR_CODES } from '../../contract/errors';
import { MAX_WEBHOOKS, PLANS, TIERS } from '../../contract/tiers';

// The tables of the contract, as the specification and the decisions give them. Fields of requests and answers are held
// by the released document (compatibility.test.ts).

describe('the error codes', () => {
  it('have the statuses of the specification, in its order', () => {
    expect(Object.entries(ERROR_CODES).map(([code, { status }]) => [code, status])).toEqual([
      ['MISSING_API_KEY', 401],
      ['INVALID_API_KEY', 401],
      ['INVALID_REQUEST', 400],
      ['INVALID_BODY', 400],
      ['INVALID_URL', 400],
      ['INVALID_EVENT_TYPE', 400],
      ['NOT_FOUND', 404],
      ['FORBIDDEN', 403],
      ['PLAN_LIMIT_REACHED', 402],
      ['RATE_LIMITED', 429],
      ['UNSUPPORTED_OPERATION', 400],
      ['SERVICE_UNAVAILABLE', 503],
      ['INTERNAL_ERROR', 500],
    ]);
  });

  it('name a field if they refuse one', () => {
    const withField = Object.entries(ERROR_CODES).filter(([, { hasField }]) => hasField);
    expect(withField.map(([code]) => code)).toEqual([
      'INVALID_REQUEST',
      'INVALID_BODY',
      'INVALID_URL',
      'INVALID_EVENT_TYPE',
    ]);
  });
});

describe('the limits', () => {
  it('of the tiers are those of the specification', () => {
    expect(TIERS).toEqual({
      free: { keyLimitPerMinute: 60, sharedLimitPerMinute: 600, maxPageSize: 50 },
      pro: { keyLimitPerMinute: 600, sharedLimitPerMinute: 6_000, maxPageSize: 100 },
      enterprise: { keyLimitPerMinute: 6_000, sharedLimitPerMinute: 60_000, maxPageSize: 100 },
    });
  });

  it('of the plans are those of the specification and the decisions', () => {
    expect(PLANS).toEqual({
      free: { tier: 'free', maxActiveWebhooks: 0, retentionDays: 30 },
      starter: { tier: 'free', maxActiveWebhooks: 0, retentionDays: 90 },
      pro: { tier: 'pro', maxActiveWebhooks: 1, retentionDays: 365 },
      enterprise: { tier: 'enterprise', maxActiveWebhooks: 10, retentionDays: 730 },
    });
    expect(MAX_WEBHOOKS).toBe(100);
  });
});
