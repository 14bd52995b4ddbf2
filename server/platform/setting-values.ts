import { z } from 'zod';
import { parseUrl } from '../../contract/urls';
import { parseDuration } from './durations';

// How the values of settings are read from their texts.

const MAX_DURATION_MS = 7 * 86_400_000;

export const duration = z.string().transform((text, context) => {
  const ms = parseDuration(text);
  if (ms !== null && ms <= MAX_DURATION_MS) return ms;
  context.issues.push({
    code: 'custom',
    input: text,
    message: 'must be a duration of at most 7 days such as 500ms, 30s, 5m or 2h',
  });
  return z.NEVER;
});

export const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);

export const flag = z.enum(['0', '1'], { error: 'must be 0 or 1' }).transform((value) => value === '1');

function trimEndSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end--;
  return text.slice(0, end);
}

/** Whether a valid URL has neither a user name nor a password. */
const hasNoLogin = (url: string) => {
  const { username, password } = new URL(url);
  return username === '' && password === '';
};

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https address' });
/** Paths are appended to it. */
export const endpoint = httpUrl
  .refine(
    (text) => parseUrl(text) === null || (!/[?#]/.test(text) && hasNoLogin(text)),
    'must be an http or https address without user name, query and fragment',
  )
  .transform(trimEndSlashes);

/** Where a region is. Pages, links and cookies know no folder, and the API document shows the address to everyone. */
export const publicUrl = z.string().transform((text, context) => {
  const { href = '', origin = '' } = parseUrl(text) ?? {};
  if (/^https?:/.test(href) && trimEndSlashes(href) === origin) return origin;
  context.issues.push({ code: 'custom', input: text, message: 'must be an http or https address without a path' });
  return z.NEVER;
});

/** An address that is called, without a user name: `fetch` refuses one, in an error that has the password. */
export const calledUrl = httpUrl.refine(
  (url) => parseUrl(url) === null || hasNoLogin(url),
  'must not contain a user name',
);

export const retryDelays = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(duration).length(6, 'must be six durations, separated by commas'));

/** What parameters of libpq say to the client alone, as written for databases that are rented. Postgres would refuse them as unknown. */
const CLIENT_PARAMETERS = new Set([
  ...['channel_binding=disable', 'channel_binding=prefer', 'gssencmode=disable', 'gssencmode=prefer'],
  ...['keepalives=0', 'keepalives=1', 'target_session_attrs=any'],
]);
const KEEPALIVE_TIMES = new Set(['keepalives_idle', 'keepalives_interval', 'keepalives_count']);
/**
 * Each demands that nobody else can answer in the server's place. Our drivers cannot bind a password to the connection, but `verify-full`
 * keeps that promise too: it checks the certificate.
 */
const SERVER_CHECKS = new Set(['channel_binding=require', 'sslrootcert=system']);

/** Takes out of an address what only the client must know. What else Postgres does not know, it refuses. */
function readParameters(address: string): string {
  const url = new URL(address);
  const given = [...url.searchParams];
  const isIn = (set: Set<string>) => (entry: string[]) => set.has(entry.join('='));
  const left = given.filter(
    (entry) => !isIn(CLIENT_PARAMETERS)(entry) && !isIn(SERVER_CHECKS)(entry) && !KEEPALIVE_TIMES.has(entry[0]),
  );
  if (left.length === given.length) return address;
  url.search = new URLSearchParams(left).toString();
  if (given.some(isIn(SERVER_CHECKS))) url.searchParams.set('sslmode', 'verify-full');
  return url.href;
}

/** Whether the host may be in a parameter or is a directory, as libpq reads it. The driver would ask this machine, or a host of that name. */
const hasHostOfLibpq = ({ hostname, searchParams }: URL): boolean =>
  searchParams.has('host') || searchParams.has('hostaddr') || hostname.toLowerCase().includes('%2f');

/** postgres.js cuts an address at its first colon. */
export const databaseUrl = z
  .url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// address' })
  .refine((url) => !parseUrl(url)?.hostname.startsWith('['), 'must name a host, not an IPv6 address')
  .refine((text) => {
    const url = parseUrl(text);
    return url === null || !hasHostOfLibpq(url);
  }, 'must name a host before its path, and no directory of a socket')
  .refine(
    (url) => parseUrl(url) === null || isEncoded(`${new URL(url).username}:${new URL(url).password}`),
    'must have each % of its user name and password as %25',
  )
  .transform(readParameters);

/** The driver fails with a stack trace instead. */
function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

const HOST_AND_PORT = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+):(\d{1,5})$/;
export const allowHosts = z.string().transform((text, context) => {
  const hosts = text.split(',').map((host) => host.trim().toLowerCase());
  const wrong = hosts.find((host) => host !== '' && !HOST_AND_PORT.test(host));
  if (wrong === undefined) return new Set(hosts.filter(Boolean));
  context.issues.push({ code: 'custom', input: text, message: 'must be exact host:port pairs, separated by commas' });
  return z.NEVER;
});

/** Origins of agents: https, or http on this machine for development. */
export const agentOrigins = z.string().transform((text, context) => {
  const origins = text === 'none' ? [] : text.split(',').map((origin) => origin.trim());
  const isOrigin = (one: string) => parseUrl(one)?.origin === one && /^(https:|http:\/\/127\.0\.0\.\d+(:|$))/.test(one);
  if (origins.every(isOrigin)) return origins;
  context.issues.push({ code: 'custom', input: text, message: 'must be https origins, separated by commas, or none' });
  return z.NEVER;
});

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** `.` and `..` are steps in an address: the objects would be in another bucket. */
const FOLDER = /^(?!\.{1,2}$)[\w.-]{1,255}$/;
/** `s3://bucket` or `s3://bucket/folder`. The folder gets a slash at its end. */
export const reportStore = z.string().transform((text, context) => {
  const [bucket = '', ...folders] = trimEndSlashes(text.startsWith('s3://') ? text.slice('s3://'.length) : '').split(
    '/',
  );
  if (BUCKET.test(bucket) && folders.every((folder) => FOLDER.test(folder)))
    return { bucket, prefix: folders.map((folder) => `${folder}/`).join('') };
  context.issues.push({ code: 'custom', input: text, message: 'must be s3://bucket or s3://bucket/folder' });
  return z.NEVER;
});

export const appSecret = z
  .string()
  .transform((text) => Buffer.from(text, 'base64'))
  .refine((bytes) => bytes.length === 32, 'must be 32 bytes in base64 (openssl rand -base64 32)');

export const quota = (perMinute: number) => integer(1, 100_000_000).prefault(String(perMinute));

/** Also that in a file of DATA_DIR: with it, anybody may report any fact. */
export const pipelineToken = z
  .string()
  .regex(/^[!-~]{16,}$/, 'must have at least 16 characters, all of them visible ASCII');
