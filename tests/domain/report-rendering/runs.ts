import { describe, expect, it, vi } from 'vitest';
import { createReports } from '../../../server/reports/reports';
import {
  ALL,
  complete,
  contextOf,
  countChunks,
  engine,
  type Rendered,
  type Run,
  read,
  readState,
  renderFrom,
  reports,
  request,
  START,
  server,
  small,
  store,
  woken,
} from './stepped-reports';

export function registerRunTests(): void {
  describe('a run', () => {
    it('has its report alone, and a run that was given up changes nothing', async () => {
      const run = await request(ALL);
      const late = { ...run, runId: 'another run' };
      expect(woken).toEqual([{ integrationId: small.id, reportId: run.reportId }]);
      expect(await reports.jobs.beginReport(run)).toBe(true);
      expect(await reports.jobs.beginReport(late)).toBe(false);
      expect(await reports.jobs.renderPart(late, START)).toBeNull();
      await reports.jobs.failReport(late, 'late');
      expect(await readState(run)).toMatchObject({ state: 'Running', failure: null });
      expect(await countChunks(run)).toBe(0);
      await complete(run, await renderFrom(run, START));
      await complete(run, [{ part: { key: 'other', size: 1 }, recordCount: 1, next: null }]);
      expect(await readState(run)).toMatchObject({ state: 'Ready', rows: 40 });
      const [fired] = await server.database.db
        .sql`select count(*)::int as n from domain_events where natural_key = ${run.reportId}`;
      expect(fired).toEqual({ n: 1 });
      // As if the answer to its last step had got lost. Customers know of the report by now.
      await reports.jobs.failReport(run, 'It could not be sent.');
      expect(await readState(run)).toMatchObject({ state: 'Ready', failure: null });
      expect((await read(run, small)).split('\r\n')).toHaveLength(42);
    });

    it('stops when its report is deleted, and leaves nothing of it', async () => {
      const run = await request(ALL);
      await reports.jobs.beginReport(run);
      const rendered = await renderFrom(run, START);
      await reports.delete(await contextOf(small), run.reportId);
      expect(await reports.jobs.renderPart(run, START)).toBeNull();
      await complete(run, rendered);
      expect(await readState(run)).toBeUndefined();
      expect(await countChunks(run)).toBe(0);
      const { sql } = server.database.db;
      expect(await sql`select 1 from reports where id = ${run.reportId}`).toHaveLength(0);
    });

    it('of which a part is stored while it is deleted leaves nothing either', async () => {
      const run = await request(ALL);
      await reports.jobs.beginReport(run);
      const { write } = store;
      store.write = async (...part) => {
        await reports.delete(await contextOf(small), run.reportId);
        await write(...part).catch(() => {});
      };
      expect(await reports.jobs.renderPart(run, START)).toBeNull();
      expect(await countChunks(run)).toBe(0);
    });

    it('that was given up in the middle of a part removes that part alone', async () => {
      const run = await request(ALL);
      const next = { ...run, runId: 'the next run' };
      await reports.jobs.beginReport(run);
      const { write } = store;
      let rendered: Rendered = [];
      store.write = async (...part) => {
        store.write = write;
        await server.database.db.sql`
        update report_jobs set state = 'Queued', run_id = null where id = ${run.reportId}`;
        await reports.jobs.beginReport(next);
        rendered = await renderFrom(next, START);
        await write(...part);
      };
      expect(await reports.jobs.renderPart(run, START)).toBeNull();
      expect(await countChunks(run)).toBe(1);
      await complete(next, rendered);
      await complete(run, rendered);
      expect((await read(run, small)).split('\r\n')).toHaveLength(42);
    });

    it('whose store is away fails with the step, so that the engine tries again', async () => {
      const run = await request(ALL);
      await reports.jobs.beginReport(run);
      const { write } = store;
      store.write = () => Promise.reject(new Error('the store is away'));
      await expect(reports.jobs.renderPart(run, START)).rejects.toThrow('away');
      store.write = write;
      await complete(run, await renderFrom(run, START));
      expect((await read(run, small)).split('\r\n')).toHaveLength(42);
    });

    it('whose fact cannot be sent stays in the list of those that are being made, and fails in the end', async () => {
      const { db, log, secrets } = server.service;
      const ingestFacts = async () => {
        throw new Error('the database is away');
      };
      const cut = createReports({
        ...{ db, log, cursorKey: secrets.cursorKey, stores: { current: 'postgres', postgres: store, s3: null } },
        ...{ ingester: { ...server.service.ingester, ingestFacts }, wake: async () => {} },
      });
      const run = await request(ALL);
      await reports.jobs.beginReport(run);
      const rendered = await renderFrom(run, START);
      await expect(complete(run, rendered, cut)).rejects.toThrow('away');
      const stateOf = async () => {
        const jobs = await reports.listJobs(await contextOf(small));
        return jobs.find(({ id }) => id === run.reportId)?.state;
      };
      expect(await stateOf()).toBe('Ready');
      await cut.jobs.failReport(run, 'It could not be sent.');
      expect(await stateOf()).toBe('Failed');
      await reports.delete(await contextOf(small), run.reportId);
    });

    it('that dies after it has sent the fact of a report that was deleted meanwhile leaves no fact', async () => {
      const { db, log, secrets, ingester } = server.service;
      const run = await request(ALL);
      const dying = createReports({
        ...{ db, log, cursorKey: secrets.cursorKey, stores: { current: 'postgres', postgres: store, s3: null } },
        ingester: {
          ...ingester,
          async ingestFacts(facts) {
            await reports.delete(await contextOf(small), run.reportId);
            await ingester.ingestFacts(facts);
            throw new Error('the process dies');
          },
        },
        wake: async () => {},
      });
      await reports.jobs.beginReport(run);
      const rendered = await renderFrom(run, START);
      await expect(complete(run, rendered, dying)).rejects.toThrow('dies');
      await complete(run, rendered);
      const { sql } = server.database.db;
      expect(await sql`select 1 from reports where id = ${run.reportId}`).toHaveLength(0);
    });

    it('that fails says why, to staff and to those who ask for the file', async () => {
      const run = await request(ALL);
      await reports.jobs.beginReport(run);
      await reports.jobs.renderPart(run, START);
      await reports.jobs.failReport(run, 'It has more rows than a file may have.');
      expect(await countChunks(run)).toBe(0);
      const jobs = await reports.listJobs(await contextOf(small));
      expect(jobs.find(({ id }) => id === run.reportId)).toMatchObject({
        state: 'Failed',
        failure: 'It has more rows than a file may have.',
        failedAt: expect.stringMatching(/Z$/),
      });
      const answer = await server.call('GET', `/reports/${run.reportId}/download`, { key: small.key });
      expect([answer.status, answer.body.error.message]).toEqual([404, 'The report has no file: it failed']);
      await reports.delete(await contextOf(small), run.reportId);
    });

    it('of a report with too many parts fails in words', async () => {
      const run = await request(ALL);
      await reports.jobs.beginReport(run);
      expect(await reports.jobs.renderPart(run, { ...START, number: 900 })).toEqual({
        failure: 'It has more rows than a file may have. Choose a shorter window.',
      });
    });
  });

  describe('a report that nobody renders', () => {
    const age = ({ reportId }: Run, interval: string) =>
      server.database.db.sql`update report_jobs set woken_at = now() - ${interval}::interval where id = ${reportId}`;

    it('because the engine was away when it was asked for is found after two minutes', async () => {
      engine.isAway = true;
      const run = await request(ALL);
      engine.isAway = false;
      expect(woken).toEqual([]);
      await age(run, '100 seconds');
      expect(await reports.jobs.wakeReports()).toBe(0);
      await age(run, '121 seconds');
      expect(await reports.jobs.wakeReports()).toBe(1);
      expect(woken).toEqual([{ integrationId: small.id, reportId: run.reportId }]);
      expect(await reports.jobs.wakeReports()).toBe(0);
    });

    it('because its run was lost is rendered by another one, from the beginning', async () => {
      const run = await request(ALL);
      // It lives as long as it begins and stores parts, however long it waited or takes.
      await age(run, '61 minutes');
      await reports.jobs.beginReport(run);
      expect(await reports.jobs.wakeReports()).toBe(0);
      await age(run, '61 minutes');
      await reports.jobs.renderPart(run, START);
      expect(await reports.jobs.wakeReports()).toBe(0);
      await age(run, '59 minutes');
      expect(await reports.jobs.wakeReports()).toBe(0);
      await age(run, '61 minutes');
      expect(await reports.jobs.wakeReports()).toBe(1);
      const next = { ...run, runId: 'the next run' };
      expect(await reports.jobs.beginReport(next)).toBe(true);
      expect(await reports.jobs.renderPart(run, START)).toBeNull();
      await complete(next, await renderFrom(next, START));
      expect((await read(run, small)).split('\r\n')).toHaveLength(42);
      // The part of the lost run goes with the report.
      expect(await countChunks(run)).toBe(2);
      await reports.delete(await contextOf(small), run.reportId);
      expect(await countChunks(run)).toBe(0);
    });
  });

  describe('a report that ends each process that renders it', () => {
    it('fails after a day', async () => {
      const run = await request(ALL);
      await reports.jobs.beginReport(run);
      await server.database.db.sql`
      update report_jobs set woken_at = now() - interval '2 hours', requested_at = now() - interval '25 hours' where id = ${run.reportId}`;
      expect(await reports.jobs.wakeReports()).toBe(0);
      expect(await readState(run)).toMatchObject({
        ...{ state: 'Failed', failure: expect.stringContaining('within a day'), at: expect.any(String) },
      });
      expect(await reports.jobs.renderPart(run, START)).toBeNull();
    });
  });

  describe('what is too old', () => {
    it('is removed: expired, failed and deleted reports, but none that waits or runs', async () => {
      const { sql } = server.database.db;
      const runs = [await request(ALL), await request(ALL), await request(ALL), await request(ALL)];
      const [ready, failed, running, queued] = runs as [Run, Run, Run, Run];
      await reports.jobs.beginReport(ready);
      await complete(ready, await renderFrom(ready, START));
      await reports.jobs.beginReport(failed);
      await reports.jobs.failReport(failed, 'why');
      await reports.jobs.beginReport(running);
      await sql`update report_jobs set expires_at = now() - interval '1 ms' where integration_id = ${small.id}`;
      await reports.jobs.pruneReports();
      expect([await readState(ready), await readState(failed)]).toEqual([undefined, undefined]);
      expect([(await readState(running))!.state, (await readState(queued))!.state]).toEqual(['Running', 'Queued']);
      expect(await countChunks(ready)).toBe(0);
    });

    it('is removed for a bounded time in each run, also if the store takes long for each', async () => {
      const { sql } = server.database.db;
      const runs = [await request(ALL), await request(ALL)];
      for (const run of runs) await reports.jobs.beginReport(run);
      const ids = runs.map(({ reportId }) => reportId);
      await sql`update report_jobs set state = 'Deleted', expires_at = now() - interval '1 ms' where id in ${sql(ids)}`;
      const { now } = performance;
      let [waitedMs, removed] = [0, 0];
      vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + waitedMs);
      store.remove = async () => {
        waitedMs += 60_000;
        removed++;
      };
      expect(await reports.jobs.pruneReports().finally(() => vi.restoreAllMocks())).toBe(1);
      expect(removed).toBe(1);
    });
  });
}
