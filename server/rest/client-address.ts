import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import type { Service } from '../service';

/** How our own server tells the pages behind it who asks; what a client sends under this name is overwritten. */
const CLIENT_ADDRESS_HEADER = 'x-client-address';

/**
 * Notes the client's address in the request's headers: the connection's, or, where that is a proxy on this machine or in
 * its private network, what the proxy has added last to `x-forwarded-for`.
 */
export function noteClientAddress(request: IncomingMessage): void {
  const peer = request.socket.remoteAddress ?? '';
  const forwarded = request.headers['x-forwarded-for'];
  const last = [forwarded ?? ''].flat().join(',').split(',').at(-1)!.trim();
  request.headers[CLIENT_ADDRESS_HEADER] = isNearby(peer) && ipaddr.isValid(last) ? last : peer;
}

const isNearby = (address: string) =>
  ipaddr.isValid(address) &&
  ['loopback', 'private', 'uniqueLocal', 'linkLocal'].includes(ipaddr.process(address).range());

/**
 * Reads who asks, as one client counts. Where no server of ours has noted it, the platform's own entry of `x-forwarded-for`
 * says so: Vercel's is the first, that of the proxy in front of plain `next start` the last (without one, Next adds it).
 */
export function readClientAddress({ env, isSelfHosted }: Service, headers: Headers): string {
  const forwarded = headers.get('x-forwarded-for')?.split(',') ?? [];
  if (env.VERCEL === '1') return groupAddress(forwarded[0]?.trim() ?? '');
  return groupAddress((isSelfHosted ? headers.get(CLIENT_ADDRESS_HEADER) : forwarded.at(-1))?.trim() ?? '');
}

/** What counts as one client: an IPv4 address, or the /64 of an IPv6 address, of which one client has all. */
function groupAddress(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4'
    ? parsed.toString()
    : `${parsed.toNormalizedString().split(':').slice(0, 4).join(':')}::/64`;
}
