import { checkTimeout, Deadline, onAbort } from './deadline.js';
import { ApiError, BotDetectionError, ConnectionError, makeApiError, NotFoundError, RateLimitError } from './errors.js';
import type { PostOptions, RequestOptions } from './operations.js';
import { type PageAnswer, PagedList } from './pages.js';

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 8_000;
/** What asks for a longer pause is thrown, so that no call seems to hang. */
const LONGEST_RETRY_AFTER_SECONDS = 60;
const NOT_OURS = 'the answer is none of the API; is baseUrl right?';

export interface TransportOptions {
  apiKey: string;
  baseUrl: string;
  /** The time limit of an attempt. */
  timeoutMs: number;
  /** How often a request may be sent again. */
  maxRetries: number;
}

/** What every answer has: `data`, a list `pagination` too, that of `/health` `status`. */
type AnswerField = 'data' | 'pagination' | 'status';

/** A request to the API. `path` is encoded. */
export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: object | undefined;
  body?: unknown;
  options?: PostOptions | undefined;
  /** The answer may be of any length: the deadline limits the wait for each part of it. */
  isLong?: boolean;
}

/** Makes a path and encodes its parameters. Throws for those that no URL can have as a segment: '', '.', '..', half a character. */
export function encodePath(parts: TemplateStringsArray, ...values: string[]): string {
  const segments = values.map((value) => {
    if (typeof value !== 'string' || /^\.{0,2}$|\p{Surrogate}/u.test(value))
      throw new BotDetectionError(`${JSON.stringify(value)} cannot be an id in the path ${parts.join('…')}`);
    return encodeURIComponent(value);
  });
  return String.raw({ raw: parts }, ...segments);
}

/** Sends requests: attempts, pauses, time limits, errors. It alone knows the key. */
export class Transport {
  readonly #authorization: string;
  readonly #baseUrl: string;
  readonly #timeoutMs: number;
  readonly #maxRetries: number;

  constructor({ apiKey, baseUrl, timeoutMs, maxRetries }: TransportOptions) {
    // fetch would put a key that no header can have into its error.
    if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey))
      throw new BotDetectionError('apiKey must be printable ASCII without spaces');
    checkTimeout(timeoutMs);
    // No count of repeats reaches NaN.
    if (!(maxRetries >= 0)) throw new BotDetectionError('maxRetries must be a number, 0 or more');
    this.#authorization = `Bearer ${apiKey}`;
    this.#baseUrl = checkBaseUrl(baseUrl);
    this.#timeoutMs = timeoutMs;
    this.#maxRetries = maxRetries;
  }

  /** Returns the body of a success as JSON, which has `field`. With null a success is a 204, and the result undefined. */
  request<Answer>(call: Call, field: AnswerField | null = 'data'): Promise<Answer> {
    const read: ReadAnswer<Answer> = async (response, deadline) => {
      const text = call.isLong ? await readText(response, deadline) : await response.text();
      deadline.end();
      return parseAnswer(response, text, field) as Answer;
    };
    return this.#repeat(call, read, field === null);
  }

  /** Returns the content of `data`. */
  async read<Content>(call: Call): Promise<Content> {
    return (await this.request<{ data: Content }>(call)).data;
  }

  /** Returns a list that sends its requests when it is walked. */
  list<One>(
    path: string,
    filters: { cursor?: string } | undefined,
    options: RequestOptions | undefined,
  ): PagedList<One> {
    const readPage = (cursor: string | undefined) =>
      this.request<PageAnswer<One>>({ method: 'GET', path, query: { ...filters, cursor }, options }, 'pagination');
    return new PagedList(readPage, filters?.cursor);
  }

  /** Returns a file, whose body is still to be read under the deadline. The reader ends it. */
  open(call: Call): Promise<{ body: ReadableStream<Uint8Array>; deadline: Deadline }> {
    return this.#repeat(call, async (response, deadline) => {
      if (!/^(text\/csv|application\/x-ndjson)\b/.test(response.headers.get('content-type') ?? '')) {
        // What is left unread keeps its connection open, and with it the process.
        await response.body?.cancel();
        throw makeApiError({ ...readFault(response), message: NOT_OURS });
      }
      return { body: response.body!, deadline };
    });
  }

  /** `isRemoval`: the thing is gone afterwards, and nothing is answered. */
  async #repeat<Answer>(call: Call, read: ReadAnswer<Answer>, isRemoval = false): Promise<Answer> {
    const request = this.#makeRequest(call);
    /** How the last attempt failed of which nobody knows whether it took effect. */
    let lost: unknown = null;
    for (let retry = 0; ; retry++) {
      try {
        return await this.#attempt(request, call.options, read);
      } catch (error) {
        // An earlier attempt, whose answer got lost, has removed it.
        if (lost !== null && isRemoval && error instanceof NotFoundError) return undefined as Answer;
        if (!(error instanceof RateLimitError)) lost = error;
        const pauseMs = isRepeatable(call.method, error) ? choosePauseMs(error, retry) : null;
        // A refusal for the rate says that nothing was done. That is untrue of a change that was sent before.
        if (retry >= this.#maxRetries || pauseMs === null) throw call.method === 'GET' ? error : (lost ?? error);
        await sleep(pauseMs, call.options?.signal);
      }
    }
  }

  #makeRequest({ method, path, query = {}, body, options }: Call) {
    const parameters = Object.entries(query).filter(([, value]) => value !== undefined);
    const search = String(new URLSearchParams(parameters.map(([name, value]) => [name, String(value)])));
    const headers: Record<string, string> = { authorization: this.#authorization };
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (method === 'POST') {
      // The same key in every attempt, so that the request has one effect.
      const key = options?.idempotencyKey ?? crypto.randomUUID();
      if (!/^[\x20-\x7e]{1,255}$/.test(key))
        throw new BotDetectionError('idempotencyKey must have 1 to 255 printable ASCII characters');
      headers['idempotency-key'] = key;
    }
    const init: RequestInit = { method, headers, redirect: 'manual' };
    if (body !== undefined) init.body = JSON.stringify(body);
    return { url: `${this.#baseUrl}${path}${search && `?${search}`}`, init };
  }

  async #attempt<Answer>(
    { url, init }: { url: string; init: RequestInit },
    options: PostOptions | undefined,
    read: ReadAnswer<Answer>,
  ): Promise<Answer> {
    const deadline = new Deadline(options?.timeoutMs ?? this.#timeoutMs, options?.signal);
    try {
      const response = await fetch(url, { ...init, signal: deadline.signal });
      if (response.ok) return await read(response, deadline);
      throw await readError(response);
    } catch (error) {
      deadline.end();
      throw deadline.explain(error);
    }
  }
}

type ReadAnswer<Answer> = (response: Response, deadline: Deadline) => Promise<Answer>;

/** Returns the address without a slash at its end. Its text is in no error, because it may have a password. */
function checkBaseUrl(baseUrl: string): string {
  let url: URL | null = null;
  // `URL.canParse` of Node 20 and 22 refuses some hosts after thousands of calls.
  try {
    url = new URL(baseUrl);
  } catch {}
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new BotDetectionError('baseUrl must be an http or https address without user name, query and fragment');
  return url.href.replace(/\/$/, '');
}

/** Whether the request may be sent again. POST may, because each one carries an idempotency key. */
function isRepeatable(method: Call['method'], error: unknown): boolean {
  if (error instanceof ApiError) {
    if (error.status === 429) return true;
    return method === 'PATCH' ? error.status === 503 : error.status >= 500;
  }
  return error instanceof ConnectionError && method !== 'PATCH';
}

/** How long to wait before the next attempt; null if that is too long. `retry` counts from 0. */
function choosePauseMs(error: unknown, retry: number): number | null {
  const seconds = error instanceof ApiError ? error.retryAfterSeconds : null;
  if (seconds !== null) return seconds <= LONGEST_RETRY_AFTER_SECONDS ? seconds * 1000 : null;
  return Math.random() * Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** retry);
}

/** Throws the signal's reason if it is aborted meanwhile. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      leave();
      resolve();
    }, ms);
    const leave = onAbort(signal, (reason) => {
      clearTimeout(timer);
      reject(reason);
    });
  });
}

/** Reads a body part by part, each in the whole time of the deadline. */
async function readText({ body }: Response, deadline: Deadline): Promise<string> {
  const decoder = new TextDecoder();
  const reader = body!.getReader();
  const parts: string[] = [];
  for (;;) {
    deadline.restart();
    const { done, value } = await reader.read();
    if (done) return parts.join('') + decoder.decode();
    parts.push(decoder.decode(value, { stream: true }));
  }
}

function parseAnswer(response: Response, text: string, field: AnswerField | null): unknown {
  if (field === null && response.status === 204) return undefined;
  try {
    const answer: unknown = JSON.parse(text);
    if (field !== null && isAnswer(answer, field)) return answer;
  } catch {} // it is no JSON
  throw makeApiError({ ...readFault(response), message: NOT_OURS });
}

function isAnswer(answer: unknown, field: AnswerField): boolean {
  if (typeof answer !== 'object' || answer === null || !(field in answer)) return false;
  if (field !== 'pagination') return true;
  const { data, pagination } = answer as Partial<PageAnswer<unknown>>;
  return Array.isArray(data) && typeof pagination === 'object' && pagination !== null;
}

const readFault = ({ status, headers }: Response) => {
  const retryAfter = headers.get('retry-after') ?? '';
  return {
    status,
    code: 'UNEXPECTED_ANSWER',
    message: `unexpected answer with status ${status}`,
    field: null,
    requestId: headers.get('x-request-id'),
    retryAfterSeconds: /^[0-9]{1,9}$/.test(retryAfter) ? Number(retryAfter) : null,
  };
};

async function readError(response: Response): Promise<ApiError> {
  const fault = readFault(response);
  try {
    const { error } = JSON.parse(await response.text());
    const { code, message, details } = error;
    if (typeof code === 'string' && typeof message === 'string')
      return makeApiError({ ...fault, code, message, field: details?.field ?? null });
  } catch {} // The status counts even if the body broke off or is not ours.
  return makeApiError(fault);
}
