import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import type { Service } from '../service';

/** Our own server passes the client's address to the pages in this header. It overwrites the header if a client sends it. */
const CLIENT_ADDRESS_HEADER = 'x-client-address';

/**
 * Writes the client's address into the request's headers. This is the peer's address. If the peer is a proxy on this machine
 * or in its private network, it is the last entry of `x-forwarded-for`, which the proxy added.
 */
export function noteClientAddress(request: IncomingMessage): void {
  request.headers[CLIENT_ADDRESS_HEADER] = findClientAddress(request);
}

/** Finds the client's address of a request to our own server. */
export function findClientAddress(request: IncomingMessage): string {
  const peer = request.socket.remoteAddress ?? '';
  const forwarded = request.headers['x-forwarded-for'];
  // Most requests of a page come without it, and the library throws an error inside to say that '' is no address.
  if (!forwarded) return peer;
  const last = readEntry([forwarded].flat().join(',').split(',').at(-1));
  return isNearby(peer) && ipaddr.isValid(last) ? last : peer;
}

const isNearby = (address: string) =>
  ipaddr.isValid(address) &&
  ['loopback', 'private', 'carrierGradeNat', 'uniqueLocal', 'linkLocal'].includes(ipaddr.process(address).range());

/** Reads the client's address, grouped as one client. */
export const readClientAddress = (service: Service, headers: Headers): string =>
  groupAddress(readForwardedAddress(service, headers));

/**
 * Reads the client's address. Without our own server in front, it comes from the entry that the platform adds to
 * `x-forwarded-for`: on Vercel the first, under plain `next start` the last, which the proxy in front adds (or Next, if there
 * is no proxy).
 */
export function readForwardedAddress({ env, isSelfHosted }: Service, headers: Headers): string {
  const forwarded = headers.get('x-forwarded-for')?.split(',');
  if (env.VERCEL === '1') return readEntry(forwarded?.[0]);
  return isSelfHosted ? (headers.get(CLIENT_ADDRESS_HEADER) ?? '') : readEntry(forwarded?.at(-1));
}

/** An IPv4 address with a port, or an IPv6 address in brackets, perhaps with one. */
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/;

/** Reads the address of an entry of `x-forwarded-for`. Some gateways, such as that of Azure, add the client's port. */
function readEntry(entry = ''): string {
  const text = entry.trim();
  const [, ipv6, ipv4] = WITH_PORT.exec(text) ?? [];
  return ipv6 ?? ipv4 ?? text;
}

/** Groups addresses by client: an IPv4 address, or the /64 network of an IPv6 address, since one client owns all of it. */
function groupAddress(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4'
    ? parsed.toString()
    : `${parsed.toNormalizedString().split(':').slice(0, 4).join(':')}::/64`;
}
