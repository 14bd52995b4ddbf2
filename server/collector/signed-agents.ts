import type { KeyObject } from 'node:crypto';
import { parseUrl } from '../../contract/urls';
import type { Logger } from '../platform/log';
import {
  coversComponent,
  isSignedBy,
  type MessageSignature,
  readDictionary,
  readPublicKey,
  readSignatures,
  readText,
  type SignedMessage,
} from './message-signatures';

// Agents that sign their requests (Web Bot Auth): who they are follows from the keys that they publish. A signature that
// cannot be verified says nothing, neither for nor against anybody.

/** Fetches what others publish: a client that checks addresses and bounds time and size. */
export interface DirectoryClient {
  get(request: { url: string; headers: Record<string, string>; timeoutMs: number }): Promise<{
    kind: string;
    status?: number;
    body?: Uint8Array | null;
  }>;
}

export interface AgentVerifier {
  /**
   * Names the agent that signed a request. Null if none of the agents did, or if its keys are not known yet: they are read
   * for the next request, because nothing may delay an answer.
   */
  verify(message: SignedMessage): string | null;
  /** Waits for the directories that are being read. */
  settle(): Promise<void>;
}

const DIRECTORY_PATH = '/.well-known/http-message-signatures-directory';
const MEDIA_TYPES = 'application/http-message-signatures-directory+json, application/json';
const TIMEOUT_MS = 5_000;
const TAG = 'web-bot-auth';
/** A directory is used for an hour, and while it cannot be read again for a day. */
const FRESH_MS = 3_600_000;
const USABLE_MS = 24 * 3_600_000;
/** After a failure, and before a directory is read again because it lacks a key. */
const PAUSE_MS = 60_000;
const MAX_KEYS = 50;
const MAX_LIFETIME_SECONDS = 86_400;
const CLOCK_SKEW_SECONDS = 60;
/** Signatures that were seen and are still valid. Beyond that the oldest are forgotten. */
const MAX_SEEN = 20_000;

interface Directory {
  keys: ReadonlyMap<string, KeyObject>;
  readAtMs: number;
  /** When reading it was begun last. */
  triedAtMs: number;
  pending: Promise<void> | null;
}

/** Creates the process's verifier of the agents with these origins. Reads nothing before a request names one of them. */
export function createAgentVerifier(dependencies: {
  origins: readonly string[];
  client: DirectoryClient;
  log: Pick<Logger, 'warn'>;
  now?: () => number;
}): AgentVerifier {
  const { client, log, now = Date.now } = dependencies;
  const directories = new Map<string, Directory>(
    dependencies.origins.map((origin) => [
      origin,
      { keys: new Map(), readAtMs: Number.NEGATIVE_INFINITY, triedAtMs: Number.NEGATIVE_INFINITY, pending: null },
    ]),
  );
  const seen = new Map<string, number>();

  async function readKeys(origin: string, directory: Directory): Promise<void> {
    const request = { url: `${origin}${DIRECTORY_PATH}`, headers: { accept: MEDIA_TYPES }, timeoutMs: TIMEOUT_MS };
    const { status, body } = await client.get(request);
    const keys = status === 200 && body ? parseKeys(body, now()) : null;
    if (keys) Object.assign(directory, { keys, readAtMs: now() });
    else log.warn({ agent: origin }, 'the directory of keys of an agent could not be read');
    directory.pending = null;
  }

  /** Finds a key. Has the directory read if that is old or lacks the key. */
  function findKey(origin: string, thumbprint: string): KeyObject | null {
    const directory = directories.get(origin)!;
    const ageMs = now() - directory.readAtMs;
    const key = ageMs < USABLE_MS ? directory.keys.get(thumbprint) : undefined;
    const isWanted = ageMs >= FRESH_MS || key === undefined;
    if (isWanted && directory.pending === null && now() - directory.triedAtMs >= PAUSE_MS) {
      directory.triedAtMs = now();
      directory.pending = readKeys(origin, directory);
    }
    return key ?? null;
  }

  /** Whether a signature is used for the first time. */
  function takeSignature(name: string, untilMs: number): boolean {
    if ((seen.get(name) ?? 0) > now()) return false;
    seen.delete(name);
    if (seen.size >= MAX_SEEN) seen.delete(seen.keys().next().value!);
    seen.set(name, untilMs);
    return true;
  }

  function isVerified(origin: string, signature: MessageSignature, message: SignedMessage): boolean {
    const terms = readTerms(signature, now());
    if (!terms) return false;
    const key = findKey(origin, terms.thumbprint);
    if (!key || !isSignedBy(key, signature, message)) return false;
    return takeSignature(`${terms.thumbprint} ${terms.nonce}`, terms.expires * 1_000);
  }

  return {
    verify(message) {
      for (const signature of readSignatures(message)) {
        const origin = readAgent(signature, message);
        if (origin !== null && directories.has(origin) && isVerified(origin, signature, message))
          return new URL(origin).host;
      }
      return null;
    },
    async settle() {
      await Promise.all([...directories.values()].map(({ pending }) => pending));
    },
  };
}

/** Reads the origin that `Signature-Agent` names for a signature: one for all, or one for each label. */
function readAgent(signature: MessageSignature, message: SignedMessage): string | null {
  const field = message.header('signature-agent');
  const member = readDictionary(field)?.get(signature.label)?.[0];
  const text = typeof member === 'string' ? member : readText(field);
  return parseUrl(text ?? '')?.origin ?? null;
}

/** Reads the parameters of a signature. Null if it is not one of an agent, or not valid now. */
function readTerms(signature: MessageSignature, nowMs: number) {
  const [, parameters] = signature.input;
  const [tag, keyId, alg, created, expires, nonce] = ['tag', 'keyid', 'alg', 'created', 'expires', 'nonce'].map(
    (name) => parameters.get(name),
  );
  if (tag !== TAG || typeof keyId !== 'string' || (alg !== undefined && alg !== 'ed25519')) return null;
  if (!coversComponent(signature, '@authority') || !coversComponent(signature, 'signature-agent')) return null;
  if (!Number.isSafeInteger(created) || !Number.isSafeInteger(expires)) return null;
  const [from, until] = [created as number, expires as number];
  const seconds = nowMs / 1_000;
  if (from > seconds + CLOCK_SKEW_SECONDS || until <= seconds || until - from > MAX_LIFETIME_SECONDS) return null;
  // Without a nonce the signature itself can be used once.
  const once = typeof nonce === 'string' ? nonce : Buffer.from(signature.bytes).toString('base64');
  return { thumbprint: keyId, expires: until, nonce: once };
}

/** Reads the keys of a directory by their thumbprints. Null if it is none. */
function parseKeys(bytes: Uint8Array, nowMs: number): Map<string, KeyObject> | null {
  let directory: unknown;
  try {
    directory = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
  const list: unknown = typeof directory === 'object' && directory !== null && 'keys' in directory && directory.keys;
  if (!Array.isArray(list)) return null;
  const keys = new Map<string, KeyObject>();
  for (const jwk of list.slice(0, MAX_KEYS)) {
    const read = readPublicKey(jwk);
    if (read && !isExpired(jwk, nowMs)) keys.set(read.thumbprint, read.key);
  }
  return keys;
}

/** Some directories give seconds, some milliseconds. */
function isExpired({ exp }: { exp?: unknown }, nowMs: number): boolean {
  if (typeof exp !== 'number') return false;
  return (exp > MILLISECONDS_FROM ? exp : exp * 1_000) <= nowMs;
}
const MILLISECONDS_FROM = 1e11;
