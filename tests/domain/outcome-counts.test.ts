import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import { createIntegration } from '../../server/domain/integrations';
import { foldOutcomes } from '../../server/domain/usage';
import { pruneDeliveries } from '../../server/webhooks/retention';
import { beginWindow } from '../support/clock-window';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { expectExactOutcomes } from '../support/outcome-counts';

let database: TestDatabase;
let integrationId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  ({ id: integrationId } = await createIntegration(asOperator(database.db), {
    name: 'outcomes',
    plan: 'free',
    allowedOrigins: [],
  }));
});
afterAll(() => database.drop());

const sql = () => database.db.sql;
/** Of the days on which the deliveries `n % 3` ended: today, yesterday and 31 days ago. */
const AGE = `(array[0, 1, 31])[n % 3 + 1] * interval '1 day'`;
const readCounts = () => sql()`
  select ((now() at time zone 'UTC')::date - day)::int as age, sum(delivered)::int as delivered, sum(failed)::int as failed
    from outcome_counts group by 1 having sum(delivered) <> 0 or sum(failed) <> 0 order by 1`;
const update = (columns: string, which: string) =>
  sql().unsafe(
    `update webhook_deliveries set ${columns} from (select id as d, id::int as n from webhook_deliveries) o where id = d and ${which}`,
  );

describe('the counts of ended deliveries', () => {
  it('follow the log when deliveries end, are sent again and are removed', async () => {
    await beginWindow(database.db, 86_400_000, 10_000); // no midnight in between
    await sql().unsafe(`set time zone 'Asia/Tokyo'`); // a day is one of UTC, wherever the session is
    await sql()`
      insert into webhook_deliveries (integration_id, id, subscription_id, event_id, is_test)
      select ${integrationId}, n, 'whk', 'evt-' || n, n > 90 from generate_series(1, 99) n`;
    await expectExactOutcomes(database.db);
    await update(
      `status = case when n % 2 = 0 then 'Delivered' else 'Failed' end, finished_at = now() - ${AGE}`,
      'true',
    );
    await expectExactOutcomes(database.db);
    const all = [0, 1, 31].map((age) => ({ age, delivered: 15, failed: 15 }));
    expect([...(await readCounts())]).toEqual(all);
    expect(await foldOutcomes(database.db)).toBe(3);
    expect(await foldOutcomes(database.db)).toBe(0);
    expect([...(await readCounts())]).toEqual(all);
    await update(`status = 'Pending', finished_at = null`, `n % 3 = 1 and n <= 30`);
    await update(`status = 'Delivered'`, `n = 33`);
    await expectExactOutcomes(database.db);
    expect(await pruneDeliveries(database.db)).toBe(33);
    await expectExactOutcomes(database.db);
    // Tests are in no count.
    const pruned =
      await sql()`select sum(delivered)::int as delivered, sum(failed)::int as failed from pruned_outcomes`;
    expect([...pruned]).toEqual([{ delivered: 15, failed: 15 }]);
    await foldOutcomes(database.db);
    expect([...(await readCounts())]).toEqual([
      { age: 0, delivered: 16, failed: 14 },
      { age: 1, delivered: 10, failed: 10 },
    ]);
  });

  it('are exact when they are folded while deliveries end', async () => {
    await sql()`
      insert into webhook_deliveries (integration_id, id, subscription_id, event_id)
      select ${integrationId}, n, 'whk', 'evt-' || n from generate_series(101, 180) n`;
    await Promise.all(
      Array.from({ length: 80 }, async (_, index) => {
        if (index % 8 === 0) await foldOutcomes(database.db);
        await update(`status = 'Delivered', finished_at = now()`, `n = ${101 + index}`);
      }),
    );
    await expectExactOutcomes(database.db);
    await foldOutcomes(database.db);
    await expectExactOutcomes(database.db);
    expect(await sql()`select 1 from outcome_counts where entry > 0`).toHaveLength(0);
  });
});
