import fc from 'fast-check';
import type { Customer } from './customer';
import { BUCKET_MS, type BucketName, floorTo, PERIOD_MS } from './expected-counts';
import { anomaly, closed, correlated, failed, happened, scored, started } from './facts';
import { AGENTS, canvasPage, pageAt, TenantModel } from './tenant-model';

// Random customers: the facts that the pipeline sends about them and what they do, in random order, through the
// pipeline's endpoint and the API.

const ORIGINS = [
  'https://lms.example.edu',
  'https://lms.example.edu:8443',
  'http://lms.example.edu',
  ...Array.from({ length: 10 }, (_, n) => `https://o${n}.example.edu`),
];
export const PLACES = ORIGINS.flatMap((origin) => [pageAt(origin), canvasPage(origin, 42), canvasPage(origin, 7)]);
const USERS = ['lms-1', 'lms-2', 'LMS-1', 'ünï', 'a/b %', '😀'];
/** Users with so few sessions that they lose their last one. */
const RARE_USERS = Array.from({ length: 30 }, (_, n) => `rare-${n}`);
const DEVICES = ['fp-1', 'fp-2', 'fp-3', 'fp/4', '😀'];
const TYPES = ['mouse', 'scroll', 'keyboard', 'touch', 'form', 'navigation', 'visibility', 'clipboard'];
const SCORES = [0, 1, 0.29, 0.28999, 0.7, 0.69999, 0.4, 0.39999, 0.9, 0.89999, 0.57, 0.05];
const ANOMALY_TYPES = ['SharedDevice', 'DeviceSwitch', 'ImpossibleTravel', 'shareddevice'];
const MINUTE = 60_000;

/** Times shared by the facts of a session, so that several facts have the same time. */
const moment = fc.integer({ min: 1, max: 5 });
const score = fc.oneof(fc.constantFrom(...SCORES), fc.double({ min: 0, max: 1, noNaN: true }));

/** When a session began: anywhere in 100 days, on the edge of a bucket or of a window, or slightly in the future. */
const beginning = fc.oneof(
  fc.record({ kind: fc.constant('any' as const), backMs: fc.integer({ min: 10 * MINUTE, max: 100 * BUCKET_MS.day }) }),
  fc.record({ kind: fc.constant('any' as const), backMs: fc.integer({ min: 10 * MINUTE, max: BUCKET_MS.day * 2 }) }),
  fc.record({
    kind: fc.constant('edge' as const),
    bucket: fc.constantFrom<BucketName>('hour', 'day', 'week'),
    backMs: fc.oneof(fc.constantFrom(...Object.values(PERIOD_MS)), fc.nat({ max: 100 * BUCKET_MS.day })),
    stepMs: fc.constantFrom(-1, 0, 0, 1),
  }),
  fc.record({ kind: fc.constant('ahead' as const), aheadMs: fc.constant(3 * MINUTE) }),
);
type Beginning = typeof beginning extends fc.Arbitrary<infer T> ? T : never;

function timeOf(when: Beginning, now: number): number {
  if (when.kind === 'any') return now - when.backMs;
  if (when.kind === 'ahead') return now + when.aheadMs;
  return floorTo(when.bucket, now - when.backMs) + when.stepMs;
}

const session = fc.record({
  beginning,
  agent: fc.constantFrom(...AGENTS),
  place: fc.nat().map((n) => PLACES[Math.floor(((n % 1_000) ** 2 / 1e6) * PLACES.length)]!),
  fingerprint: fc.option(fc.constantFrom(...DEVICES)),
  isClosed: fc.boolean(),
  isFailed: fc.boolean(),
  scores: fc.array(fc.record({ botScore: score, at: moment }), { maxLength: 3 }),
  correlations: fc.array(
    fc.record({
      id: fc.oneof(fc.constantFrom(...USERS), fc.constantFrom(...RARE_USERS)),
      name: fc.constantFrom('Ada', 'Grace', '愛'),
      email: fc.option(fc.constantFrom('a@example.edu', 'b@example.edu')),
      url: fc.option(fc.constant('https://lms.example.edu/users/1')),
      confidence: score,
      at: moment,
    }),
    { maxLength: 3 },
  ),
  events: fc.array(
    fc.array(
      fc.record({
        sequence: fc.nat({ max: 6 }),
        type: fc.constantFrom(...TYPES),
        eventCount: fc.option(fc.nat({ max: 50 })),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    { maxLength: 2 },
  ),
});
type SessionSpec = typeof session extends fc.Arbitrary<infer T> ? T : never;

const sessionIndex = fc.nat({ max: 59 });
const step = fc.oneof(
  fc.record({
    kind: fc.constant('anomaly' as const),
    id: fc.nat({ max: 30 }),
    anomalyType: fc.constantFrom(...ANOMALY_TYPES),
    session: fc.option(sessionIndex),
    userId: fc.option(fc.constantFrom(...USERS)),
    deviceFingerprint: fc.option(fc.constantFrom(...DEVICES)),
  }),
  fc.record({
    kind: fc.constant('label' as const),
    session: sessionIndex,
    verdict: fc.constantFrom('bot' as const, 'human' as const),
  }),
  fc.record({
    kind: fc.constant('confirmation' as const),
    userId: fc.constantFrom(...USERS, 'stranger'),
    fingerprint: fc.constantFrom(...DEVICES),
  }),
  fc
    .tuple(fc.integer({ min: 0, max: 95 }), fc.integer({ min: 5, max: 100 }))
    .filter(([mediumAt, botAt]) => botAt - mediumAt >= 5)
    .map(([mediumAt, botAt]) => ({ kind: 'thresholds' as const, mediumAt, botAt })),
  fc.constant({ kind: 'fold' as const }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

export const scenario = fc.record({
  sessions: fc.array(session, { minLength: 60, maxLength: 60 }),
  steps: fc.array(step, { minLength: 5, maxLength: 40 }),
  /** Decides the position of each fact and step in the overall order. */
  order: fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
});
export type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

const idOf = (n: number) => `s-${n}`;

function factsOf(spec: SessionSpec, n: number, now: number): unknown[] {
  const id = idOf(n);
  const start = timeOf(spec.beginning, now);
  const timeAt = (index: number) => new Date(start + index * 1_000).toISOString();
  return [
    ...(spec.isClosed ? [closed(id, { closedAt: timeAt(30) })] : []),
    ...(spec.isFailed ? [failed(id, { failedAt: timeAt(40) })] : []),
    ...spec.scores.map(({ botScore, at }) => scored(id, botScore, { scoredAt: timeAt(at) })),
    ...spec.correlations.map(({ at, confidence, ...user }) =>
      correlated(id, user.id, { user, confidence, correlatedAt: timeAt(at) }),
    ),
    ...spec.events.map((events) =>
      happened(
        id,
        events.map((event) => ({ ...event, timestamp: timeAt(20) })),
      ),
    ),
  ];
}

/** Plays a scenario for a customer and checks the counts of each batch. Returns the model of the expected result. */
export async function play(
  { sessions, steps, order }: Scenario,
  customer: Customer,
  /** Folds what was counted so far. */
  fold: () => Promise<unknown>,
): Promise<TenantModel> {
  const now = Date.now();
  const model = new TenantModel(PLACES);
  const gathered: { fact: unknown; answer: ReturnType<TenantModel['apply']> }[] = [];
  /** Sends what the pipeline has gathered. */
  async function send() {
    const batch = gathered.splice(0);
    if (batch.length === 0) return;
    const counts = { accepted: 0, duplicates: 0, suppressed: 0 };
    for (const { answer } of batch) counts[answer]++;
    const facts = batch.map(({ fact }) => fact);
    const answered = await customer.tell(facts);
    if (JSON.stringify(answered) !== JSON.stringify(counts))
      throw new Error(`answered ${JSON.stringify(answered)} for ${JSON.stringify(counts)}: ${JSON.stringify(facts)}`);
  }
  const gather = (fact: unknown) => gathered.push({ fact, answer: model.apply(fact) });

  for (const [n, { beginning: when, place, agent, fingerprint }] of sessions.entries())
    gather(
      started(idOf(n), {
        startedAt: new Date(timeOf(when, now)).toISOString(),
        pageUrl: place.pageUrl,
        userAgent: agent.userAgent,
        deviceFingerprint: fingerprint,
      }),
    );
  const rest: (Step | { kind: 'fact'; fact: unknown })[] = [
    ...sessions.flatMap((spec, n) => factsOf(spec, n, now)).map((fact) => ({ kind: 'fact' as const, fact })),
    ...steps,
  ];
  const shuffled = rest
    .map((one) => ({ one, at: order.next().value as number }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
  for (const one of shuffled) {
    if (one.kind === 'fact') gather(one.fact);
    else if (one.kind === 'anomaly') {
      const { id, session: index, kind: _, ...fields } = one;
      gather(anomaly(`a-${id}`, { ...fields, sessionId: index === null ? null : idOf(index) }));
    } else {
      await send();
      await act(one, customer, model, fold);
    }
  }
  await send();
  return model;
}

/** Does one step of the customer. */
async function act(
  one: Exclude<Step, { kind: 'anomaly' }>,
  customer: Customer,
  model: TenantModel,
  fold: () => Promise<unknown>,
) {
  switch (one.kind) {
    case 'label':
      await customer.label(idOf(one.session), { verdict: one.verdict });
      model.sessions.get(idOf(one.session))!.label = one.verdict;
      return;
    case 'confirmation':
      await customer.confirm(one.userId, one.fingerprint);
      return model.confirm(one.userId, one.fingerprint);
    case 'thresholds':
      await customer.setThresholds(one.mediumAt, one.botAt);
      model.thresholds = { mediumAt: one.mediumAt, botAt: one.botAt };
      return;
    case 'fold':
      await fold();
  }
}
