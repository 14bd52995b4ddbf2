import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Reads instants back, through the pool and through a transaction. */
async function readBack(instants: string[]): Promise<string[][]> {
  const text =
    'select value::timestamptz as at from json_array_elements_text($1::text::json) with ordinality v(value, n) order by n';
  const read = (rows: { at: string }[]) => rows.map(({ at }) => at);
  const { query, transact } = database.db;
  const parameters = [JSON.stringify(instants)];
  return [
    read(await query<{ at: string }>(text, parameters)),
    read(await transact((within) => within<{ at: string }>(text, parameters))),
  ];
}

describe('an instant from Postgres', () => {
  it('is the ISO 8601 string of that instant, in milliseconds and UTC', async () => {
    const dates = fc.sample(
      fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true }),
      500,
    );
    const instants = [
      ...dates.map((date) => date.toISOString()),
      '2026-01-31T09:30:00.000Z',
      '2026-01-31T09:30:00.500Z',
    ];
    expect(await readBack(instants)).toEqual([instants, instants]);
  });

  it('is truncated to milliseconds', async () => {
    const [read] = await readBack([
      '2026-01-31T09:30:00.123999Z',
      '2026-01-31T09:30:00.0009Z',
      '2026-01-31T10:30:00+01:00',
    ]);
    expect(read).toEqual(['2026-01-31T09:30:00.123Z', '2026-01-31T09:30:00.000Z', '2026-01-31T09:30:00.000Z']);
  });
});
