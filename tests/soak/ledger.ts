/** The time in which an injected fault, and the recovery from it, may affect requests. */
export interface FaultWindow {
  name: string;
  from: number;
  until: number;
}

/** How long after a fault its consequences are excused. */
const RECOVERY_MS = 5_000;

/** The outcome of a request: its status, null if the connection failed, or `undefined` if no answer came in time. */
export type Outcome = number | null | undefined;

/** Records all requests: how long they took, and which failures no fault explains. */
export class Ledger {
  readonly windows: FaultWindow[] = [];
  /** Latencies in ms: of answers outside all fault windows, and of all answers. */
  readonly calm: number[] = [];
  readonly all: number[] = [];
  /** Requests that a fault refused or cut off. */
  excused = 0;
  /** One line each. */
  readonly errors: string[] = [];
  /** Answers that contradict what was sent. */
  readonly wrong: string[] = [];

  /** Runs a fault. Its consequences are excused until some time after its end. */
  async during(name: string, fault: () => Promise<void>): Promise<void> {
    const window: FaultWindow = { name, from: Date.now(), until: Number.POSITIVE_INFINITY };
    this.windows.push(window);
    try {
      await fault();
    } finally {
      window.until = Date.now() + RECOVERY_MS;
    }
  }

  /** Finds the faults between two times. */
  findFaults(from: number, until: number): FaultWindow[] {
    return this.windows.filter((window) => window.from <= until && window.until >= from);
  }

  /**
   * Records a request that began at `from`. A fault may cause a 503 or no connection, but no other failure and never
   * silence.
   */
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
