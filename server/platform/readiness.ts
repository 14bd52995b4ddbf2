export type Checks = Record<'database' | 'migrations' | 'engine', 'ok' | 'failing'>;

/** Whether this process may be sent requests. */
export interface Readiness {
  /** What each check last said, at most a second ago. Never rejects. */
  check(): Promise<Checks>;
  /** From the beginning of a stop on: what is under way still ends. */
  isDraining: boolean;
}

const LIMIT_MS = 1_000;
const FRESH_MS = 1_000;

/** Creates the readiness of a process. A check says whether all is well; one that rejects or takes over a second fails. */
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
      // However many ask: the database is asked once a second.
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
