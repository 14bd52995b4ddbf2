/** A stretch of time in which a fault was on purpose, with what follows it until all is well again. */
export interface FaultWindow {
  name: string;
  from: number;
  until: number;
}

/** How long after a fault its consequences are excused. */
const RECOVERY_MS = 5_000;

/** What a caller was answered: a status, or null where the connection failed; `undefined` where nothing came in time. */
export type Outcome = number | null | undefined;

/** The account of all requests: how long they took, and which failures no fault explains. */
export class Ledger {
  readonly windows: FaultWindow[] = [];
  /** Of answers while nothing was wrong, and of all, in ms. */
  readonly calm: number[] = [];
  readonly all: number[] = [];
  /** Refused, or cut off, by a fault. */
  excused = 0;
  /** A line each. */
  readonly errors: string[] = [];
  /** Answers that say something else than what was told. */
  readonly wrong: string[] = [];

  /** Runs a fault; what comes of it is excused until a while after its end. */
  async during(name: string, fault: () => Promise<void>): Promise<void> {
    const window: FaultWindow = { name, from: Date.now(), until: Number.POSITIVE_INFINITY };
    this.windows.push(window);
    try {
      await fault();
    } finally {
      window.until = Date.now() + RECOVERY_MS;
    }
  }

  /** The faults between two moments. */
  findFaults(from: number, until: number): FaultWindow[] {
    return this.windows.filter((window) => window.from <= until && window.until >= from);
  }

  /** Notes a request that began at `from`. What a fault may lead to is 503, or no connection; nothing else, and never silence. */
  note(what: string, from: number, outcome: Outcome): void {
    const now = Date.now();
    const isCalm = this.findFaults(from, now).length === 0;
    if (outcome !== null && outcome !== undefined && outcome < 300) {
      this.all.push(now - from);
      if (isCalm) this.calm.push(now - from);
    } else if (!isCalm && (outcome === 503 || outcome === null)) this.excused++;
    else this.errors.push(`${what}: ${outcome === undefined ? 'no answer' : (outcome ?? 'no connection')}`);
  }
}
