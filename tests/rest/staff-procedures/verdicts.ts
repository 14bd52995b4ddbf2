import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import * as facts from '../../support/facts';
import { admin, ask, at, type ours, server } from './two-tenants';

export function registerVerdictTests(): void {
  describe('a verdict that staff set', () => {
    const NOTES = { confidence: 'low', notes: 'typed too evenly' };
    let tenant: typeof ours;
    const mutate = (name: string, input: object) => admin.mutate(`sessions.${name}`, input, at(tenant));
    const set = async (sessionId: string, verdict: string) =>
      (await mutate('setVerdict', { sessionId, verdict })).body.result.data;
    const read = async (sessionId: string) => (await ask('sessions.get', { sessionId }, tenant)).label;
    const labelByKey = async (sessionId: string, body: object) => {
      const path = `/v1/sessions/${sessionId}/label`;
      return (await server.call('POST', path, { key: tenant.key, body })).body.data;
    };
    const readLabeler = async (sessionId: string) => {
      const { labeledAt, labeledBy } = await ask('sessions.getTimeline', { sessionId }, tenant);
      return { labeledAt, labeledBy };
    };
    beforeAll(async () => {
      tenant = await server.createTenant();
      await server.ingest(
        tenant.id,
        ['x', 'y', 'z'].flatMap((id) => [facts.started(id), facts.closed(id), facts.scored(id, 0.95)]),
      );
    });

    it('keeps the confidence and the notes of the label, and names the one before; REST replaces them', async () => {
      const first = await labelByKey('x', { verdict: 'bot', ...NOTES });
      const { previous, ...label } = await set('x', 'human');
      expect(label).toEqual({ sessionId: 'x', verdict: 'human', ...NOTES, reasons: [], labeledAt: expect.any(String) });
      expect(previous).toEqual({ verdict: 'bot', labeledAt: first.labeledAt });
      expect({ sessionId: 'x', reasons: [], ...(await read('x')) }).toEqual(label);
      expect(await labelByKey('x', { verdict: 'bot' })).toMatchObject({ confidence: null, notes: null });
      expect((await mutate('setVerdict', { sessionId: 'nobody', verdict: 'bot' })).status).toBe(404);
    });

    it('is undone to the verdict before, with its notes, or to no label, which lets the score decide again', async () => {
      const before = await ask('sessions.get', { sessionId: 'y' }, tenant);
      const counted = await ask('analytics.getScoreDistribution', undefined, tenant);
      const first = await set('y', 'human');
      expect(first.previous).toBeNull();
      expect(await ask('analytics.getScoreDistribution', undefined, tenant)).not.toEqual(counted);
      expect(await ask('sessions.get', { sessionId: 'y' }, tenant)).toMatchObject({ riskLevel: 'human' });
      const taken = await mutate('undoVerdict', {
        sessionId: 'y',
        labeledAt: first.labeledAt,
        previousLabeledAt: null,
      });
      expect(taken.body.result.data).toEqual({ label: null });
      const after = await ask('sessions.get', { sessionId: 'y' }, tenant);
      expect(after).toEqual({ ...before, updatedAt: expect.any(String) });
      expect(after).toMatchObject({ riskLevel: 'bot', label: null });
      expect(await ask('analytics.getScoreDistribution', undefined, tenant)).toEqual(counted);
      expect(await readLabeler('y')).toEqual({ labeledAt: null, labeledBy: null });

      await labelByKey('y', { verdict: 'bot', ...NOTES });
      const { labeledAt, previous } = await set('y', 'human');
      const undone = await mutate('undoVerdict', { sessionId: 'y', labeledAt, previousLabeledAt: previous.labeledAt });
      expect(undone.body.result.data.label).toMatchObject({ verdict: 'bot', ...NOTES });
      expect(await read('y')).toEqual(undone.body.result.data.label);
    });

    it('is not undone once somebody else has labelled the session', async () => {
      const { labeledAt } = await set('z', 'human');
      await delay(2);
      const theirs = await labelByKey('z', { verdict: 'bot', ...NOTES });
      for (const previousLabeledAt of [null, labeledAt]) {
        const refused = await mutate('undoVerdict', { sessionId: 'z', labeledAt, previousLabeledAt });
        expect([refused.status, refused.body.error.data.field]).toEqual([400, 'labeledAt']);
      }
      expect({ sessionId: 'z', ...(await read('z')) }).toEqual(theirs);
      const unknown = { sessionId: 'nobody', labeledAt, previousLabeledAt: null };
      expect((await mutate('undoVerdict', unknown)).status).toBe(404);
    });

    it('says who set it, as every label does, to staff alone', async () => {
      const { labeledAt } = await labelByKey('z', { verdict: 'bot' });
      const { apiKeyMasked } = await ask('integration.get', {}, tenant);
      expect(await readLabeler('z')).toEqual({ labeledAt, labeledBy: apiKeyMasked });
      const own = await set('z', 'human');
      expect(await readLabeler('z')).toEqual({ labeledAt: own.labeledAt, labeledBy: admin.email });
      for (const path of ['/v1/sessions/z', '/v1/sessions/z/details', '/v1/sessions/z/evidence', '/v1/sessions'])
        expect((await server.call('GET', path, { key: tenant.key })).text).not.toContain('labeledBy');
    });

    it('keeps the notes when several people press keys at the same time', async () => {
      await labelByKey('x', { verdict: 'bot', ...NOTES });
      const pressed = await Promise.all(Array.from({ length: 20 }, (_, n) => set('x', n % 2 ? 'bot' : 'human')));
      // Each press came after another one, so none is lost.
      const times = new Set(pressed.map(({ previous }) => previous.labeledAt));
      expect(times.size).toBeGreaterThan(1);
      expect(await read('x')).toMatchObject(NOTES);
    });
  });
}
