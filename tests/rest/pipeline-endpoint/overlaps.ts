import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../server/demo/session-facts';
import { closed, scored, scoredSession, secondsAgo, started } from '../../support/facts';
import {
  accept,
  countSessions,
  events,
  readDetections,
  readEventCount,
  readSession,
  second,
  server,
} from './two-servers';

export function registerOverlapTests(): void {
  describe('16 connections with overlapping sessions', () => {
    it('end in one correct state', async () => {
      const tenant = await server.createTenant();
      const SESSIONS = 20;
      const SEQUENCES = 12;
      const startedAt = secondsAgo(300);
      const time = secondsAgo(30);
      const scoreTimes = [secondsAgo(20), secondsAgo(15), secondsAgo(10)];
      /** Every fact about a session, by its natural key. All its scores are those of a bot. */
      const factsOf = (id: string) => [
        ...Array.from({ length: SEQUENCES }, (_, n) => events(id, [n], { eventCount: n + 1, timestamp: time })),
        ...scoreTimes.map((scoredAt, n) => scored(id, 0.8 + n / 20, { scoredAt })),
        closed(id, { closedAt: time }),
      ];
      const ids = Array.from({ length: SESSIONS }, (_, n) => `s-${n}`);
      const random = createRandom(7);
      const shuffle = <T>(items: T[]) =>
        items
          .map((item) => [random(), item] as const)
          .sort(([a], [b]) => a - b)
          .map(([, item]) => item);
      // Each connection sends every fact, in a random order and in random batches.
      const answered = await Promise.all(
        Array.from({ length: 16 }, async (_, connection) => {
          const totals = { accepted: 0, duplicates: 0, facts: 0 };
          const facts = shuffle(ids.flatMap(factsOf));
          while (facts.length > 0) {
            const batch = facts.splice(0, 1 + Math.floor(random() * 40));
            const starts = shuffle([...new Set(batch.map(({ sessionId }) => sessionId))]);
            const all = [...starts.map((id) => started(id, { startedAt })), ...batch];
            const { status, body } = await (connection % 2 ? server : second).ingest(tenant.id, all);
            expect([status, body.error]).toEqual([200, undefined]);
            expect(body.result.data.accepted + body.result.data.duplicates).toBe(all.length);
            totals.accepted += body.result.data.accepted;
            totals.duplicates += body.result.data.duplicates;
            totals.facts += all.length;
          }
          return totals;
        }),
      );
      const accepted = answered.reduce((sum, totals) => sum + totals.accepted, 0);
      expect(accepted).toBe(SESSIONS * (1 + SEQUENCES + scoreTimes.length + 1));
      for (const id of ids) {
        expect(await readSession(tenant, id)).toMatchObject({ status: 'Scored', botScore: 0.9, riskLevel: 'bot' });
        const sum = (SEQUENCES * (SEQUENCES + 1)) / 2;
        expect(await readEventCount(tenant, id)).toEqual({ total: sum, rows: SEQUENCES, sum });
        expect(await readDetections(tenant, id)).toHaveLength(1);
      }
      expect(await readDetections(tenant)).toHaveLength(SESSIONS);
    });

    it('of many tenants at once keep their rows apart', async () => {
      const tenants = await Promise.all(Array.from({ length: 16 }, () => server.createTenant()));
      await Promise.all(
        tenants.map((tenant, n) =>
          accept(tenant, scoredSession(0.9, 'same').facts.concat(started(`own-${n}`) as never)),
        ),
      );
      for (const [n, tenant] of tenants.entries()) {
        expect(await countSessions(tenant)).toBe(2);
        expect(await readSession(tenant, `own-${n}`)).not.toBeNull();
        expect(await readDetections(tenant)).toHaveLength(1);
      }
    });

    it('with one refused batch among them refuse only that batch', async () => {
      const tenant = await server.createTenant();
      const answers = await Promise.all(
        Array.from({ length: 16 }, (_, n) =>
          server.ingest(tenant.id, [started(`s-${n}`), ...(n === 5 ? [closed('unknown')] : [])]),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 16 }, (_, n) => (n === 5 ? 400 : 200)));
      expect(await countSessions(tenant)).toBe(15);
    });
  });
}
