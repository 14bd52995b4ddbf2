/**
 * Decides which webhook URLs and addresses may be contacted (spec: Endpoints, rules 5 and 7). Only rules, no I/O: code that
 * resolves names must check every address with `isForbiddenAddress` and connect only to checked addresses.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';
import ipaddr from 'ipaddr.js';
import { parseUrl } from '../../contract/urls';
import { MAX_URL_LENGTH } from '../../contract/webhooks';

/** Exact lower-case `host:port` entries (IPv6 in brackets) that are exempt from the host, address and port rules. */
export type AllowedHosts = ReadonlySet<string>;

const MAX_HOST_LENGTH = 253;
const DEFAULT_PORTS: ReadonlyMap<string, string> = new Map([
  ['http:', '80'],
  ['https:', '443'],
]);
const WEB_PORTS: ReadonlySet<string> = new Set(['80', '443']);

/** Control characters, lone surrogates, Unicode whitespace, and four blank characters that are not in White_Space. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{White_Space}\u180e\u200b\u2060\ufeff]/u;
/**
 * Scheme and authority as RFC 3986 writes them. A WHATWG parser also accepts `https:host` and `https:\\host`, and ends the
 * authority at a backslash, where other parsers read on. Text that two parsers read differently is not a URL here.
 */
const WEB_URL = /^https?:\/\/(?<authority>[^/?#\\]+)(?:[/?#]|$)/i;
const HOST_LABEL = /^[a-z0-9_-]{1,63}$/;
/** Zones that the public DNS does not have: of hosts files, link-local discovery, private networks and Kubernetes. */
const FORBIDDEN_ZONES: ReadonlySet<string> = new Set([
  'local',
  'localdomain',
  'localdomain4',
  'localdomain6',
  'internal',
  'home.arpa',
  'lan',
  'svc',
]);
/** Hosts that are refused together with all names below them. */
const FORBIDDEN_HOSTS: ReadonlySet<string> = new Set([
  // This machine, as hosts files name it.
  ...['localhost', 'localhost4', 'localhost6', 'ip6-localhost', 'ip6-loopback', 'loopback', 'broadcasthost'],
  // Metadata services whose addresses DNS or a hosts file gives only inside of a cloud.
  ...['metadata', 'metadata.goog', 'metadata.azure.com', 'instance-data', 'rancher-metadata'],
  ...['metadata.tencentyun.com', 'metadata.oraclecloud.com', 'metadata.cloud.ibm.com'],
  ...['metadata.packet.net', 'metadata.platformequinix.com'],
]);

type Block = readonly [cidr: string, reachable: boolean];

/**
 * The IANA IPv4 Special-Purpose Address Registry (RFC 6890, RFC 8190) with its column `Globally Reachable`, `N/A`
 * counting as false. The most specific block decides.
 */
const IPV4_BLOCKS: readonly Block[] = [
  ['0.0.0.0/0', true],
  ['0.0.0.0/8', false], // this network
  ['10.0.0.0/8', false], // private use
  ['100.64.0.0/10', false], // shared address space (CGNAT)
  ['127.0.0.0/8', false], // loopback
  ['169.254.0.0/16', false], // link-local, and most clouds' metadata
  ['172.16.0.0/12', false], // private use
  ['192.0.0.0/24', false], // IETF protocol assignments, except:
  ['192.0.0.9/32', true], // Port Control Protocol anycast
  ['192.0.0.10/32', true], // TURN anycast
  ['192.0.2.0/24', false], // documentation (TEST-NET-1)
  ['192.31.196.0/24', true], // AS112-v4
  ['192.52.193.0/24', true], // AMT
  ['192.88.99.0/24', false], // deprecated 6to4 relay anycast (N/A)
  ['192.168.0.0/16', false], // private use
  ['192.175.48.0/24', true], // direct delegation AS112
  ['198.18.0.0/15', false], // benchmarking
  ['198.51.100.0/24', false], // documentation (TEST-NET-2)
  ['203.0.113.0/24', false], // documentation (TEST-NET-3)
  ['240.0.0.0/4', false], // reserved, and 255.255.255.255 limited broadcast
  // Not in that registry:
  ['224.0.0.0/4', false], // multicast
  ['168.63.129.16/32', false], // Azure's platform services
];

/**
 * The same for the IANA IPv6 registry. In addition, everything outside 2000::/3 (global unicast) is forbidden, which includes
 * IPv4-compatible (::/96), site-local (fec0::/10) and unassigned space.
 */
const IPV6_BLOCKS: readonly Block[] = [
  ['::/0', false],
  ['2000::/3', true],
  ['::1/128', false], // loopback
  ['::/128', false], // unspecified
  ['::ffff:0:0/96', false], // IPv4-mapped
  ['64:ff9b::/96', false], // NAT64: reachable in the registry, but it embeds an IPv4 address and is outside 2000::/3
  ['64:ff9b:1::/48', false], // NAT64, local use
  ['100::/64', false], // discard only
  ['100:0:0:1::/64', false], // dummy prefix
  ['2001::/23', false], // IETF protocol assignments
  ['2001::/32', false], // Teredo (N/A)
  ['2001:1::1/128', true], // Port Control Protocol anycast
  ['2001:1::2/128', true], // TURN anycast
  ['2001:1::3/128', true], // DNS-SD service registration anycast
  ['2001:2::/48', false], // benchmarking
  ['2001:3::/32', true], // AMT
  ['2001:4:112::/48', true], // AS112-v6
  ['2001:10::/28', false], // deprecated ORCHID
  ['2001:20::/28', true], // ORCHIDv2
  ['2001:30::/28', true], // drone remote id
  ['2001:db8::/32', false], // documentation
  ['2002::/16', false], // 6to4 (N/A)
  ['2620:4f:8000::/48', true], // direct delegation AS112
  ['3fff::/20', false], // documentation
  ['5f00::/16', false], // segment routing (SRv6) SIDs
  ['fc00::/7', false], // unique local
  ['fe80::/10', false], // link-local
  // Not in that registry:
  ['ff00::/8', false], // multicast
];

const mostSpecificFirst = <Network extends readonly [unknown, number]>(blocks: [Network, boolean][]) =>
  blocks.sort(([[, a]], [[, b]]) => b - a);
const IPV4_TABLE = mostSpecificFirst(IPV4_BLOCKS.map(([cidr, ok]) => [ipaddr.IPv4.parseCIDR(cidr), ok]));
const IPV6_TABLE = mostSpecificFirst(IPV6_BLOCKS.map(([cidr, ok]) => [ipaddr.IPv6.parseCIDR(cidr), ok]));

/**
 * Whether an address must not be contacted. Accepts what a resolver or a URL parser returns: dotted IPv4, IPv6 in any
 * spelling, with or without brackets. Anything else is no address and forbidden: names, `127.1`, octal, zone ids.
 */
export function isForbiddenAddress(address: string): boolean {
  const text = address.startsWith('[') && address.endsWith(']') ? address.slice(1, -1) : address;
  if (isIPv4(text)) {
    const ip = ipaddr.IPv4.parse(text);
    return !IPV4_TABLE.find(([network]) => ip.match(network))?.[1];
  }
  if (isIPv6(text) && !text.includes('%')) {
    const ip = ipaddr.IPv6.parse(text);
    return !IPV6_TABLE.find(([network]) => ip.match(network))?.[1];
  }
  return true;
}

/** Writes `host:port` as in `AllowedHosts`, with the scheme's default port if the URL has none. */
export function writeHostWithPort(url: URL): string {
  return `${url.hostname}:${portOf(url)}`;
}

/** Returns null if a subscription may have this URL, else a sentence for the customer that says why not. */
export function findUrlFault(url: string, allowedHosts: AllowedHosts): string | null {
  if (isLongerThan(url, MAX_URL_LENGTH)) return `The URL must be at most ${MAX_URL_LENGTH} characters long.`;
  if (UNPRINTABLE.test(url)) return 'The URL must not contain whitespace or control characters.';
  const authority = WEB_URL.exec(url)?.groups?.authority;
  if (authority === undefined) return 'The URL must start with http:// or https:// and a host.';
  if (authority.includes('@')) return 'The URL must not contain a user name or password.';
  const parsed = parseUrl(url);
  if (parsed === null) return 'The URL is not valid.';
  if (allowedHosts.has(writeHostWithPort(parsed))) return null;
  if (!WEB_PORTS.has(portOf(parsed))) return 'The URL must use port 80 or 443.';
  return findHostFault(parsed.hostname);
}

/** Expects a parsed host name: in lower case, with escapes decoded, Unicode mapped and IPv4 in dotted form. */
function findHostFault(hostname: string): string | null {
  if (hostname.startsWith('[') || isIPv4(hostname)) {
    return isForbiddenAddress(hostname) ? 'The URL must not point to a private, local or reserved address.' : null;
  }
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  const isDnsName = name.length <= MAX_HOST_LENGTH && name.split('.').every((label) => HOST_LABEL.test(label));
  if (!isDnsName || !hasTruePunycode(name)) return 'The URL must have a valid host name.';
  return isForbiddenName(name) ? 'The URL must not point to a local or cloud metadata host.' : null;
}

/** Whether a name is a forbidden host, or lies below one or in a forbidden zone. */
function isForbiddenName(name: string): boolean {
  const labels = name.split('.');
  return labels.some((_, at) => {
    const suffix = labels.slice(at).join('.');
    return FORBIDDEN_HOSTS.has(suffix) || (at > 0 && FORBIDDEN_ZONES.has(suffix));
  });
}

/**
 * Checks that decoding and encoding a name returns the same name (RFC 5891). Some versions of Node decode `xn--localhost-` to
 * `localhost`, so it fails this check; others do not decode it.
 */
function hasTruePunycode(name: string): boolean {
  if (!name.includes('xn--')) return true;
  const decoded = domainToUnicode(name);
  return !decoded.includes('xn--') && domainToASCII(decoded) === name;
}

function portOf(url: URL): string {
  return url.port || (DEFAULT_PORTS.get(url.protocol) ?? '');
}

/** Counts code points, but only if the number of code units does not decide. */
function isLongerThan(text: string, maxCodePoints: number): boolean {
  if (text.length <= maxCodePoints) return false;
  return text.length > 2 * maxCodePoints || [...text].length > maxCodePoints;
}
