import { describe, expect, it } from 'vitest';
import { EVENTS } from '../../../contract/events';
import { closed, scored, scoredSession, secondsAgo, started } from '../../support/facts';
import { accept, readDetections, readSession, server, sql } from './two-servers';

export function registerScoreTests(): void {
  describe('a score', () => {
    const times = [secondsAgo(30), secondsAgo(20), secondsAgo(10)];
    const score = (n: number, botScore: number) =>
      scored('s', botScore, { scoredAt: times[n], detectionFlags: [`flag-${n}`] });
    const ORDERS = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ];

    it.each(ORDERS)('that is the latest is the current one, in the order %i %i %i', async (...order) => {
      for (const inOneBatch of [true, false]) {
        const tenant = await server.createTenant();
        const facts = [started('s'), closed('s'), ...order.map((n) => score(n, [0.1, 0.2, 0.3][n]!))];
        if (inOneBatch) await accept(tenant, facts);
        else for (const fact of facts) await accept(tenant, [fact]);
        expect(await readSession(tenant, 's')).toMatchObject({
          botScore: 0.3,
          detectionFlags: ['flag-2'],
          status: 'Scored',
          riskLevel: 'human',
        });
      }
    });

    it('before the close leaves the session Active', async () => {
      const tenant = await server.createTenant();
      await accept(tenant, [started('s'), score(0, 0.9)]);
      expect(await readSession(tenant, 's')).toMatchObject({ status: 'Active', botScore: 0.9, riskLevel: 'bot' });
      expect(await readDetections(tenant)).toEqual([]);
      await accept(tenant, [closed('s')]);
      expect(await readSession(tenant, 's')).toMatchObject({ status: 'Scored' });
      expect(await readDetections(tenant)).toHaveLength(1);
    });
  });

  describe('BotDetected', () => {
    it('fires when a session is closed and scored at or over 70, with the payload of the contract', async () => {
      const tenant = await server.createTenant();
      const fact = scored('s', 0.7);
      await accept(tenant, [started('s'), closed('s'), fact]);
      const [payload, ...rest] = await readDetections(tenant);
      expect(rest).toEqual([]);
      expect(payload).toEqual({
        sessionId: 's',
        botScore: 0.7,
        scoredAt: fact.scoredAt,
        userId: null,
        contextId: (await readSession(tenant, 's')).courseId,
        sessionUrl: null,
      });
      expect(EVENTS.BotDetected.payload.safeParse(payload).success).toBe(true);
    });

    it.each([0, 0.5, 0.69, 0.6999999999])('does not fire at %d', async (botScore) => {
      const tenant = await server.createTenant();
      await accept(tenant, [started('s'), closed('s'), scored('s', botScore)]);
      expect(await readDetections(tenant)).toEqual([]);
    });

    it('follows the integration’s own threshold', async () => {
      const tenant = await server.createTenant();
      await sql()`update integrations set bot_at = 90 where id = ${tenant.id}`;
      await accept(tenant, [...scoredSession(0.89, 'under').facts, ...scoredSession(0.9, 'at').facts]);
      expect(await readDetections(tenant)).toMatchObject([{ sessionId: 'at' }]);
    });

    it('fires once, whatever the order of close and scores, and never for a later score', async () => {
      const bot = (n: number) => scored('s', 0.9, { scoredAt: secondsAgo(n) });
      const human = (n: number) => scored('s', 0.1, { scoredAt: secondsAgo(n) });
      const cases: [unknown[], number][] = [
        [[closed('s'), bot(9)], 1],
        [[bot(9), closed('s')], 1],
        [[closed('s'), bot(9), bot(8), bot(7)], 1],
        [[bot(9), bot(8), closed('s'), bot(7)], 1],
        [[closed('s'), bot(9), human(8), bot(7)], 1],
        // The first moment at which the session is closed and scored decides.
        [[closed('s'), human(9), bot(8)], 0],
        [[human(9), closed('s'), bot(8)], 0],
        [[human(9), bot(8), closed('s')], 1],
        [[bot(9), human(8), closed('s')], 0],
        // An earlier score that arrives late is not the score of the session.
        [[human(8), bot(9), closed('s')], 0],
      ];
      for (const [facts, count] of cases)
        for (const inOneBatch of [true, false]) {
          const tenant = await server.createTenant();
          const all = [started('s'), ...facts];
          if (inOneBatch) await accept(tenant, all);
          else for (const fact of all) await accept(tenant, [fact]);
          expect([facts, await readDetections(tenant)]).toEqual([facts, count ? [expect.anything()] : []]);
          await server.ingest(tenant.id, all);
          expect(await readDetections(tenant)).toHaveLength(count);
        }
    });
  });
}
