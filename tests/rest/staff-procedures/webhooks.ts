import { describe, expect, it } from 'vitest';
import * as facts from '../../support/facts';
import { waitUntil } from '../../support/receiver';
import { admin, ask, at, ours, receiver, refuse, server, theirs, webhookId } from './two-tenants';

export function registerWebhookTests(): void {
  describe('a threshold', () => {
    const preview = (threshold?: object | null, tenant = ours, eventType = 'botdetected') =>
      ask('webhooks.previewThreshold', { eventType, ...(threshold === undefined ? {} : { threshold }) }, tenant);

    it('is tried on the sample and on the newest events of its type', async () => {
      const all = await preview();
      expect(all).toMatchObject({ samplePasses: true, sample: { botScore: 0.93 } });
      expect(all.events).toEqual([
        {
          createdAt: expect.stringMatching(/Z$/),
          payload: expect.objectContaining({ sessionId: 's 1/é' }),
          passes: true,
        },
      ]);
      expect(await preview(null)).toEqual(all);
      const strict = await preview({ field: 'botScore', operator: 'gte', value: 0.94 });
      expect([strict.samplePasses, strict.events[0].passes]).toEqual([false, true]);
      const stricter = await preview({ field: 'botScore', operator: 'gt', value: '0.95' });
      expect(stricter.events[0]).toMatchObject({ passes: false, actual: 0.95 });
      expect((await preview({ field: 'metadata.none', operator: 'neq', value: 1 })).events[0]).not.toHaveProperty(
        'actual',
      );
      expect((await preview(null, ours, 'ThresholdExceeded')).events).toEqual([]);
      const many = await server.createTenant();
      await server.database.db.sql`
      insert into domain_events (integration_id, id, type, natural_key, payload, created_at)
      select ${many.id}, 'evt-' || n, 'BotDetected', n, '{"n":' || n || '}', now() - n * interval '1 s' from generate_series(1, 30) n`;
      const { events } = await preview({ field: 'n', operator: 'lte', value: 5 }, many);
      expect(events.map(({ payload }: { payload: { n: number } }) => payload.n)).toEqual(
        Array.from({ length: 20 }, (_, n) => n + 1),
      );
      expect(events.filter(({ passes }: { passes: boolean }) => passes)).toHaveLength(5);
    });

    it.each([
      [{ eventType: 'Nothing' }, 'eventType'],
      [
        { eventType: 'BotDetected', threshold: { field: 'botScore', operator: 'gte', value: 'much' } },
        'threshold.value',
      ],
    ])('as %j is refused', async (input, field) => {
      const answer = await admin.query('webhooks.previewThreshold', input, at(ours));
      expect(answer.body.error.data).toMatchObject({ httpStatus: 400, field });
    });
  });

  describe('the health of a webhook', () => {
    it('shows its failures in a row and its latest attempts, newest first', async () => {
      const delivered = { outcome: 'Delivered', failureClass: null, responseStatus: 200, test: false };
      const common = {
        deliveryId: expect.stringMatching(/^dlv_/),
        at: expect.stringMatching(/Z$/),
        durationMs: expect.any(Number),
      };
      expect(await ask('webhooks.getHealth', { id: webhookId })).toEqual({
        ...{ consecutiveFailures: 0, disabledAfter: 3, attempts: [{ ...common, ...delivered }] },
      });
      receiver.answer = () => 404;
      await server.ingest(ours.id, facts.scoredSession(0.99, 'failing').facts);
      await admin.mutate('webhooks.test', { id: webhookId }, at(ours));
      await waitUntil(async () => (await ask('webhooks.getHealth', { id: webhookId })).attempts.length === 3);
      receiver.answer = () => 200;
      const { consecutiveFailures, attempts } = await ask('webhooks.getHealth', { id: webhookId });
      expect(consecutiveFailures).toBe(1);
      expect(attempts[2]).toMatchObject(delivered);
      expect(
        attempts
          .slice(0, 2)
          .map(({ test }: { test: boolean }) => test)
          .sort(),
      ).toEqual([false, true]);
      for (const failed of attempts.slice(0, 2))
        expect(failed).toMatchObject({ outcome: 'Failed', failureClass: '4xx', responseStatus: 404 });
      const times = attempts.map(({ at }: { at: string }) => at);
      expect(times).toEqual([...times].sort().reverse());
      expect(await refuse('webhooks.getHealth', { id: webhookId }, theirs)).toBe(404);
    });
  });
}
