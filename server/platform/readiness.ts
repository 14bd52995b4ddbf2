export type Checks = Record<'database' | 'migrations' | 'engine', 'ok' | 'failing'>;

/** Whether this process can take requests. */
export interface Readiness {
  /** Returns the latest result of each check, at most a second old. Never rejects. */
  check(): Promise<Checks>;
  /** True once a stop has begun. Requests in flight still finish. */
  isDraining: boolean;
}

const LIMIT_MS = 1_000;
const FRESH_MS = 1_000;

/** Creates the readiness of a process. A check fails if it returns false, rejects, or takes over a second. */
export function createReadiness(checks: Record<keyof Checks, () => Promise<boolean> | boolean>): Readiness {
  let latest: { at: number; outcome: Promise<Checks> } | null = null;

  async function run(): Promise<Checks> {
    const names = Object.keys(checks) as (keyof Checks)[];
    const outcomes = await Promise.all(
      names.map(async (name) => [name, (await limit(checks[name])) ? 'ok' : 'failing']),
    );
    return Object.fromEntries(outcomes);
  }

  return {
    isDraining: false,
    check() {
      // Cached, so that the database is asked at most once a second.
      if (!latest || performance.now() - latest.at > FRESH_MS) latest = { at: performance.now(), outcome: run() };
      return latest.outcome;
    },
  };
}

async function limit(check: () => Promise<boolean> | boolean): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), LIMIT_MS);
  });
  try {
    return await Promise.race([check(), late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
