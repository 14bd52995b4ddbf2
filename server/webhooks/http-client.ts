/**
 * Sends guarded requests to URLs that others choose: POSTs to customers (spec: Endpoints, rule 7; Events, Delivery request),
 * and GETs of agents' keys. It connects only to an address that it has checked. Redirects and proxy variables are ignored,
 * because undici's bare `Client` supports neither.
 */
import { lookup } from 'node:dns/promises';
import { setMaxListeners } from 'node:events';
import { isIP, type Socket, connect as tcpConnect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { type buildConnector, Client } from 'undici';
import { type AllowedHosts, findUrlFault, hostWithPort, isForbiddenAddress } from './address-guard';
import { type AnswerKeeper, createAnswerKeeper, type KeptAnswer } from './kept-answers';
import { readCertificateDates } from './tls-internals';

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

/** The parts of an attempt, in order: the host's addresses, a connection with TLS, the head of the answer, its body. */
export type AttemptPart = 'name' | 'connection' | 'answer' | 'body';

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

/** Finds all addresses of a host name. */
export type Resolve = (hostname: string) => Promise<string[]>;

const MAX_BODY_BYTES = 64 * 1024;
/** The most bytes that an attempt reads. It includes everything outside the body, such as informational responses. */
const MAX_RECEIVED_BYTES = 512 * 1024;
/** Responses without a body (RFC 9112, 6.3). Some receivers announce or send one anyway. */
const BODILESS: ReadonlySet<number> = new Set([204, 304]);
const MAX_RETRY_AFTER_LENGTH = 64;
/** If an address does not accept within this time, the next one is tried. */
const NEXT_ADDRESS_AFTER_MS = 3_000;
/** A connection in steady use is replaced after this time, so that a receiver can move by DNS. */
const MAX_CONNECTION_AGE_MS = 60_000;
/** How many addresses one attempt tries. A name may have thousands, and a failed attempt must not contact them all. */
const MAX_ADDRESSES_TRIED = 10;
const FORBIDDEN_ADDRESS = 'ERR_FORBIDDEN_ADDRESS';
const ENDLESS_ANSWER = 'ERR_ENDLESS_ANSWER';

/**
 * If the receiver closes an idle connection just as a request is sent on it, the attempt fails as `network` and is retried on
 * schedule. It is never resent at once, because the receiver may have acted on it. Short idle times keep this rare: 4 s, or
 * 2 s less than the receiver's `Keep-Alive: timeout`. undici's timeouts are off, because each attempt has its own.
 */
const CLIENT_OPTIONS = {
  pipelining: 1,
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 30_000,
  keepAliveTimeoutThreshold: 2_000,
  headersTimeout: 0,
  bodyTimeout: 0,
};

export function createWebhookClient(options: {
  allowedHosts: AllowedHosts;
  resolve?: Resolve;
  /** Whether results of POSTs have an `answer`. */
  keepsAnswers?: boolean;
}): WebhookClient {
  const { allowedHosts } = options;
  const lookUp = shareLookups(options.resolve ?? lookupAll);
  const idle = new Map<string, Connection[]>();
  let activeCount = 0;
  let closing: Promise<void> | null = null;
  let onDrained = () => {};
  const open = (url: URL) => new Connection(url.origin, allowedHosts.has(hostWithPort(url)), lookUp, forget);

  function forget(connection: Connection): void {
    const siblings = idle.get(connection.origin)?.filter((other) => other !== connection) ?? [];
    if (siblings.length > 0) idle.set(connection.origin, siblings);
    else idle.delete(connection.origin);
  }

  function release(connection: Connection, reusable: boolean): void {
    activeCount -= 1;
    if (!reusable || closing || performance.now() - connection.openedAtMs > MAX_CONNECTION_AGE_MS) connection.destroy();
    else if (!idle.get(connection.origin)?.push(connection)) idle.set(connection.origin, [connection]);
    if (activeCount === 0) onDrained();
  }

  async function send(request: SentRequest): Promise<PostResult> {
    if (closing || request.signal?.aborted) return { kind: 'aborted' };
    // The URL may have been stored when other rules applied.
    if (findUrlFault(request.url, allowedHosts) !== null) return { kind: 'refused-address', address: null };
    const url = new URL(request.url);
    const connection = idle.get(url.origin)?.pop() ?? open(url);
    activeCount += 1;
    return attempt(connection, url.pathname + url.search, request, (reusable) => release(connection, reusable));
  }

  return {
    post: (request) =>
      send({
        ...request,
        method: 'POST',
        onData: () => {},
        keeper: options.keepsAnswers ? createAnswerKeeper() : null,
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
  connection: Connection,
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
      return answer ? { ...result, answer } : result;
    }
    const onAnswer = (reusable: boolean) =>
      settle(withAnswer({ kind: 'response', status, address: connection.address!, retryAfter }), reusable);
    const onTimeout = () => {
      const awaited = status >= 200 ? 'body' : connection.awaited;
      settle(withAnswer({ kind: 'timeout', address: connection.address, awaited }));
    };
    const timer = setTimeout(onTimeout, timeoutMs);
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

/**
 * A connection to one origin. It serves one attempt at a time, so its address is the address of that attempt. undici calls
 * `open` whenever it needs a socket. Each new socket's address is checked; a reused socket still has its checked address.
 */
class Connection {
  readonly client: Client;
  address: string | null = null;
  openedAtMs = 0;
  private socket: Socket | null = null;
  private isOpen = false;
  private certificate: { from: string; until: string } | null = null;
  private bytesReadBefore = 0;

  constructor(
    readonly origin: string,
    private readonly exempt: boolean,
    private readonly lookUp: Resolve,
    onClosed: (connection: Connection) => void,
  ) {
    this.client = new Client(origin, {
      ...CLIENT_OPTIONS,
      connect: (target, callback) => {
        this.open(target).then(
          (socket) => callback(null, socket),
          (error) => callback(error, null),
        );
      },
    });
    this.client.on('disconnect', () => onClosed(this));
  }

  /** Begins an attempt. Bytes read from now on count for it. */
  begin(): void {
    this.bytesReadBefore = this.socket?.bytesRead ?? 0;
  }

  /** What an attempt without an answer waits for. */
  get awaited(): AttemptPart {
    if (this.isOpen) return 'answer';
    return this.address === null ? 'name' : 'connection';
  }

  /** The date that made the last certificate invalid, for the code of an error. */
  findCertificateDate(code: string): string | undefined {
    if (code === 'CERT_HAS_EXPIRED') return this.certificate?.until;
    return code === 'CERT_NOT_YET_VALID' ? this.certificate?.from : undefined;
  }

  destroy(): void {
    this.socket?.destroy(); // undici does not know a socket that is still connecting
    void this.client.destroy();
  }

  /**
   * Resolves the name, checks all addresses, then tries them in turn. Rejects with the failure of the last one. One forbidden
   * address forbids all: a name with both kinds is an attack or a mistake, and chance must not decide which one is used.
   */
  private async open(target: buildConnector.Options): Promise<Socket> {
    this.address = null;
    this.isOpen = false;
    const addresses = isIP(target.hostname) ? [target.hostname] : await this.lookUp(target.hostname);
    const forbidden = addresses.find((address) => !isIP(address) || (!this.exempt && isForbiddenAddress(address)));
    if (forbidden !== undefined) {
      this.address = forbidden;
      throw codedError(FORBIDDEN_ADDRESS);
    }
    let failure: unknown = codedError('ENOTFOUND');
    const tried = addresses.slice(0, MAX_ADDRESSES_TRIED);
    for (const [index, address] of tried.entries()) {
      if (this.client.destroyed) break;
      this.address = address;
      this.openedAtMs = performance.now();
      try {
        return await this.dial(target, address, index < tried.length - 1);
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  /** Connects to an address literal, so Node makes no look-up. TLS is verified against the URL's host. */
  private dial(target: buildConnector.Options, address: string, hasNext: boolean): Promise<Socket> {
    const { hostname, port, protocol } = target;
    const secure = protocol === 'https:';
    const to = { host: address, port: Number(port) || (secure ? 443 : 80) };
    const servername = isIP(hostname) ? undefined : hostname.replace(/\.$/, '');
    const tls = { servername, ALPNProtocols: ['http/1.1'], rejectUnauthorized: true };
    return new Promise((resolve, reject) => {
      const socket = secure
        ? readCertificateDates(tlsConnect({ ...to, ...tls }), (dates) => {
            this.certificate = dates;
          })
        : tcpConnect(to);
      this.socket = socket.setNoDelay(true);
      this.bytesReadBefore = 0;
      // Registered before undici's own listener, which then finds the socket destroyed.
      socket.on('readable', () => {
        if (socket.bytesRead - this.bytesReadBefore > MAX_RECEIVED_BYTES) socket.destroy(codedError(ENDLESS_ANSWER));
      });
      if (hasNext) socket.setTimeout(NEXT_ADDRESS_AFTER_MS, () => socket.destroy(codedError('ETIMEDOUT')));
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        this.isOpen = true;
        resolve(socket.setTimeout(0));
      });
      socket.on('error', reject); // never removed, because an error without a listener would end the process
      socket.once('close', () => reject(codedError('ECONNRESET')));
    });
  }
}

const codedError = (code: string): Error => Object.assign(new Error(code), { code });

/**
 * Lets connections that open at the same time share one look-up, because Node runs at most half as many look-ups at a time as
 * its thread pool has threads (`npm start` sets their number).
 */
function shareLookups(resolve: Resolve): Resolve {
  const pending = new Map<string, Promise<string[]>>();
  return (hostname) => {
    const answer = pending.get(hostname) ?? resolve(hostname).finally(() => pending.delete(hostname));
    pending.set(hostname, answer);
    return answer;
  };
}

/** Uses the operating system's resolver, including the hosts file. */
const lookupAll: Resolve = async (hostname) => (await lookup(hostname, { all: true })).map(({ address }) => address);
