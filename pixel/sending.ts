import { BEACON_VERSION, type Beacon, type BeaconAnswer, type BeaconUser, EventCode } from '../contract/beacon';
import { addBounded, type PixelEvent, takeEvents } from './batches';
import { findMarks, readEnvironment } from './environment';
import { attempt, guard, note } from './guard';
import { drawDocumentId, forgetSession, keepSession, openSession, type Session } from './session';

/** An enum, because the bundler writes its values in place. */
enum Limit {
  firstMs = 1_000,
  busyMs = 2_000,
  movesOnlyMs = 8_000,
  signMs = 60_000,
  /** After so long an answer counts as failed, and the environment is read again. */
  timeoutMs = 30_000,
  fullEvents = 400,
  retryMs = 300_000,
  retryAfterS = 3_600,
  /** After so many batches in a row of which nothing was kept, nobody wants more from this page. */
  refusals = 3,
  /** Browsers send 64 KiB in all after a page has gone. */
  leavingBytes = 60_416,
}

/** A batch that is not answered yet. Its content stays the same however often it is sent; the clocks are those of the sending. */
type Batch = Omit<Beacon, 'c'>;

export interface Sender {
  add(event: PixelEvent): void;
  /** Sends everything at once, because the page may go. */
  leave(): void;
  /** Ends the session. What happens later belongs to another one. */
  end(): void;
  setUser(user: BeaconUser | undefined): void;
  /** The environment may have changed. */
  noteEnvironment(isRestored?: boolean): void;
  readGpu(read: () => string): void;
  stop(): void;
}

export interface SenderOptions {
  collectUrl: string;
  /** Fields that are the same in all beacons. */
  fixed: Pick<Beacon, 'k' | 'i' | 'g'>;
  addresses: readonly string[];
  /** Adds what the listeners still hold back, such as the end of a movement. */
  settle(): void;
  /** Adds the page, as the first event of a session. */
  openPage(timeMs: number): void;
  onStop(): void;
}

const now = () => performance.now();

/** Creates what keeps events, puts them into batches and sends those until they are answered. */
export function createSender({ collectUrl, fixed, addresses, settle, openPage, onStop }: SenderOptions): Sender {
  const { fetch, setTimeout, clearTimeout } = window;
  const buffer: PixelEvent[] = [];
  const underway = new Set<Batch>();
  let batches: Batch[] = [];
  let session: Session = openSession();
  let documentId = drawDocumentId();
  let dropped: [moves: number, others: number] | undefined;
  let [sequence, failures, refusals, retryAtMs, sentAtMs, environmentAtMs] = [0, 0, 0, 0, 0, 0];
  let [isStopped, isOpen, isEnding, isLate, isRevived] = [false, false, false, false, false];
  let dueAtMs = Infinity;
  let timer: number | undefined;
  let environment: string | undefined;
  let user: BeaconUser | undefined;
  let newUser: BeaconUser | undefined;

  /** Sets the timer, unless it is set to an earlier time. */
  function plan(delayMs: number): void {
    const atMs = now() + delayMs;
    if (isStopped || atMs >= dueAtMs) return;
    clearTimeout(timer);
    dueAtMs = atMs;
    timer = setTimeout(flushInTime, delayMs);
  }
  const planNext = (isMove: boolean) =>
    plan(sequence === 0 ? Limit.firstMs : isMove ? Limit.movesOnlyMs : Limit.busyMs);

  const flushInTime = guard(() => {
    if (isOpen && now() - sentAtMs >= Limit.signMs) add([now(), EventCode.Alive]);
    flush();
  });

  function flush(): void {
    dueAtMs = Infinity;
    settle();
    isLate = underway.size > 0;
    const waitMs = retryAtMs - now();
    plan(waitMs > 0 ? waitMs : Limit.signMs);
    if (waitMs > 0 || isLate) return;
    if (batches.length === 0) makeBatch();
    if (batches[0]) post(batches[0]);
  }

  function add(event: PixelEvent): void {
    const [timeMs, code] = event;
    if (isStopped) return;
    if (!isOpen && code !== EventCode.Page) {
      // After the end of a session another one begins when somebody is there again.
      if (code === EventCode.Leave || document.hidden) return;
      openPage(timeMs);
    }
    isOpen = true;
    const [moves, others] = addBounded(buffer, event);
    if (moves + others > 0) dropped = [moves + (dropped?.[0] ?? 0), others + (dropped?.[1] ?? 0)];
    planNext(code === EventCode.Move);
    if (buffer.length === Limit.fullEvents) flush();
  }

  /** Without a token only the first batch of a document is taken. The others wait for its answer. */
  const mustWait = () => sequence > 0 && session.token === undefined;

  /** Makes a batch of what has happened. */
  function makeBatch(isLast?: boolean): void {
    const marks = isOpen && !mustWait() ? findMarks() : [];
    if (mustWait() || (buffer.length + marks.length === 0 && !isLast)) return;
    batches.push({
      ...{ v: BEACON_VERSION, ...fixed, s: session.nonce, t: session.token, d: documentId, n: sequence++ },
      ...{ e: readNewEnvironment(), u: newUser, m: marks.length > 0 ? marks : undefined, l: dropped },
      ...{ x: isLast ? 1 : undefined, ...takeEvents(buffer, addresses) },
    });
    newUser = dropped = undefined;
  }

  /** Reads the environment from time to time too: a program can take over a page that a person has opened. */
  function readNewEnvironment() {
    if (environment !== undefined && now() < environmentAtMs) return undefined;
    environmentAtMs = now() + Limit.timeoutMs;
    const read = attempt(() => readEnvironment(session.gpu, isRevived));
    const text = JSON.stringify(read);
    if (text === environment) return undefined;
    environment = text;
    return read;
  }

  const write = (batch: Batch) => JSON.stringify({ ...batch, c: [Math.round(now()), Date.now()] } satisfies Beacon);

  /**
   * Sends a batch. `keepalive` lets it outlive the page. `sendBeacon` would do so too, but tells the page's whole address in
   * `Referer`, sends cookies, and does not tell whether the batch was taken.
   */
  function post(batch: Batch, body = write(batch)): void {
    sentAtMs = now();
    underway.add(batch);
    const take = guard((status: number, retryAfter?: string | null, answer: BeaconAnswer = {}) => {
      note([status, batch]);
      underway.delete(batch);
      if (!batches.includes(batch)) return;
      if (status === 0 || status === 429 || status >= 500) return retry(Number(retryAfter) || 0);
      failures = retryAtMs = 0;
      batches = batches.filter((other) => other !== batch);
      if (status === 200) accept(batch, answer);
      else refuse(batch);
      if (isEnding) end();
      else if (isLate || batches.length > 0 || buffer.length >= Limit.fullEvents) flush();
    });
    const fail = () => take(0);
    const signal = AbortSignal.timeout?.(Limit.timeoutMs);
    const keepalive = body.length < Limit.leavingBytes;
    fetch(collectUrl, { method: 'POST', body, keepalive, credentials: 'omit', referrerPolicy: 'origin', signal })
      .then((response) => {
        const { status, headers } = response;
        const retryAfter = headers.get('retry-after');
        if (status !== 200) return take(status, retryAfter);
        return response.json().then((answer) => take(status, retryAfter, answer));
      })
      .catch(fail);
  }

  function retry(retryAfterS: number): void {
    const waitMs = Math.max(
      Math.min(Limit.retryMs, Limit.firstMs * 2 ** failures++) * (0.5 + Math.random() / 2),
      Math.min(Limit.retryAfterS, retryAfterS) * 1_000 * (1 + Math.random() / 4),
    );
    retryAtMs = now() + waitMs;
    plan(waitMs);
  }

  function accept({ s }: Batch, { token, ended }: BeaconAnswer): void {
    refusals = 0;
    if (s !== session.nonce) return;
    if (ended) {
      batches = batches.filter((batch) => batch.s !== s);
      beginSession();
    } else if (token) {
      session.token = token;
      keepSession(session);
    }
  }

  /** Nothing of the batch was kept: the site is not set up for this page, or the token is no longer valid. */
  function refuse({ d }: Batch): void {
    refusals++;
    if (refusals >= Limit.refusals) stop();
    if (d !== documentId) return;
    batches = batches.filter((batch) => batch.d !== d);
    session.token = undefined;
    beginDocument();
  }

  function beginSession(): void {
    session = openSession(session);
    beginDocument();
  }

  /** Begins to number batches again, with what has happened since the last one. */
  function beginDocument(): void {
    documentId = drawDocumentId();
    sequence = 0;
    environment = undefined;
    newUser = user;
    isOpen = false;
    if (buffer[0]) openPage(buffer[0][0]);
  }

  function end(): void {
    isEnding = isOpen && mustWait();
    if (isEnding || !isOpen) return;
    settle();
    makeBatch(true);
    user = undefined;
    beginSession();
    sendAll();
  }

  /** Sends all batches that are not underway, as far as a page may that goes. */
  function sendAll(): void {
    let bytes = 0;
    for (const batch of batches) {
      const body = write(batch);
      if (underway.has(batch)) continue;
      bytes += body.length;
      if (bytes > Limit.leavingBytes) return;
      if ('keepalive' in Request.prototype) post(batch, body);
      else if (navigator.sendBeacon(collectUrl, body)) batches = batches.filter((other) => other !== batch);
    }
  }

  function stop(): void {
    isStopped = true;
    isOpen = false;
    clearTimeout(timer);
    buffer.length = 0;
    batches = [];
    onStop();
  }

  return {
    add,
    end,
    leave() {
      settle();
      makeBatch();
      sendAll();
    },
    setUser(given) {
      user = newUser = given;
      if (isOpen) planNext(false);
    },
    noteEnvironment(isRestored) {
      if (isRestored) isRevived = true;
      environmentAtMs = 0;
    },
    readGpu(read) {
      if (session.gpu !== undefined) return;
      session.gpu = read();
      keepSession(session);
      environmentAtMs = 0;
    },
    stop() {
      stop();
      forgetSession();
    },
  };
}
