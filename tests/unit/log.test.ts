import { DrizzleQueryError } from 'drizzle-orm/errors';
import { describe, expect, it } from 'vitest';
import { describeError } from '../../server/platform/log';

describe('an error in the log', () => {
  const failed = new DrizzleQueryError('insert into t values ($1)', ['whsec_secret'], new Error('connection lost'));

  it('keeps the statement and Postgres’ words of a failed query, and none of its parameters', () => {
    const described = describeError(failed);
    expect(described).toMatchObject({ query: 'insert into t values ($1)', cause: { message: 'connection lost' } });
    expect(JSON.stringify(described)).not.toContain('whsec_secret');
  });

  it('shows no parameters through whatever wraps the failure', () => {
    const wrapped = new Error(failed.message, { cause: failed });
    expect(JSON.stringify(describeError(wrapped))).not.toContain('whsec_secret');
  });

  it('keeps message, code and stack of any other error', () => {
    const error = Object.assign(new Error('boom'), { code: 'EBOOM' });
    expect(describeError(error)).toMatchObject({
      message: 'boom',
      code: 'EBOOM',
      stack: expect.stringContaining('boom'),
    });
    expect(describeError('text')).toEqual({ message: 'text' });
  });
});
