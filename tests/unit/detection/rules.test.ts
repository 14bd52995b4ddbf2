import { describe, expect, it } from 'vitest';
import { RULES } from '../../../server/detection/rules/table';
import { scoreTrace } from '../../../server/detection/score';
import { buildTrace, CHROME, DESKTOP, TraceBuilder } from '../../support/trace';
import { BROWSER_CASES } from './rule-cases/browser';
import { type Build, both, mark, moves, network, presses, sizes, WINDOW } from './rule-cases/builds';
import { CONDUCT_CASES } from './rule-cases/conduct';
import { POINTING_CASES } from './rule-cases/pointing';
import { TELEMETRY_CASES } from './rule-cases/telemetry';
import { TYPING_CASES } from './rule-cases/typing';

// Each rule on small synthetic traces: what it finds, what not, where it has too little to speak, and whom it exempts.

const signedBy =
  (agent: string): Build =>
  (builder) =>
    builder.send({ agent });

const CASES = { ...BROWSER_CASES, ...POINTING_CASES, ...TYPING_CASES, ...CONDUCT_CASES, ...TELEMETRY_CASES };

it('has cases for every rule', () => {
  expect(Object.keys(CASES).sort()).toEqual(RULES.map(({ rule }) => rule.flag).sort());
});

/** Rules on the session as a whole. */
const WITHOUT_MOMENTS = [
  'replayed-trace',
  'off-grid-times',
  'telemetry-gap',
  'clock-inconsistent',
  'insufficient-evidence',
];

describe.each(Object.entries(CASES))('%s', (flag, cases) => {
  it.each(cases)('%s: %s', (_, state, build, environment = {}, userAgent = CHROME) => {
    const builder = new TraceBuilder({ environment: environment && { ...DESKTOP, ...environment } });
    const known = build(builder) as { isReplay?: boolean } | undefined;
    const trace = { ...buildTrace(builder, userAgent), isReplay: known?.isReplay ?? null };
    const { findings, detectionFlags } = scoreTrace(trace);
    const finding = findings.find((other) => other.flag.split(':')[0] === flag)!;
    expect(finding.state).toBe(state);
    const { weight } = RULES.find(({ rule }) => rule.flag === flag)!;
    expect(detectionFlags.includes(finding.flag)).toBe(state === 'found' && weight > 0);
    expect(finding.weight > 0).toBe(state === 'found' && weight > 0);
    if (state === 'notMeasured') expect([finding.measured, finding.moments]).toEqual([null, []]);
    else expect(finding.measured).not.toBeNull();
    expect(finding.moments.length > 0).toBe(state === 'found' && !WITHOUT_MOMENTS.includes(flag));
  });
});

it.each<[flag: string, shown: string | number, build: Build]>([
  ['movement-mismatch', 0.5, both(moves(15), moves(15, { mismatched: true }))],
  [
    'synthetic-window',
    '1300 × 800 in 1300 × 800',
    (builder) => builder.send().send({ e: { ...DESKTOP, ...sizes([1300, 800, 1300, 800, ...WINDOW.slice(4)]) } }),
  ],
  ...(
    [
      [1, 3, 4],
      [-1, 3, 3],
      [2, -1, 2],
    ] as const
  ).map(([stacks, names, reads]): [string, number, Build] => [
    'devtools-protocol',
    reads,
    (builder) =>
      builder
        .send()
        .send({ e: { ...DESKTOP, q: [stacks, names] } })
        .send({ e: DESKTOP }),
  ]),
  ['headless', 'none', (builder) => builder.send()],
  ['headless', 'Headless', (builder) => builder.send({ e: { ...DESKTOP, b: 32 } })],
  ['declared-agent:claude', 'claude', mark('claude-phantom-cursor')],
  ['untrusted-events', 0.75, both(presses(1), presses(3, { flags: 0 }))],
  ['datacenter-network', 'AS16509 Amazon', both(network(3_320), network(16_509))],
  ['datacenter-network', 'AS3320', network(3_320)],
  [
    'declared-agent:operator.example',
    'operator.example',
    both(mark('claude-phantom-cursor'), signedBy('operator.example')),
  ],
])('%s shows what it has seen, that which was found first: %s', (flag, shown, build) => {
  const builder = new TraceBuilder();
  build(builder);
  const { findings } = scoreTrace(buildTrace(builder));
  expect(findings.find((finding) => finding.flag === flag)?.measured).toBe(shown);
});
