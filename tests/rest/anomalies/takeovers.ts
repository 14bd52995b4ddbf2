import { describe, expect, it } from 'vitest';
import type { ScoredSegment } from '../../../contract/evidence';
import type { Fact } from '../../../server/pipeline/facts';
import { shorten } from '../../support/campus';
import { makeVisit, minutesAgo } from '../../support/visits';
import { campus } from './shared-campus';

export function registerTakeoverTests(): void {
  describe('AgentTakeover', () => {
    const segmentsOf = (...logOdds: number[]): ScoredSegment[] =>
      logOdds.map((one, n) => ({ startedAt: minutesAgo(50 - n), logOdds: one }));
    const score = (segments: ScoredSegment[], ago = 30): Fact => ({
      ...{
        kind: 'sessionScored',
        sessionId: 's',
        botScore: 0.8,
        detectionFlags: [],
        scoredAt: minutesAgo(ago),
        segments,
      },
    });
    const TAKEN_OVER = segmentsOf(-3.5, -3.5, -3.2, -3.5, 3.4, 2.8, 3.6);

    it('says that a program went on, and when it began, once for the session', async () => {
      await campus.send([...makeVisit({ id: 's', minutes: null }), score(TAKEN_OVER)]);
      await campus.send([score(TAKEN_OVER, 29)]);
      expect(await campus.listAnomalies()).toMatchObject([
        {
          ...{
            anomalyType: 'AgentTakeover',
            severity: 'high',
            sessionId: 's',
            userId: 'ada',
            detectedAt: minutesAgo(30),
          },
          metadata: {
            ...{ moment: minutesAgo(46), direction: 'person-to-program', segmentsBefore: 4, segmentsAfter: 3 },
            ...{ scoreBefore: expect.closeTo(0.03, 2), scoreAfter: expect.closeTo(0.963, 2) },
          },
        },
      ]);
    });

    it('is medium if a person went on, and names no user whom anybody could have named', async () => {
      const turned = segmentsOf(3.4, 2.8, 3.6, -3.5, -3.5, -3.2);
      await campus.send([...makeVisit({ id: 's', confidence: 0.5, minutes: null }), score(turned)]);
      expect(shorten(await campus.listAnomalies())).toEqual(['AgentTakeover medium null']);
    });

    it.each<[name: string, logOdds: number[], ago: number, found: string]>([
      ['names who signed in before a program stopped', [3.4, 2.8, 3.6, -3.5, -3.5, -3.2], 48, 'medium ada'],
      ['names nobody who signed in after it', [3.4, 2.8, 3.6, -3.5, -3.5, -3.2], 47, 'medium null'],
      ['names who signed in while a program went on', [-3.5, -3.5, -3.2, 3.4, 2.8, 3.6], 45, 'high ada'],
      ['names nobody who signed in after both', [-3.5, -3.5, -3.2, 3.4, 2.8, 3.6], 44, 'high null'],
    ])('%s', async (_name, logOdds, ago, found) => {
      const match: Fact = {
        ...{ kind: 'sessionCorrelated', sessionId: 's', user: { id: 'ada', name: 'Ada' }, confidence: 1 },
        correlatedAt: minutesAgo(ago),
      };
      const visit = makeVisit({ id: 's', user: null, minutes: null });
      await campus.send([...visit, match, score(segmentsOf(...logOdds))]);
      expect(shorten(await campus.listAnomalies())).toEqual([`AgentTakeover ${found}`]);
    });

    it('names no user if two had the session: one of them may be the program', async () => {
      await campus.send([
        ...makeVisit({ id: 's', minutes: null }),
        ...makeVisit({ id: 't', user: 'bob', device: 'other' }),
      ]);
      const match = {
        kind: 'sessionCorrelated' as const,
        sessionId: 's',
        user: { id: 'bob', name: 'Bob' },
        confidence: 1,
      };
      await campus.send([{ ...match, correlatedAt: minutesAgo(46) }, score(TAKEN_OVER)]);
      expect(shorten(await campus.listAnomalies())).toContain('AgentTakeover high null');
    });

    it('is not told of a session that somebody has labelled human', async () => {
      await campus.send(makeVisit({ id: 's', minutes: null }));
      const answer = await campus.customer.post('/v1/sessions/s/label', { verdict: 'human' });
      expect(answer.status).toBe(200);
      await campus.send([score(TAKEN_OVER)]);
      expect(await campus.listAnomalies()).toEqual([]);
    });

    it('is told of one that somebody has labelled bot', async () => {
      await campus.send(makeVisit({ id: 's', minutes: null }));
      await campus.customer.post('/v1/sessions/s/label', { verdict: 'bot' });
      await campus.send([score(TAKEN_OVER)]);
      expect(shorten(await campus.listAnomalies())).toEqual(['AgentTakeover high ada']);
    });

    it('follows from the latest score', async () => {
      await campus.send([...makeVisit({ id: 's', minutes: null }), score(segmentsOf(-3.5, -3.5, -3.2, -3.5), 40)]);
      await campus.send([score(TAKEN_OVER)]);
      expect(shorten(await campus.listAnomalies())).toEqual(['AgentTakeover high ada']);
    });

    it('is not told of a session of one actor', async () => {
      await campus.send([...makeVisit({ id: 's', minutes: null }), score(segmentsOf(3, 3, 3, 3, 3, 3))]);
      expect(await campus.listAnomalies()).toEqual([]);
    });
  });
}
