import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Beacons to post. Text between `‹` and `›` is replaced each time: see `FILLERS` in flood.ts. */
export interface FloodRequest {
  url: string;
  headers: string[];
  /** Bodies, sent in turn. */
  templates: string[];
  perSecond: number;
  ms: number;
  connections: number;
}

export interface FloodResult {
  sent: number;
  /** Batches for which no connection was free. */
  unsent: number;
  ms: number;
  /** How many answers had each status. Connections that broke count as 0. */
  statuses: Record<number, number>;
}

/** The number of networks from which the beacons seem to come. */
export const NETWORKS = 8;
/** A process that posts beacons at a fixed rate. */
export interface Flooder {
  flood(request: FloodRequest): Promise<FloodResult>;
  close(): void;
}

/** Starts the process. */
export async function startFlooder(): Promise<Flooder> {
  const script = fileURLToPath(new URL('flood.ts', import.meta.url));
  const child = fork(script, { execArgv: ['--import', 'tsx'] });
  await once(child, 'message');
  return {
    async flood(request) {
      child.send(request);
      const [result] = await once(child, 'message');
      return result;
    },
    close: () => child.disconnect(),
  };
}
