import { lookup } from 'node:dns/promises';
import { isIP, type Socket, connect as tcpConnect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { type buildConnector, Client } from 'undici';
import { isForbiddenAddress } from './address-guard';
import { readCertificateDates } from './tls-internals';

/** The parts of an attempt, in order: the host's addresses, a connection with TLS, the head of the answer, its body. */
export type AttemptPart = 'name' | 'connection' | 'answer' | 'body';

/** Finds all addresses of a host name. */
export type Resolve = (hostname: string) => Promise<string[]>;

/** The most bytes that an attempt reads. It includes everything outside the body, such as informational responses. */
const MAX_RECEIVED_BYTES = 512 * 1024;
/** If an address does not accept within this time, the next one is tried. */
const NEXT_ADDRESS_AFTER_MS = 3_000;
/** How many addresses one attempt tries. A name may have thousands, and a failed attempt must not contact them all. */
const MAX_ADDRESSES_TRIED = 10;
/** The code of the error of a host with an address that must not be contacted. */
export const FORBIDDEN_ADDRESS = 'ERR_FORBIDDEN_ADDRESS';
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

/**
 * A connection to one origin. It serves one attempt at a time, so its address is the address of that attempt. undici calls
 * `open` whenever it needs a socket. Each new socket's address is checked; a reused socket still has its checked address.
 */
export class CheckedConnection {
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
    onClosed: (connection: CheckedConnection) => void,
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
export function shareLookUps(resolve: Resolve): Resolve {
  const pending = new Map<string, Promise<string[]>>();
  return (hostname) => {
    const answer = pending.get(hostname) ?? resolve(hostname).finally(() => pending.delete(hostname));
    pending.set(hostname, answer);
    return answer;
  };
}

/** Uses the operating system's resolver, including the hosts file. */
export const lookUpAddresses: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);
