import { Connection } from './connection';
import { type Distribution, describeDistribution } from './report';

export interface Target {
  url: string;
  key: string;
  /** Requested in turn. */
  paths: string[];
}

/** The results of one run against a target. */
export interface Run {
  requests: number;
  ms: number;
  /** The latency of each request, in ms. */
  latencies: number[];
}

export interface Load {
  perSecond: number;
  latency: Distribution;
}

/** The end of a run: after a number of requests, or after a time. */
type End = { requests: number; onRequest?: (count: number) => void } | { ms: number };

/**
 * Sends requests over keep-alive connections, each the next one as soon as it has its answer. Rejects unless all are
 * 200.
 */
export async function runLoad({ url, key, paths }: Target, connections: number, end: End): Promise<Run> {
  const { host } = new URL(url);
  const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${key}\r\n\r\n`);
  const open = Array.from({ length: connections }, () => new Connection(new URL(url)));
  const latencies: number[] = [];
  let sent = 0;
  const from = performance.now();
  const isOver = () => ('ms' in end ? performance.now() - from >= end.ms : sent >= end.requests);
  const work = async (connection: Connection) => {
    while (!isOver()) {
      if (connection.isClosed) throw new Error('the server closed the connection');
      const request = requests[sent++ % requests.length]!;
      const start = performance.now();
      await connection.send(request);
      latencies.push(performance.now() - start);
      if ('requests' in end) end.onRequest?.(latencies.length);
    }
  };
  try {
    await Promise.all(open.map(work));
    return { requests: latencies.length, ms: performance.now() - from, latencies };
  } finally {
    for (const connection of open) connection.close();
  }
}

/** Summarises the runs of one target. */
export const describeRuns = (runs: Run[]): Load => ({
  perSecond: (sum(runs.map(({ requests }) => requests)) * 1_000) / sum(runs.map(({ ms }) => ms)),
  latency: describeDistribution(runs.flatMap(({ latencies }) => latencies)),
});

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

/**
 * Alternates two measurements. Every other round begins with the second, so that a drift of the machine does not add
 * up.
 */
export async function alternate<A, B>(
  rounds: number,
  first: () => Promise<A>,
  second: () => Promise<B>,
): Promise<[A[], B[]]> {
  const firsts: A[] = [];
  const seconds: B[] = [];
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 1) seconds.push(await second());
    firsts.push(await first());
    if (round % 2 === 0) seconds.push(await second());
  }
  return [firsts, seconds];
}
