// Keeps events, puts them into batches and sends those until they are answered. There is one sender in a document.
import { BEACON_VERSION, type Beacon, type BeaconAnswer, type BeaconUser, EventCode } from '../contract/beacon';
import { addBounded, type PixelEvent, takeEvents } from './batches';
import { PageCause } from './codes';
import { readDocument } from './document';
import { findMarks, readEnvironment } from './environment';
import { clock, guard, note, readWallMs } from './guard';
import { drawId, findSession, forgetSession, keepSession, openSession, readDevice, type Session } from './session';
import { readLmsUser } from './visitor';
import { writeJson } from './wire';

/** An enum, because the bundler writes its values in place. */
enum Limit {
  firstMs = 1_000,
  busyMs = 2_000,
  movesOnlyMs = 8_000,
  signMs = 60_000,
  /** After so long an answer counts as failed, and the environment is read again. */
  timeoutMs = 30_000,
  fullEvents = 400,
  retryS = 300,
  retryAfterS = 3_600,
  /** After so many batches in a row of which nothing was kept, nobody wants more from this page. */
  refusals = 3,
  /** Unanswered batches. What happens after them waits in the buffer, which is bounded too. */
  waiting = 10,
}

/** A batch that is not answered yet. Its content stays the same however often it is sent; the clocks are those of the sending. */
type Batch = Omit<Beacon, 'c'>;

/** The fields that are the same in all beacons. */
export type FixedFields = Pick<Beacon, 'k' | 'i' | 'g'>;

let collectUrl: string;
let fixed: FixedFields;
let settle: () => void;
let openPage: (cause: PageCause, timeMs: number) => void;
/** What the listeners are stopped by. Not there unless the pixel is started. */
let listening: AbortController | undefined;
let session: Session;
let documentId: string;
let buffer: PixelEvent[] = [];
const batches = new Set<Batch>();
const underway = new Set<Batch>();
let dropped: [moves: number, others: number] = [0, 0];
let sentMarks: number[];
let sequence: number;
let failures = 0;
let refusals = 0;
let retryAtMs: number;
/** Until when the server refuses batches. After a failure of the network it may be there again. */
let refusedUntilMs: number | undefined;
let sentAtMs: number;
let environmentAtMs: number;
let isOpen: boolean | undefined;
/** Something waits for the answer to a batch. */
let isLate: unknown;
let isRevived: boolean | undefined;
let dueAtMs = Infinity;
let timer: ReturnType<typeof setTimeout>;
/** The environment and the user that were sent last. */
let told: { e?: string; u?: string };
/** Reads whom the page names. Without an id it says that nobody is signed in. */
let readNamedUser: () => Partial<BeaconUser> | undefined = readLmsUser;
/** The same for a session that waits for its end: what the page says since then is about the next one. */
let ending: typeof readNamedUser | undefined;

/**
 * Starts to keep what is added. `settle` adds what the listeners still hold back, such as the end of a movement, and
 * `openPage` the page, which is the first event of a session.
 */
export function startSending(...page: [string, FixedFields, typeof settle, typeof openPage, AbortController]): void {
  [collectUrl, fixed, settle, openPage, listening] = page;
  session = openSession();
  beginDocument();
}

/** Stops and forgets everything. */
export function stopSending(): void {
  listening?.abort();
  listening = isOpen = ending = undefined;
  buffer = [];
  batches.clear();
}

/** Adds an event. Without a time it happens now. */
export function addEvent(event: PixelEvent): void {
  const [givenMs, code] = event;
  // While a session waits for its end, events may be the next person's. They are lost, because they would count as the user's.
  if (!listening || (ending && isOpen)) return;
  // Nothing happens later than now. A page can give its events any time.
  const timeMs = Math.min(givenMs > 0 ? givenMs : Infinity, clock.now());
  event[0] = timeMs;
  if (!isOpen && code !== EventCode.Page) {
    // After the end of a session another one begins when somebody is there again.
    if (code === EventCode.Leave || readDocument('hidden')) return;
    openPage(PageCause.load, timeMs);
  }
  isOpen = true;
  addBounded(buffer, event, dropped);
  planNext(code);
  if (buffer.length === Limit.fullEvents) flush();
}

/** Says who the visitor is. What the page says goes before what can be read from it. */
export function setUser(given: Partial<BeaconUser>): void {
  readNamedUser = () => given;
}

/** Notes that the environment may have changed. A restored page does not name its user to a session that another page has begun since. */
export function noteEnvironment(isRestored?: boolean): void {
  if (isRestored) {
    // Another page has withdrawn consent, which removes the id. Consent that is given again brings another one.
    if (readDevice() !== fixed.i && fixed.i) stopSending();
    // Firefox never tells a restored page how its last requests ended.
    underway.clear();
    if (findSession(session.nonce)) setUser({});
    isRevived = isRestored;
  }
  environmentAtMs = 0;
}

/** Sends everything at once, because the page may go. One that is only hidden waits as long as the server asks for. */
export function leave(isHidden?: boolean): void {
  if (!listening) return;
  settle();
  if (batches.size < Limit.waiting) makeBatch();
  if (!(isHidden && clock.now() < refusedUntilMs!)) sendAll();
}

/** Ends the session. What happens later belongs to another one, which has the same user unless the page says otherwise. */
export function endSession(): void {
  if (!listening) forgetSession();
  if (isOpen && !ending) {
    settle();
    ending = readNamedUser;
  }
  if (!ending || mustWait()) return;
  makeBatch(1);
  ending = undefined;
  // What did not fit is not the next session's.
  buffer = [];
  session = openSession(session.nonce);
  beginDocument();
  sendAll();
}

/** Sets the timer, unless it is set to an earlier time. */
function plan(delayMs: number): void {
  const atMs = clock.now() + delayMs;
  if (atMs >= dueAtMs) return;
  clearTimeout(timer);
  dueAtMs = atMs;
  timer = setTimeout(flushInTime, delayMs);
}
const planNext = (code?: EventCode) =>
  plan(!sequence ? Limit.firstMs : code === EventCode.Move ? Limit.movesOnlyMs : Limit.busyMs);

const flushInTime = guard(() => {
  if (isOpen && clock.now() - sentAtMs >= Limit.signMs) addEvent([0, EventCode.Alive]);
  flush();
});

function flush(): void {
  dueAtMs = Infinity;
  if (!listening) return;
  settle();
  const waitMs = Math.max(0, retryAtMs - clock.now());
  plan(waitMs || Limit.signMs);
  isLate = true;
  if (waitMs || underway.size) return;
  if (!batches.size) makeBatch();
  const [first] = batches;
  isLate = buffer[0];
  if (first) post(first);
}

/** Without a token only the first batch of a document is taken. The others wait for its answer. */
const mustWait = () => !session.token && sequence;

/** Makes a batch of what has happened. */
function makeBatch(isLast?: 1): void {
  if (!isOpen || mustWait()) return;
  const marks = findMarks(sentMarks);
  if (!buffer.length && !marks.length && !isLast) return;
  batches.add({
    ...{ v: BEACON_VERSION, ...fixed, s: session.nonce, t: session.token, d: documentId, n: sequence++ },
    ...{
      e: readNewEnvironment(),
      u: pickNew('u', (ending || readNamedUser)()) as BeaconUser,
      m: marks.length ? marks : undefined,
    },
    ...{ l: dropped[0] + dropped[1] ? dropped : undefined, x: isLast, ...takeEvents(buffer) },
  });
  dropped = [0, 0];
  sentMarks.push(...marks);
}

/** Reads the environment from time to time too: a program can take over a page that a person has opened. */
function readNewEnvironment(): Batch['e'] {
  if (clock.now() < environmentAtMs) return undefined;
  environmentAtMs = clock.now() + Limit.timeoutMs;
  return pickNew('e', guard(() => readEnvironment(isRevived))());
}

/** Returns a value to send, unless it was the last one sent. */
function pickNew<Value>(kind: keyof typeof told, value: Value): Value | undefined {
  const text = writeJson(value);
  if (text === told[kind]) return;
  told[kind] = text;
  return value;
}

/**
 * Sends a batch. `keepalive` lets it outlive the page. `sendBeacon` would do so too, but sends the page's whole address in
 * `Referer`, sends cookies, and does not say whether the batch was taken.
 */
async function post(batch: Batch): Promise<void> {
  sentAtMs = clock.now();
  underway.add(batch);
  let status: number | undefined;
  let retryAfter: string | null | undefined;
  let token: string | undefined;
  let ended: true | undefined;
  try {
    const response = await fetch(collectUrl, {
      method: 'POST',
      body: writeJson({ ...batch, c: [clock.now(), readWallMs() || 0] } satisfies Beacon),
      keepalive: true,
      credentials: 'omit',
      referrerPolicy: 'origin',
      signal: AbortSignal.timeout?.(Limit.timeoutMs),
    });
    retryAfter = response.headers.get('retry-after');
    if (response.status === 200) ({ token, ended } = (await response.json()) as BeaconAnswer);
    // The collector answers a batch without a token with one, or with the end.
    if (token || ended || batch.t || response.status !== 200) status = response.status;
  } catch {} // no network, no time, or an answer of somebody else
  guard(takeAnswer)(batch, status, retryAfter, token, ended);
}

function takeAnswer(
  batch: Batch,
  status: number | undefined,
  retryAfter: unknown,
  token: string | undefined,
  ended: true | undefined,
): void {
  note([status, batch]);
  underway.delete(batch);
  if (!batches.has(batch)) return;
  if (!status || status > 428) {
    // What the server asks for, and more with each failure. Pages that failed together do not come back together.
    const waitMs =
      Math.max(Math.min(Limit.retryS, 2 ** failures++), Math.min(Limit.retryAfterS, (retryAfter as number) | 0)) *
      (1_000 + Math.random() * 500);
    retryAtMs = clock.now() + waitMs;
    refusedUntilMs = status && retryAtMs;
    plan(waitMs);
    return;
  }
  refusedUntilMs = retryAtMs = failures = 0;
  batches.delete(batch);
  // If nothing of it was kept, the site is not set up for this page, or the token is no longer valid.
  const isKept = status === 200;
  refusals = isKept ? 0 : refusals + 1;
  if (refusals >= Limit.refusals) stopSending();
  if (batch.d === documentId) {
    if (token || !isKept) {
      session.token = token;
      // The tab may have begun another session meanwhile.
      if (!findSession(session.nonce)) keepSession(session);
    }
    if (!isKept || ended) {
      batches.clear();
      if (ended) session = openSession(session.nonce);
      if (batch.n || !(ended || batch.t)) beginDocument();
      else {
        // The tab came back after the end of its session, which may never have got a token. What has happened since then belongs
        // to the next one, which lacks the data of the batches after this one.
        batches.add({ ...batch, s: session.nonce, t: session.token });
        sequence = 1;
        sentMarks = [];
        told = { u: '{}' };
      }
    }
  }
  if (ending) endSession();
  if (isLate || batches.size || buffer.length >= Limit.fullEvents) flush();
}

/** Begins to number batches again, with what has happened since the last one. Its page comes first. */
function beginDocument(): void {
  documentId = drawId().slice(16);
  sequence = environmentAtMs = 0;
  isOpen = false;
  sentMarks = [];
  told = { u: '{}' };
  if (buffer[0]) openPage(PageCause.load, buffer[0][0] - 1);
}

/** Sends all batches that are not underway. Browsers take 64 KiB in all from a page that goes; a batch has about 40 at most. */
function sendAll(): void {
  for (const batch of batches) if (!underway.has(batch)) post(batch);
}
