import type { CpuTimes } from './delivery-bench';
import type { FloorResult } from './delivery-floor';
import { type BenchOptions, type Distribution, type Figure, findMedian } from './report';

// The results of the delivery runs: names, goals and floors of their figures.

export const EVENTS_PER_SECOND = 20;
export const HANGING = 1_000;

export interface Throughput {
  acceptedPerSecond: number;
  deliveredPerSecond: number;
  repeats: number;
  /** Processor time per delivery, in µs. */
  cpu: { [part in keyof CpuTimes]: number | null };
}

export interface Pair {
  quiet: Distribution;
  hung: Distribution;
  /** Attempts that still hung at the end of the run. */
  hanging: number;
  /** Change of the p95, in percent. */
  change: number;
}

export const makeNotes = ({ sessions, pairs, seconds }: BenchOptions) => [
  'Poster, receiver, server and Postgres share the cores of this machine.',
  `Throughput: ${sessions} bot sessions, one fact batch each, one subscription; delivered = first post → last distinct`,
  'arrival, all on record. Floor: a loop without engine that reads 25 rows of the same Postgres, signs them, posts them together',
  '(undici) to the same receiver and records them, until as many are done; nothing is accepted or planned in it.',
  `Latency: from the endpoint's answer to the arrival at ${EVENTS_PER_SECOND} events/s for ${seconds} s, one clock.`,
  `Neighbour: ${pairs} pair(s) of runs, with and without ${HANGING} deliveries that wait for another tenant's hung receiver.`,
];

export function describeThroughput(run: Throughput, floor: FloorResult, connections: number, goal: number): Figure[] {
  const at = `${connections} connections:`;
  const { acceptedPerSecond, deliveredPerSecond, repeats, cpu } = run;
  const figures: Figure[] = [
    { name: `${at} accepted`, value: acceptedPerSecond, unit: '/s' },
    { name: `${at} delivered`, value: deliveredPerSecond, unit: '/s', floor: floor.perSecond, goal: { atLeast: goal } },
    { name: `${at} delivered ÷ floor`, value: deliveredPerSecond / floor.perSecond, unit: '', goal: { atLeast: 0.5 } },
    { name: `${at} repeated`, value: repeats, unit: '' },
  ];
  const names = { product: 'server', postgres: 'Postgres', bench: 'poster and receiver' };
  for (const [part, name] of Object.entries(names)) {
    const value = cpu[part as keyof CpuTimes];
    if (value === null) continue;
    const floorCpu = part === 'product' ? { floor: floor.cpuPerDelivery } : {};
    figures.push({ name: `${at} processor time per delivery, ${name}`, value, unit: 'µs', ...floorCpu });
  }
  return figures;
}

export function describeLatency({ p50, p95, p99, max }: Distribution): Figure[] {
  const name = (what: string) => `answer → arrival at ${EVENTS_PER_SECOND}/s, ${what}`;
  return [
    { name: name('p50'), value: p50, unit: 'ms', goal: { below: 1 } },
    { name: name('p95'), value: p95, unit: 'ms' },
    { name: name('p99'), value: p99, unit: 'ms', goal: { below: 4 } },
    { name: name('max'), value: max, unit: 'ms' },
  ];
}

export function describePairs(pairs: Pair[]): Figure[] {
  if (pairs.length === 0) return [];
  const changes = pairs.map(({ change }) => change);
  const name = (what: string) => `neighbour's receiver hangs, ${what}`;
  return [
    {
      name: name('p95'),
      value: findMedian(pairs.map(({ hung }) => hung.p95)),
      unit: 'ms',
      floor: findMedian(pairs.map(({ quiet }) => quiet.p95)),
    },
    {
      name: name(`change of p95, median of ${pairs.length}`),
      value: findMedian(changes),
      unit: '%',
      goal: { below: 10 },
    },
    { name: name('change of p95, min'), value: Math.min(...changes), unit: '%' },
    { name: name('change of p95, max'), value: Math.max(...changes), unit: '%' },
  ];
}

export const describeSlow = ({ deliveredPerSecond }: Throughput): Figure => ({
  name: 'receiver answers after 100 ms: delivered',
  value: deliveredPerSecond,
  unit: '/s',
  goal: { atLeast: 500 },
});
