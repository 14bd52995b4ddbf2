import { describe, expect, it } from 'vitest';
import {
  countOutcomes,
  decideCurrent,
  decideMany,
  findCurrent,
  findOutcome,
  forgetOutcomes,
  noteVerdicts,
  type ReviewProgress,
  resumeSkipped,
  returnTo,
  skipCurrent,
  startReview,
  stepTo,
} from '../../app/dashboard/[integrationId]/review/progress';
import { describeDone } from '../../app/dashboard/[integrationId]/review/review-end';

const start = (...ids: string[]): ReviewProgress =>
  startReview({
    ...{ queue: 'score', window: '24h', openedAt: '2026-11-22T08:00:00.000Z', total: ids.length },
    sessions: ids.map((id) => ({ id, score: 90 })),
  });
/** Takes steps: `b`, `h` and `s` as the keys do, `j` and `k` without a verdict. */
const press = (progress: ReviewProgress, keys: string) =>
  [...keys].reduce((current, key) => {
    if (key === 'b' || key === 'h') return decideCurrent(current, key === 'b' ? 'bot' : 'human');
    if (key === 's') return skipCurrent(current);
    return stepTo(current, current.at + (key === 'j' ? 1 : -1));
  }, progress);
const currentOf = (progress: ReviewProgress) => findCurrent(progress)?.id ?? null;

describe('the progress in a review', () => {
  it('goes on after each verdict, to the end', () => {
    const done = press(start('a', 'b', 'c'), 'bhb');
    expect([currentOf(done), done.outcomes]).toEqual([null, { a: 'bot', b: 'human', c: 'bot' }]);
    expect(press(done, 'bs')).toEqual(done);
    expect(currentOf(press(done, 'k'))).toBe('c');
  });

  it('brings skipped sessions back at the end, once', () => {
    const returned = press(start('a', 'b', 'c'), 'sbs');
    expect(currentOf(returned)).toBe('a');
    const last = press(returned, 'h');
    expect(currentOf(last)).toBe('c');
    const done = press(last, 's');
    expect([currentOf(done), done.outcomes.c]).toEqual([null, 'skippedAgain']);
    expect(countOutcomes(done)).toEqual({ bot: 1, human: 1, skipped: 1, elsewhere: 0, reviewed: 2, open: 0 });
    expect(currentOf(resumeSkipped(done))).toBe('c');
    // One that is the only one left comes back at once.
    expect(currentOf(press(start('a'), 's'))).toBe('a');
    expect(currentOf(press(start('a'), 'ss'))).toBe(null);
  });

  it('returns to sessions that were passed without a verdict before those that were skipped', () => {
    const passed = press(start('a', 'b', 'c', 'd'), 'sjbb');
    expect(currentOf(passed)).toBe('b');
    expect(currentOf(press(passed, 'b'))).toBe('a');
  });

  it('comes to sessions whose ids are names that every object has', () => {
    const ids = ['a', 'constructor', '__proto__', 'toString'];
    const first = press(start(...ids), 'b');
    expect(currentOf(first)).toBe('constructor');
    const done = press(first, 'hsbh');
    expect([currentOf(done), countOutcomes(done).reviewed]).toEqual([null, 4]);
    expect(ids.map((id) => findOutcome(done, id))).toEqual(['bot', 'human', 'human', 'bot']);
    expect(findOutcome(forgetOutcomes(done, ids), 'constructor')).toBeUndefined();
    const elsewhere = noteVerdicts(start(...ids), [{ sessionId: 'constructor', verdict: 'bot', isOwn: false }]);
    expect(findOutcome(elsewhere, 'constructor')).toBe('elsewhere');
  });

  it('stays within the queue with j and k', () => {
    expect(currentOf(press(start('a', 'b'), 'kk'))).toBe('a');
    expect(currentOf(press(start('a', 'b'), 'jjj'))).toBe('b');
  });

  it('returns to what is undone, with the verdict before it', () => {
    const progress = press(start('a', 'b', 'c'), 'bb');
    const undone = returnTo(progress, 'a', undefined);
    expect([currentOf(undone), undone.outcomes]).toEqual(['a', { b: 'bot' }]);
    expect(currentOf(press(undone, 'h'))).toBe('c');
    expect(returnTo(progress, 'a', 'human').outcomes.a).toBe('human');
    expect(returnTo(progress, 'elsewhere', undefined)).toBe(progress);
  });

  it('forgets a verdict that was refused, and comes back to it', () => {
    const progress = forgetOutcomes(press(start('a', 'b'), 'b'), ['a']);
    expect(currentOf(progress)).toBe('b');
    expect(currentOf(press(progress, 'b'))).toBe('a');
  });

  it('passes over what somebody else has labelled, but does not take it away from under the reviewer', () => {
    const told = ['a', 'b', 'unknown'].map((sessionId) => ({ sessionId, verdict: 'bot' as const, isOwn: false }));
    const progress = noteVerdicts(start('a', 'b', 'c'), told);
    expect([currentOf(progress), progress.outcomes]).toEqual(['a', { a: 'elsewhere', b: 'elsewhere' }]);
    const passed = press(progress, 's');
    expect([currentOf(passed), passed.outcomes.a]).toEqual(['c', 'elsewhere']);
    expect(countOutcomes(passed)).toMatchObject({ elsewhere: 2, reviewed: 0, open: 1 });
    expect(noteVerdicts(progress, told)).toBe(progress);
    // A verdict of one's own stays, and one that was removed again leaves the session open.
    const own = press(progress, 'h');
    expect(noteVerdicts(own, told).outcomes.a).toBe('human');
    const onOtherPage = [{ sessionId: 'c', verdict: 'bot' as const, isOwn: true }];
    expect(noteVerdicts(progress, onOtherPage).outcomes.c).toBe('bot');
    expect(noteVerdicts(progress, [{ sessionId: 'b', verdict: null, isOwn: false }]).outcomes).toEqual({
      a: 'elsewhere',
    });
  });

  it('goes on if the current session is among several that were labelled', () => {
    const progress = decideMany(start('a', 'b', 'c', 'd'), ['a', 'c', 'unknown'], 'bot');
    expect([currentOf(progress), progress.outcomes]).toEqual(['b', { a: 'bot', c: 'bot' }]);
    expect(currentOf(decideMany(start('a', 'b'), ['b'], 'bot'))).toBe('a');
  });

  it('says in the end what was done', () => {
    const progress = noteVerdicts(press(start('a', 'b', 'c', 'd'), 'bhss'), [
      { sessionId: 'd', verdict: 'human', isOwn: false },
    ]);
    expect(describeDone(progress)).toBe('2 reviewed: 1 bot, 1 human, 1 skipped, 1 labelled by somebody else');
  });
});
