import { findChange, MIN_SEGMENTS } from '../detection/change-point';
import { findTaken, type History, isNamed, isReliable, type JudgedSession } from './history';
import type { AnomalyRule } from './rule';

/** A person began and a program went on, or the other way round, in one session. */
export const agentTakeoverRule: AnomalyRule = {
  name: 'AgentTakeover',
  definition:
    'In one part of a session a person acts and in the other a program. The session’s segments (a page, and at most a minute of activity) are compared by their scores. Once for each session.',
  parameters: [
    `at least ${MIN_SEGMENTS} segments in which behaviour could be measured, 2 of them in each part`,
    'the change explains the session 20 times better than one actor does, corrected for the number of segments',
    'a session that is labelled human is not judged',
    'names no user if another one had the session before, or if the user was known only after the last segment of the program began',
    'the program’s part has a score of at least 0.7, which findings of one group cannot give; the person’s part below 0.4',
  ],
  severity: 'high if a program went on, medium if a person did',
  metadata: ['moment', 'direction', 'segmentsBefore', 'segmentsAfter', 'scoreBefore', 'scoreAfter'],
  innocent: [
    'a password manager or an assistant of the browser that fills in the rest of a form',
    'an aid for people who cannot use a mouse or keyboard, switched on during the session',
    'a test of the site by its developers',
  ],
  causes: ['scored'],
  async find(session, history) {
    if (session.isLabeledHuman) return [];
    const score = await history.readSegments();
    const change = score && findChange(score.segments);
    if (!change) return [];
    const { at: moment, direction, ...parts } = change;
    const programSegments =
      direction === 'person-to-program' ? score.segments : score.segments.slice(0, change.segmentsBefore);
    const userId = await findUser(session, programSegments.at(-1)!.startedAt, history);
    return [
      {
        cause: [session.id],
        severity: direction === 'person-to-program' ? 'high' : 'medium',
        detectedAt: score.scoredAt,
        sessionId: session.id,
        userId,
        deviceFingerprint: session.fingerprint,
        metadata: { moment, direction, ...parts },
      },
    ];
  },
};

/** Finds the user in whose name a program acted until a time. Nobody, if it may have acted for somebody who had the session before. */
async function findUser(session: JudgedSession, untilAt: string, history: History): Promise<string | null> {
  if (!isNamed(session) || (await findTaken(session, history)) !== null) return null;
  const matches = await history.listMatches(session.id);
  return matches.some((match) => match.correlatedAt <= untilAt && isReliable(match)) ? session.userId : null;
}
