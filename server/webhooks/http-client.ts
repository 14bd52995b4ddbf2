/**
 * Sends guarded requests to URLs that others choose: POSTs to customers (spec: Endpoints, rule 7; Events, Delivery request),
 * and GETs of agents' keys. It connects only to an address that it has checked. Redirects and proxy variables are ignored,
 * because undici's bare `Client` supports neither.
 */
import { setMaxListeners } from 'node:events';
import { type AllowedHosts, findUrlFault, writeHostWithPort } from './address-guard';
import {
  type AttemptPart,
  CheckedConnection,
  FORBIDDEN_ADDRESS,
  lookUpAddresses,
  type Resolve,
  shareLookUps,
} from './checked-connection';
import { type AnswerKeeper, createAnswerKeeper, type KeptAnswer } from './kept-answers';

/**
 * The result of an attempt. `aborted` means our own shutdown. `address` is the address contacted last, null if there was none.
 * - refused-address: the URL, or any address of its host (`address`), is forbidden. Nothing was contacted.
 * - timeout: the whole attempt (DNS, TCP, TLS, headers and body) took too long. `awaited` is the part that did not end.
 * - network: DNS, connection, TLS or protocol failed. `reason` is a code such as ECONNREFUSED, never the receiver's text.
 *   `certificateDate` is the date that makes a certificate invalid.
 *
 * `answer` is what was kept of an answer, also of one that did not end.
 */
export type PostResult =
  | { kind: 'response'; status: number; address: string; retryAfter: string | null; answer?: KeptAnswer }
  | { kind: 'refused-address'; address: string | null }
  | { kind: 'timeout'; address: string | null; awaited: AttemptPart; answer?: KeptAnswer }
  | { kind: 'network'; address: string | null; reason: string; certificateDate?: string; answer?: KeptAnswer }
  | { kind: 'aborted' };

/** `headers` are sent as given. The client adds host, connection and content-length. */
export interface PostRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  timeoutMs: number;
  signal?: AbortSignal;
}

/** As of a POST, but with the body; null if that is longer than 64 KiB. */
export type GetResult =
  | { kind: 'response'; status: number; body: Buffer | null }
  | Exclude<PostResult, { kind: 'response' }>;

export interface WebhookClient {
  /** Never rejects. */
  post(request: PostRequest): Promise<PostResult>;
  /** Never rejects. */
  get(request: Omit<PostRequest, 'body'>): Promise<GetResult>;
  /** Waits for running attempts (`signal` aborts them) and closes. Later posts return `aborted`. */
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 64 * 1024;
/** Responses without a body (RFC 9112, 6.3). Some receivers announce or send one anyway. */
const BODILESS: ReadonlySet<number> = new Set([204, 304]);
const MAX_RETRY_AFTER_LENGTH = 64;
/**
 * A connection is replaced after this time, so that a receiver can move by DNS. undici closes an idle one much earlier,
 * unless the process is frozen (on a serverless platform) until the network has dropped it.
 */
const MAX_CONNECTION_AGE_MS = 60_000;

export function createWebhookClient(options: {
  allowedHosts: AllowedHosts;
  resolve?: Resolve;
  /** Whether results of POSTs have an `answer`. */
  keepsAnswers?: boolean;
}): WebhookClient {
  const { allowedHosts } = options;
  const lookUp = shareLookUps(options.resolve ?? lookUpAddresses);
  const idle = new Map<string, CheckedConnection[]>();
  let activeCount = 0;
  let closing: Promise<void> | null = null;
  let onDrained = () => {};
  const open = (url: URL) =>
    new CheckedConnection(url.origin, allowedHosts.has(writeHostWithPort(url)), lookUp, forget);

  function forget(connection: CheckedConnection): void {
    const siblings = idle.get(connection.origin)?.filter((other) => other !== connection) ?? [];
    if (siblings.length > 0) idle.set(connection.origin, siblings);
    else idle.delete(connection.origin);
  }

  const isTooOld = ({ openedAtMs }: CheckedConnection) => performance.now() - openedAtMs > MAX_CONNECTION_AGE_MS;

  function take(url: URL): CheckedConnection {
    const connection = idle.get(url.origin)?.pop();
    if (connection === undefined) return open(url);
    if (!isTooOld(connection)) return connection;
    connection.destroy();
    return take(url);
  }

  function release(connection: CheckedConnection, reusable: boolean): void {
    activeCount -= 1;
    if (!reusable || closing || isTooOld(connection)) connection.destroy();
    else if (!idle.get(connection.origin)?.push(connection)) idle.set(connection.origin, [connection]);
    if (activeCount === 0) onDrained();
  }

  async function send(request: SentRequest): Promise<PostResult> {
    if (closing || request.signal?.aborted) return { kind: 'aborted' };
    // The URL may have been stored when other rules applied.
    if (findUrlFault(request.url, allowedHosts) !== null) return { kind: 'refused-address', address: null };
    const url = new URL(request.url);
    const connection = take(url);
    activeCount += 1;
    return attempt(connection, url.pathname + url.search, request, (reusable) => release(connection, reusable));
  }

  return {
    post: (request) =>
      send({
        method: 'POST',
        onData: () => {},
        keeper: options.keepsAnswers ? createAnswerKeeper() : null,
        ...request,
      }),
    async get(request) {
      const chunks: Buffer[] = [];
      const onData = (chunk: Buffer) => chunks.push(chunk);
      const result = await send({ ...request, method: 'GET', body: null, onData, keeper: null });
      if (result.kind !== 'response') return result;
      const body = Buffer.concat(chunks);
      return { kind: 'response', status: result.status, body: body.length > MAX_BODY_BYTES ? null : body };
    },
    close() {
      closing ??= new Promise((drained) => {
        onDrained = drained;
        if (activeCount === 0) drained();
        for (const connection of [...idle.values()].flat()) connection.destroy();
      });
      return closing;
    },
  };
}

interface SentRequest extends Omit<PostRequest, 'body'> {
  method: 'GET' | 'POST';
  body: string | null;
  /** Takes what of the body arrives until the attempt ends: at most a chunk more than 64 KiB. */
  onData(chunk: Buffer): void;
  keeper: AnswerKeeper | null;
}

/**
 * Sends one request with one timer. The first event that ends it is the result. The connection is reused only after a complete
 * response.
 */
function attempt(
  connection: CheckedConnection,
  path: string,
  { method, headers, body, timeoutMs, signal, onData, keeper }: SentRequest,
  release: (reusable: boolean) => void,
): Promise<PostResult> {
  return new Promise((resolve) => {
    let status = 0;
    let retryAfter: string | null = null;
    let bodyBytes = 0;
    let settled = false;

    function settle(result: PostResult, reusable = false): void {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      release(reusable);
      resolve(result);
    }
    const onAbort = () => settle({ kind: 'aborted' });
    /** Reads what the keeper has. The result of an attempt is decided before. */
    function withAnswer<Result extends PostResult>(result: Result): Result {
      const answer = settled ? null : keeper?.read();
      return answer ? { answer, ...result } : result;
    }
    const onAnswer = (reusable: boolean) =>
      settle(withAnswer({ kind: 'response', status, address: connection.address!, retryAfter }), reusable);
    const onTimeout = () => {
      const awaited = status >= 200 ? 'body' : connection.awaited;
      settle(withAnswer({ kind: 'timeout', address: connection.address, awaited }));
    };
    // What came while the process was paused or busy is read first: the receiver may have answered in time.
    const timer = setTimeout(() => setImmediate(onTimeout), timeoutMs);
    if (signal) setMaxListeners(0, signal); // all attempts share one signal, and Node warns from the 11th listener on
    signal?.addEventListener('abort', onAbort, { once: true });
    connection.begin();
    connection.client.dispatch(
      { path, method, headers, body },
      {
        onRequestStart() {},
        onResponseStart(_controller, statusCode, responseHeaders) {
          status = statusCode; // also called for 1xx responses before the final one
          retryAfter = [responseHeaders['retry-after']].flat()[0]?.slice(0, MAX_RETRY_AFTER_LENGTH) ?? null;
          if (statusCode >= 200) keeper?.takeHeaders(responseHeaders);
        },
        onResponseData(_controller, chunk) {
          if (settled) return;
          bodyBytes += chunk.length;
          onData(chunk);
          keeper?.takeData(chunk);
          if (bodyBytes > MAX_BODY_BYTES) onAnswer(false);
        },
        onResponseEnd: () => onAnswer(true),
        onResponseError(_controller, error: Error & { code?: string }) {
          const { address } = connection;
          if (BODILESS.has(status)) return onAnswer(false);
          if (error.code === FORBIDDEN_ADDRESS) return settle({ kind: 'refused-address', address });
          const reason = error.code ?? error.name;
          const certificateDate = connection.findCertificateDate(reason);
          settle(withAnswer({ kind: 'network', address, reason, ...(certificateDate && { certificateDate }) }));
        },
      },
    );
  });
}
