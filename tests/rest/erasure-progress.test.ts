import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { USER_SORTS, type UserSort } from '../../contract/sort-orders';
import { createMentionFinder } from '../../server/domain/mentions';
import { eraseReports } from '../../server/reports/erased-reports';
import { beginReport } from '../../server/reports/jobs';
import { createPostgresStore } from '../../server/reports/stores/postgres-store';
import { openPageSite, Tab } from '../support/beacon';
import { foldCounts } from '../support/count-rows';
import type { Customer } from '../support/customer';
import { dumpDatabase, findInDump } from '../support/dump';
import {
  ADA,
  admin,
  BEN,
  beginErasure,
  createAda,
  eraseUser,
  eraseUserFully,
  eraseUserWithPause,
  expectCountsToFit,
  makeReport,
  readTotals,
  server,
  shareErasureServer,
  TEXTS_OF_ADA,
  waitForReceipt,
  webhookReceiver,
} from '../support/erasures';
import { eventually } from '../support/eventually';
import * as facts from '../support/facts';
import { keepSending } from '../support/traffic';

// The erasure of a person while it runs: what is read and comes meanwhile, and what happens if it fails or is repeated.

shareErasureServer();

describe('an erasure', () => {
  it('is in the list of users with all their figures while their sessions still have the old id', async () => {
    const customer = await createAda();
    const readUser = async () => {
      const users: Record<string, unknown>[] = await customer.read('/v1/users');
      const { id, name, email, url, ...figures } = users.find((user) => user.id !== BEN.id)!;
      return { id, figures };
    };
    const before = await readUser();
    expect(before.figures).toMatchObject({ maxBotScore: 0.95, firstSeenAt: expect.any(String) });
    await eraseUserWithPause(customer, async () => {
      const { id, figures } = await readUser();
      expect(id).toMatch(/^erased-/);
      expect(figures).toEqual(before.figures);
    });
  });

  it('leaves the user where they were in the orders, whatever is folded meanwhile', async () => {
    const customer = await createAda();
    const { db } = server.database;
    await db.sql`
      update sessions set created_at = created_at - interval '1 day', bot_score = 0.1, score_bin = 10
       where integration_id = ${customer.id} and id = 's2'`;
    await foldCounts(db);
    const readEnds = () => db.sql`
      select last_seen_at, max_bot_score from entity_totals
       where integration_id = ${customer.id} and kind = 'user' and value <> ${BEN.id}`;
    const before = await readEnds();
    expect(before).toMatchObject([{ max_bot_score: 0.95 }]);
    await eraseUserWithPause(customer, async () => {
      // As after a fold when only one session has the pseudonym. Then an older one changes.
      await db.sql`
        update entity_totals set last_seen_at = last_seen_at - interval '1 hour', max_bot_score = 0.5
         where integration_id = ${customer.id} and value like 'erased-%'`;
      await db.sql`update sessions set event_count = 9 where integration_id = ${customer.id} and id = 's2'`;
    });
    expect(await readEnds()).toEqual(before);
  });

  it('keeps the user in each order, also after a fold that finds no session with their new id', async () => {
    const customer = await createAda();
    const { db } = server.database;
    // Retention has removed none of the sessions, whose ends would be known.
    await db.sql`delete from pruned_ends where integration_id = ${customer.id}`;
    await foldCounts(db);
    const listBy = async (sort: UserSort) => {
      const { body } = await admin.query('users.listSorted', { sort }, { 'x-integration-id': customer.id });
      return body.result.data.data.map(({ id }: { id: string }) => (id === BEN.id ? id : 'Ada'));
    };
    await eraseUserWithPause(customer, async () => {
      await db.sql`update sessions set event_count = event_count + 1 where integration_id = ${customer.id}`;
      await foldCounts(db);
      for (const sort of USER_SORTS) expect((await listBy(sort)).sort(), sort).toEqual(['Ada', BEN.id]);
    });
  });

  it('may repeat any piece of its work: it leaves nothing and counts exactly what it did, though each is followed by a fault', async () => {
    const { db } = server.database;
    webhookReceiver.answer = () => 500;
    const countAll = async (customer: Customer) => {
      const key = await beginErasure(customer);
      // As if batches of the pixel had settled.
      await db.sql`update user_erasures set requested_at = requested_at - interval '1 minute' where id = ${key.erasureId}`;
      for (let pauseMs: number | null = 0; pauseMs !== null; ) {
        await sleep(pauseMs);
        pauseMs = await server.service.erasures.jobs.continueErasure(key).catch(() => 0);
      }
      const receipt: Record<string, unknown> = await customer.read(`/v1/user-erasures/${key.erasureId}`);
      return Object.fromEntries(Object.entries(receipt).filter(([name]) => name.endsWith('Count')));
    };
    const make = async () => {
      const customer = await createAda();
      const site = await openPageSite({ db, url: server.url }, customer);
      const tab = new Tab(site);
      await tab.send({ u: { id: ADA.id, name: ADA.name }, p: [`${ADA.url}`] });
      await tab.send({ u: { id: ADA.id }, x: 1 });
      await makeReport(customer, { template: 'sessions', format: 'csv', days: 7 });
      await eventually(async () => expect((await customer.read('/v1/stats')).matchedSessions).toBe(4));
      return customer;
    };
    const undisturbed = await countAll(await make());
    expect(Object.entries(undisturbed).filter(([, count]) => count === 0)).toEqual([]);

    const customer = await make();
    const before = await readTotals(customer);
    await db.sql.unsafe(`
      create sequence test_faults;
      create function test_fail() returns trigger language plpgsql as $$
        begin if nextval('test_faults') % 2 = 1 then raise 'a fault'; end if; return new; end $$;
      create trigger test_fail before update of position on user_erasures for each row execute function test_fail()`);
    try {
      expect(await countAll(customer)).toEqual(undisturbed);
    } finally {
      await db.sql.unsafe('drop function test_fail cascade; drop sequence test_faults');
      webhookReceiver.answer = () => 200;
    }
    expect(await readTotals(customer)).toEqual(before);
    expect(findInDump(await dumpDatabase(db), TEXTS_OF_ADA)).toEqual([]);
  });

  it('is the same one if it is asked for again while it runs', async () => {
    const customer = await createAda();
    const [one, other] = await Promise.all([eraseUser(customer), eraseUser(customer)]);
    expect(one.body.data.id).toBe(other.body.data.id);
    await waitForReceipt(customer, one.body.data.id);
    const again = await eraseUserFully(customer);
    expect([again.id === one.body.data.id, again.sessionCount]).toEqual([false, 0]);
  });

  it('moves what is counted of the user while their sessions are being erased', async () => {
    const customer = await createAda();
    const { sql } = server.database.db;
    await sql.unsafe(`
      create function test_count() returns trigger language plpgsql as $$
        begin
          insert into incident_counts (integration_id, kind, scope, value, minute, type, severity, incidents)
          select new.integration_id, 'Anomaly', 'user', new.user_id, date_trunc('minute', now()), 'Late', 'low', 1
           where not exists (select from incident_counts where integration_id = new.integration_id and type = 'Late');
          return new;
        end $$;
      create trigger test_count before update of position on user_erasures for each row
        when (new.are_counts_moved and new.user_id is not null) execute function test_count()`);
    try {
      await eraseUserFully(customer);
    } finally {
      await sql.unsafe('drop function test_count cascade');
    }
    const late = await sql`
      select value, incidents from incident_counts where integration_id = ${customer.id} and type = 'Late'`;
    expect(late).toEqual([{ value: expect.stringMatching(/^erased/), incidents: '1' }]);
  });

  it('keeps facts that come meanwhile from staying', async () => {
    const customer = await createAda();
    let n = 0;
    const traffic = keepSending(3, async () => {
      n++;
      await customer.ingest([facts.started(`m${n}`), facts.correlated(`m${n}`, ADA.id, { user: ADA })]);
      await customer.ingest([facts.scored('s1', 0.5 + n / 1e6, { scoredAt: facts.secondsAgo(1) })]);
    });
    await eraseUserFully(customer);
    await traffic.stop();
    expect(findInDump(await dumpDatabase(server.database.db), TEXTS_OF_ADA)).toEqual([]);
    await expectCountsToFit(customer);
  });

  it('begins reports again once, however many there are', async () => {
    const customer = await createAda();
    const { db } = server.service;
    const { sql } = server.database.db;
    const stores = { current: 'postgres', postgres: createPostgresStore(db), s3: null } as const;
    const parameters = JSON.stringify({ days: 1 });
    const insert = (id: string, state: string) => sql`
      insert into report_jobs (integration_id, id, name, template, format, parameters, start_at, end_at, state, expires_at)
      values (${customer.id}, ${id}, 'Weekly', 'weekly-overview', 'csv', ${parameters}::text::jsonb, now(), now(), ${state},
              now() + interval '1 day')`;
    for (const n of Array(21).keys()) await insert(`rep_${n + 10}`, 'Ready');
    const user = {
      integrationId: customer.id,
      userId: ADA.id,
      pseudonym: 'erased-1',
      finder: createMentionFinder(ADA),
    };
    const after = await eraseReports({ db, stores }, user, '', async () => {});
    expect(after).toBe('rep_29');
    await insert('rep_99', 'Queued');
    expect(await beginReport(db, { integrationId: customer.id, reportId: 'rep_99', runId: 'clean' }, 'postgres')).toBe(
      true,
    );
    await eraseReports({ db, stores }, user, after!, async () => {});
    const [row] = await sql`
      select state, run_id as "runId" from report_jobs where integration_id = ${customer.id} and id = 'rep_99'`;
    expect(row).toEqual({ state: 'Running', runId: 'clean' });
  });

  it('goes on after the last report that it has read, if their files take long', async () => {
    const customer = await createAda();
    const { db } = server.service;
    const make = () => makeReport(customer, { template: 'sessions', format: 'csv', days: 7 });
    const [first] = [await make(), await make()].sort();
    async function* read(): AsyncGenerator<Uint8Array> {
      await sleep(1_050);
      yield Buffer.from('nobody');
    }
    const stores = { current: 'postgres', postgres: { ...createPostgresStore(db), read }, s3: null } as const;
    const known = { integrationId: customer.id, userId: ADA.id, pseudonym: 'erased-1' };
    const user = { ...known, finder: createMentionFinder(ADA) };
    const after = await eraseReports({ db, stores }, user, '', async () => {});
    expect(after).toBe(first);
    expect(await eraseReports({ db, stores }, user, after!, async () => {})).toBeNull();
  });
});
