import {
  type CutRates,
  type ErrorRate,
  type ErrorRates,
  MAX_RATE_LABELS,
  MIN_VERDICTS,
  RATE_DAYS,
} from '../../contract/error-rates';
import { SAMPLE_DAYS } from '../../contract/review';
import type { Verdict } from '../../contract/sessions';
import { PLANS } from '../../contract/tiers';
import { findLowerBound, findUpperBound } from './binomial-interval';
import type { DomainContext } from './context';
import { computeScoreBin } from './risk';

// How often the score is wrong, by what reviewers said (docs/error-rates.md).

const BINS = 101;
const ROUNDING = 1e6;

/** A session that was drawn for review. */
export interface DrawnSession {
  /** The score in hundredths. Null: the session is gone. */
  bin: number | null;
  verdict: Verdict | null;
  /** Whether staff gave the verdict after the draw: reviewers were at this session. */
  isReviewed: boolean;
}

/** The sessions that were drawn of a day, in random order. */
export interface DrawnDay {
  population: number;
  drawn: DrawnSession[];
}

/** Sessions by their score and by what is known of them. */
export interface Tally {
  human: number[];
  bot: number[];
  unknown: number[];
  /** Without a verdict and without a score. */
  gone: number;
}

const createTally = (): Tally => ({ human: zeros(), bot: zeros(), unknown: zeros(), gone: 0 });
const zeros = () => new Array<number>(BINS).fill(0);
const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

/** A part of the drawn sessions in which each session of the counted days is equally likely to be. */
export interface Pool {
  /** The days that count. */
  days: DrawnDay[];
  tally: Tally;
  /** Verdicts that are not in the pool. */
  setAside: number;
  /** Verdicts in the pool that were not given in the review of the sample. */
  unblinded: number;
}

/**
 * Pools days of which different shares were reviewed, oldest first. Reviewers go through the sessions of a day in their order, so
 * the first ones of that order are a random sample, whatever comes after them. The pool takes the same share of each day, so that a day counts
 * as much as it has sessions. A share is chosen with which it has the most sessions; days with a smaller one are left out.
 */
export function poolDays(days: DrawnDay[]): Pool {
  const lastReviewed = days.findLastIndex(({ drawn }) => drawn.some(({ isReviewed }) => isReviewed));
  const reviewed = days
    .map((day, index) => ({ ...day, reached: countReached(day.drawn, index < lastReviewed) }))
    .filter(({ reached, population }) => reached > 0 && population > 0);
  const share = chooseShare(reviewed);
  const pool: Pool = { days: [], tally: createTally(), setAside: 0, unblinded: 0 };
  let counted = 0;
  for (const day of reviewed) {
    const isCounted = day.reached / day.population >= share;
    if (isCounted) pool.days.push(day);
    // What is lost by rounding one day down, a later one takes.
    const before = Math.round(counted * share);
    counted += isCounted ? day.population : 0;
    const taken = Math.min(day.reached, Math.round(counted * share) - before);
    for (const session of day.drawn.slice(0, taken)) addSession(pool.tally, session);
    pool.unblinded += day.drawn.slice(0, taken).filter(isUnblinded).length;
    pool.setAside += day.drawn.slice(taken).filter(({ isReviewed }) => isReviewed).length;
  }
  return pool;
}

const isUnblinded = ({ verdict, isReviewed }: DrawnSession) => verdict !== null && !isReviewed;

/** All sessions of a day with fewer may have been skipped. A day with more and no review was not begun. */
const FEW_SESSIONS = 5;

/**
 * Counts the sessions that reviewers saw: up to the last one they judged, those behind it with a label, and one more, which
 * somebody may have opened and left. A day that ends before a later one is reviewed was seen even if all was skipped.
 */
function countReached(drawn: DrawnSession[], isPassed: boolean): number {
  const last = drawn.findLastIndex(({ isReviewed }) => isReviewed);
  if (last === -1) return isPassed && drawn.length < FEW_SESSIONS ? drawn.length : 0;
  const unknown = drawn.findIndex(({ verdict }, index) => index > last && verdict === null);
  return unknown === -1 ? drawn.length : unknown + 1;
}

function chooseShare(days: { population: number; reached: number }[]): number {
  let best = { share: 0, sessions: 0 };
  let population = 0;
  // Each day adds itself to those with a larger share.
  for (const day of days.toSorted((a, b) => b.reached / b.population - a.reached / a.population)) {
    population += day.population;
    const share = day.reached / day.population;
    if (share * population > best.sessions) best = { share, sessions: share * population };
  }
  return best.share;
}

function addSession(tally: Tally, { bin, verdict }: DrawnSession): void {
  if (bin === null) tally.gone++;
  else tally[verdict ?? 'unknown'][bin]!++;
}

/**
 * Estimates the rates at a cut point, each with its 95 % interval. A session without a verdict counts once as a person and once as
 * a bot, whichever moves that end of the interval outwards. So the interval holds whatever these sessions are.
 */
export function estimateRates({ human, bot, unknown, gone }: Tally, cut: number): CutRates {
  const [called, spared] = [(bins: number[]) => sum(bins.slice(cut)), (bins: number[]) => sum(bins.slice(0, cut))];
  const [calledUnknown, sparedUnknown] = [called(unknown) + gone, spared(unknown) + gone];
  return {
    falsePositives: estimateRate(called(human), spared(human), calledUnknown, sparedUnknown),
    precision: estimateRate(called(bot), called(human), calledUnknown, calledUnknown),
    recall: estimateRate(called(bot), spared(bot), calledUnknown, sparedUnknown),
  };
}

/** `maybeHits`, `maybeMisses`: what the sessions without a verdict may add to either. Null if there are too few verdicts. */
function estimateRate(hits: number, misses: number, maybeHits: number, maybeMisses: number): ErrorRate | null {
  const of = hits + misses;
  if (of < MIN_VERDICTS) return null;
  return {
    low: Math.floor(findLowerBound(hits, of + maybeMisses) * ROUNDING) / ROUNDING,
    high: Math.ceil(findUpperBound(hits + maybeHits, of + maybeHits) * ROUNDING) / ROUNDING,
    estimate: Math.round((hits / of) * ROUNDING) / ROUNDING,
    of,
  };
}

const estimateAll = (tally: Tally) => Array.from({ length: BINS }, (_, cut) => estimateRates(tally, cut));

/** Estimates the error rates of the score at each cut point, by the random sample and by all labels. */
export async function getErrorRates({ db, integration }: DomainContext): Promise<ErrorRates> {
  const days = Math.min(RATE_DAYS, PLANS[integration.plan].retentionDays);
  const [[setting], drawnDays, labelled] = await Promise.all([
    db.query<{ sampleSize: number }>(READ_SETTING, [integration.id]),
    db.query<DayRow>(READ_DRAWN, [integration.id, days, SAMPLE_DAYS]),
    db.query<{ label: number; bin: number; sessions: number }>(COUNT_LABELS, [integration.id, days, MAX_RATE_LABELS]),
  ]);
  return {
    sampleSize: setting?.sampleSize ?? 0,
    days,
    sample: estimateSample(drawnDays.map(({ drawn, ...day }) => ({ ...day, drawn: drawn.map(readDrawnSession) }))),
    labels: estimateLabels(labelled),
  };
}

type DayRow = { population: number; isQueued: boolean; drawn: DrawnRow[] };
type DrawnRow = [bin: number | null, label: number | null, reviewed: 0 | 1, scoreOfVerdict: number | null];

/** The score that counts is that of the verdict's time. */
const readDrawnSession = ([bin, label, reviewed, scoreOfVerdict]: DrawnRow): DrawnSession => ({
  bin: scoreOfVerdict === null ? bin : computeScoreBin(scoreOfVerdict),
  verdict: label === null ? null : nameVerdict(label),
  isReviewed: reviewed === 1,
});

const nameVerdict = (label: number): Verdict => (label === 1 ? 'bot' : 'human');

function estimateSample(days: (DrawnDay & { isQueued: boolean })[]): ErrorRates['sample'] {
  const { days: counted, tally, setAside, unblinded } = poolDays(days);
  const queued = days.filter(({ isQueued }) => isQueued).flatMap(({ drawn }) => drawn);
  return {
    days: counted.length,
    population: sum(counted.map(({ population }) => population)),
    setAside,
    unblinded,
    humans: sum(tally.human),
    bots: sum(tally.bot),
    skipped: sum(tally.unknown) + tally.gone,
    waiting: queued.filter(({ bin, verdict }) => bin !== null && verdict === null).length,
    ratesByCut: estimateAll(tally),
  };
}

function estimateLabels(labelled: { label: number; bin: number; sessions: number }[]): ErrorRates['labels'] {
  const tally = createTally();
  for (const { label, bin, sessions } of labelled) tally[nameVerdict(label)][bin]! += sessions;
  // Reviewers look at high scores, so nearly every bot that they label has one.
  const ratesByCut = estimateAll(tally).map((rates) => ({ ...rates, recall: null }));
  return { humans: sum(tally.human), bots: sum(tally.bot), ratesByCut };
}

const READ_SETTING = 'select review_sample_size as "sampleSize" from integrations where id = $1';

/**
 * The first verdict that staff gave on a session `r` after it was drawn with `d`, unless it was taken back. Later ones are given
 * with the score in sight. What repeats a verdict, with reasons or notes, is no other one. Verdicts form a stack, and an
 * undo pops one: a verdict is undone if the stack later becomes lower than with it, or if the label is removed.
 */
const FIRST_VERDICT = `
  select w.label, w.bot_score
    from (select n.*, min(n.height) over later < n.height or bool_or(n.label is null) over later as is_taken_back
            from (select c.*, sum(case when c.is_undo then -1 else 1 end) over (order by c.entry) as height
                    from (select v.*, lag(v.label) over (order by v.entry) as label_before
                            from session_verdicts v
                           where v.integration_id = r.integration_id and v.session_id = r.session_id) c
                   where c.decided_at >= d.drawn_at and c.label is distinct from c.label_before) n
          window later as (order by n.entry rows between 1 following and unbounded following)) w
   where w.actor_kind = 'Staff' and w.label is not null and not w.is_undo and w.is_taken_back is not true
   order by w.entry limit 1`;

/**
 * A session that was labelled otherwise counts with its label. One that is gone has no bin. Each session is found by its key,
 * whatever the statistics say.
 */
const READ_DRAWN = `
  select d.population, d.day > current_date - $3::int as "isQueued", json_agg(json_build_array(
           s.score_bin, coalesce(v.label, s.label), (v.label is not null)::int, v.bot_score) order by r.position) as drawn
    from review_draws d
    join review_sample r on r.integration_id = d.integration_id and r.day = d.day
    left join lateral (${FIRST_VERDICT}) v on true
    left join lateral (
      select score_bin, label from sessions s
       where s.integration_id = r.integration_id and s.id = r.session_id limit 1) s on true
   where d.integration_id = $1 and d.day > (now() at time zone 'UTC')::date - $2::int
   group by d.day, d.population order by d.day`;

const latestLabels = (label: 1 | -1) => `
  (select label, score_bin, created_at from sessions
    where integration_id = $1 and label = ${label} and created_at > now() - $2::int * interval '1 day'
    order by created_at desc limit $3)`;

/** If there are more of a kind than are read, both kinds count from its oldest one on: the precision is that of one time. */
const COUNT_LABELS = `
  with latest as materialized (${latestLabels(1)} union all ${latestLabels(-1)}),
  cut as (
    select max(oldest) as at
      from (select min(created_at) as oldest from latest group by label having count(*) = $3) kinds)
  select label, score_bin as bin, count(*)::int as sessions
    from latest cross join cut
   where score_bin is not null and created_at >= coalesce(cut.at, '-infinity') group by label, score_bin`;
