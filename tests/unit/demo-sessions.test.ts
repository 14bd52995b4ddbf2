import { statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../contract/evidence';
import { unpackTrace } from '../../server/collector/packing';
import recordings from '../../server/demo/recordings.json';
import { createRandom, makeSessionFacts } from '../../server/demo/session-facts';
import { listVisits } from '../../server/demo/visits';
import { scoreTrace } from '../../server/detection/score';
import { findDemoRecording } from '../lab/demo-recordings';
import type { Task } from '../lab/subject';

const KINDS = ['human', 'bot', 'missed'] as const;
const BOT_SCORE = 0.7;
const ENDS_AT = Date.parse('2026-03-01T10:00:00.123Z');

describe('the recordings of the demo', () => {
  it('are few and small, and every kind is among them', () => {
    expect(recordings.length).toBeGreaterThanOrEqual(12);
    expect(recordings.length).toBeLessThanOrEqual(30);
    expect(statSync('server/demo/recordings.json').size).toBeLessThan(150_000);
    const visits = listVisits();
    for (const kind of KINDS) expect(visits.filter((visit) => visit.kind === kind).length, kind).toBeGreaterThan(2);
  });

  it('are those of the laboratory', () => {
    const changed = recordings.filter((recording) => {
      const recorded = findDemoRecording(recording.subject, recording.task as Task, recording.seed);
      return recorded && JSON.stringify(recorded) !== JSON.stringify(recording);
    });
    expect(
      changed.map(({ subject, task, seed }) => `${subject} ${task} ${seed}`),
      'run npm run lab -- demo',
    ).toEqual([]);
  });

  it('accuse nobody of being a bot who is none', () => {
    const people = listVisits().filter(({ kind }) => kind === 'human');
    expect(people.filter(({ botScore }) => botScore >= BOT_SCORE)).toEqual([]);
  });

  it('hold nothing that says on which machine they were made, as far as sessions show it', () => {
    const random = createRandom(3);
    for (const kind of KINDS)
      for (let n = 0; n < 40; n++)
        expect(JSON.stringify(makeSessionFacts(kind, ENDS_AT, random).facts)).not.toMatch(/127\.0\.0\.1|localhost/);
  });
});

describe('a session of the demo', () => {
  /** What the rules say of a recording that was made so that it ended at `ENDS_AT`. */
  const judgeMoved = ({ userAgent, trace }: (typeof recordings)[number]) => {
    const batches = unpackTrace(Buffer.from(trace, 'base64'));
    const movedMs = ENDS_AT - Math.max(...batches.map(({ receivedAtMs }) => receivedAtMs));
    const moved = batches.map(({ receivedAtMs, c: [clockMs, wallMs], ...batch }) => ({
      ...batch,
      receivedAtMs: receivedAtMs + movedMs,
      c: [clockMs, wallMs + movedMs] as [number, number],
    }));
    const { botScore, detectionFlags, findings } = scoreTrace({ userAgent, batches: moved });
    return { botScore, detectionFlags, evidence: findings };
  };

  it('has the score and the evidence that its recording would get at that time', () => {
    const expected = recordings.map(judgeMoved);
    const random = createRandom(4);
    const met = new Set<number>();
    for (let n = 0; n < 200; n++) {
      const { facts } = makeSessionFacts(KINDS[n % 3]!, ENDS_AT, random);
      const score = facts.find((fact) => fact.kind === 'sessionScored')!;
      const { botScore, detectionFlags } = score;
      const evidence = score.evidence as Finding[];
      const place = expected.findIndex((one) => JSON.stringify(one.evidence) === JSON.stringify(evidence));
      expect({ botScore, detectionFlags, evidence }).toEqual(expected[place]);
      met.add(place);
    }
    // Two of them have the same evidence: nothing was found, and little measured.
    expect(met.size).toBe(new Set(expected.map(({ evidence }) => JSON.stringify(evidence))).size);
  });

  it('happens between its start and its end, on pages of one directory', () => {
    const random = createRandom(5);
    for (let n = 0; n < 60; n++) {
      const { facts } = makeSessionFacts(KINDS[n % 3]!, ENDS_AT, random);
      const started = facts.find((fact) => fact.kind === 'sessionStarted')!;
      const events = facts.flatMap((fact) => (fact.kind === 'sessionEvents' ? fact.events : []));
      const [from, to] = [Date.parse(started.startedAt), ENDS_AT];
      expect(events.length).toBeGreaterThan(2);
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, place) => place));
      expect(events.filter(({ timestamp }) => Date.parse(timestamp) < from || Date.parse(timestamp) > to)).toEqual([]);
      const directory = started.pageUrl.slice(0, started.pageUrl.lastIndexOf('/') + 1);
      expect(directory).toMatch(/^https:\/\/learn\.example\.edu\/courses\/\d+\/[a-z_]+\/\d+\/$/);
      expect(events.filter(({ url }) => url && !url.startsWith(directory))).toEqual([]);
    }
  });

  it('has the texts that were written in it, some by hand and some by programs', () => {
    const random = createRandom(6);
    const sources = new Set<string>();
    for (let n = 0; n < 200; n++) {
      const { sessionId, facts } = makeSessionFacts(KINDS[n % 3]!, ENDS_AT, random);
      const matched = facts.find((fact) => fact.kind === 'sessionCorrelated');
      for (const text of facts.filter((fact) => fact.kind === 'writingScored')) {
        const userId = matched?.user?.id ?? null;
        expect(text).toMatchObject({ browsingSessionId: sessionId, scoredAt: new Date(ENDS_AT).toISOString(), userId });
        for (const [source, length] of Object.entries(text.evidence!.characters)) if (length > 300) sources.add(source);
      }
    }
    expect([...sources]).toEqual(expect.arrayContaining(['typed', 'inserted']));
  });

  it('is the same for the same random numbers, apart from its id', () => {
    const make = () => {
      const { sessionId, facts } = makeSessionFacts('bot', ENDS_AT, createRandom(9));
      return JSON.stringify(facts).replaceAll(sessionId, 'id');
    };
    expect(make()).toBe(make());
  });
});
