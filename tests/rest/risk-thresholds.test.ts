import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectError } from '../support/answers';
import { Customer } from '../support/customer';
import { closed, scored, started } from '../support/facts';
import { startTestServer, type TestServer } from '../support/server';

const PATH = '/v1/settings/risk-thresholds';

let server: TestServer;
let customer: Customer;
beforeAll(async () => {
  server = await startTestServer();
});
beforeEach(async () => {
  customer = await Customer.create(server);
});
afterAll(() => server.stop());

/** The field for which a pair is refused, or null if it is taken. */
function faultOf({ mediumAt, botAt }: { mediumAt?: unknown; botAt?: unknown }): string | null {
  const isCutPoint = (value: unknown) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 100;
  if (!isCutPoint(mediumAt)) return 'mediumAt';
  if (!isCutPoint(botAt)) return 'botAt';
  return Number(botAt) - Number(mediumAt) < 5 ? 'botAt' : null;
}

const near = fc.constantFrom(0, 1, 4, 5, 6, 39, 40, 44, 45, 94, 95, 96, 99, 100);
const strange = fc.constantFrom<unknown>(-1, 101, 0.5, 39.999, 1e9, 2 ** 31, '40', '', null, true, [40], {}, undefined);
const pair = fc.oneof(
  { weight: 3, arbitrary: fc.record({ mediumAt: near, botAt: near }) },
  {
    weight: 3,
    arbitrary: fc.tuple(near, fc.integer({ min: -6, max: 7 })).map(([m, gap]) => ({ mediumAt: m, botAt: m + gap })),
  },
  { weight: 2, arbitrary: fc.record({ mediumAt: fc.oneof(near, strange), botAt: fc.oneof(near, strange) }) },
  { weight: 1, arbitrary: fc.record({ mediumAt: fc.nat({ max: 100 }), botAt: fc.nat({ max: 100 }) }) },
);

describe('the risk thresholds', () => {
  it('are 40 and 70 at first', async () => {
    expect((await customer.get(PATH)).body).toEqual({ data: { mediumAt: 40, botAt: 70 } });
  });

  it('must be whole numbers from 0 to 100 with a gap of 5; otherwise the refusal names the field and they stay as they were', async () => {
    let stored: unknown = { mediumAt: 40, botAt: 70 };
    await fc.assert(
      fc.asyncProperty(pair, async (body) => {
        const fault = faultOf(body);
        const answer = await customer.put(PATH, body);
        if (fault === null) {
          expect([answer.status, answer.body]).toEqual([200, { data: body }]);
          stored = body;
        } else expectError(answer, 'INVALID_BODY', fault);
        expect(await customer.read(PATH)).toEqual(stored);
      }),
      { numRuns: 300 },
    );
  });

  it.each(['null', '[]', '5', '"x"', '{', ''])('are refused as a body of %j', async (body) => {
    expectError(await customer.put(PATH, body), 'INVALID_BODY', 'body');
  });

  it('are replaced together: one alone is refused', async () => {
    expectError(await customer.put(PATH, { botAt: 90 }), 'INVALID_BODY', 'mediumAt');
    expectError(await customer.put(PATH, { mediumAt: 10 }), 'INVALID_BODY', 'botAt');
    expectError(await customer.put(PATH, {}), 'INVALID_BODY', 'mediumAt');
    expect(await customer.read(PATH)).toEqual({ mediumAt: 40, botAt: 70 });
  });

  it('belong to one integration', async () => {
    const other = await Customer.create(server);
    await customer.setThresholds(10, 20);
    expect(await other.read(PATH)).toEqual({ mediumAt: 40, botAt: 70 });
  });

  it('stay the same if the same are set again', async () => {
    for (let n = 0; n < 2; n++) await customer.setThresholds(30, 60);
    expect(await customer.read(PATH)).toEqual({ mediumAt: 30, botAt: 60 });
  });

  it('reclassify every session at once, without writing to it, and fire nothing', async () => {
    const scores = [0, 0.29, 0.4, 0.69999, 0.7, 1];
    const facts = scores.flatMap((score, n) => [started(`s-${n}`), closed(`s-${n}`), scored(`s-${n}`, score)]);
    await customer.accept(facts);
    const listed = async () => (await customer.readAll('/v1/sessions')).sort((a, b) => a.id.localeCompare(b.id));
    const before = await listed();
    const listEvents = () => server.database.db.sql`select id from domain_events where integration_id = ${customer.id}`;
    const count = (await listEvents()).length;
    for (const [mediumAt, botAt] of [
      [29, 69],
      [0, 5],
      [95, 100],
      [30, 70],
    ] as const) {
      await customer.setThresholds(mediumAt, botAt);
      const levels = scores.map((s) => (s >= botAt / 100 ? 'bot' : s >= mediumAt / 100 ? 'medium' : 'human'));
      expect(await listed()).toEqual(before.map((session, n) => ({ ...session, riskLevel: levels[n] })));
      for (const level of ['bot', 'medium', 'human']) {
        const ids = (await customer.read(`/v1/sessions?riskLevel=${level}`)).map(({ id }: { id: string }) => id);
        expect(ids.sort()).toEqual(scores.flatMap((_, n) => (levels[n] === level ? [`s-${n}`] : [])));
      }
    }
    expect(await listEvents()).toHaveLength(count);
  });
});
