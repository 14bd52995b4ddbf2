import { readFileSync } from 'node:fs';
import ipaddr from 'ipaddr.js';
import { type AsnResponse, type CountryResponse, Reader, type Response } from 'mmdb-lib';
import { SettingError } from '../platform/env';
import { hashAddress } from './tokens';

/** What is kept of a client's address. */
export interface ClientNetwork {
  /** The network: /24 or /48. Null if the address is unknown. */
  prefix: string | null;
  /** The keyed hash of the address. */
  hash: Buffer | null;
}

/** What a batch says that begins no session: its network is not kept. */
export const NO_NETWORK: ClientNetwork = { prefix: null, hash: null };

/** Reduces an address to its network and a keyed hash. The address itself is never stored or logged. */
export function readNetwork(key: Buffer, address: string): ClientNetwork {
  if (!ipaddr.isValid(address)) return NO_NETWORK;
  const parsed = ipaddr.process(address);
  const hash = hashAddress(key, parsed.toNormalizedString());
  return { prefix: writePrefix(parsed), hash };
}

function writePrefix(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  if (address.kind() === 'ipv4') return `${address.toByteArray().slice(0, 3).join('.')}.0/24`;
  return `${address.toNormalizedString().split(':').slice(0, 3).join(':')}::/48`;
}

const COUNTRY_CODE = /^[A-Z]{2}$/;

/** Whether text is an ISO 3166 country code, as platforms send it. */
export const isCountryCode = (text: string | null): text is string => text !== null && COUNTRY_CODE.test(text);

/** Finds the country of an address; null if it is not known. */
export type CountryFinder = (address: string) => string | null;

/** What databases of countries hold: MaxMind's own form, or the code alone. */
type CountryRecord = Partial<CountryResponse> & { country_code?: string };

/** Opens a database of countries (any mmdb file). Without a path, no country is known. */
export function openCountryFinder(path: string | undefined): CountryFinder {
  const find = openDatabase<CountryResponse>('GEOIP_DATABASE', path);
  return (address) => {
    const found = find(address) as CountryRecord | null;
    const code = found?.country?.iso_code ?? found?.country_code ?? null;
    return isCountryCode(code) ? code : null;
  };
}

/** Finds the number of the network (autonomous system) of an address; null if it is not known. */
export type NetworkFinder = (address: string) => number | null;

/** Opens a database of networks (any mmdb file with `autonomous_system_number`). Without a path, none is known. */
export function openNetworkFinder(path: string | undefined): NetworkFinder {
  const find = openDatabase<AsnResponse>('ASN_DATABASE', path);
  return (address) => {
    const number: unknown = find(address)?.autonomous_system_number;
    return Number.isSafeInteger(number) && (number as number) > 0 ? (number as number) : null;
  };
}

/** Opens a database of addresses that a setting names. Without a path, nothing is found. */
function openDatabase<Found extends Response>(
  setting: string,
  path: string | undefined,
): (address: string) => Found | null {
  if (path === undefined) return () => null;
  let reader: Reader<Found>;
  try {
    reader = new Reader<Found>(readFileSync(path));
  } catch (error) {
    throw new SettingError(`${setting}: cannot be read (${(error as Error).message})`);
  }
  return (address) => (ipaddr.isValid(address) ? reader.get(ipaddr.process(address).toString()) : null);
}
