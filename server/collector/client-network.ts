import { readFileSync } from 'node:fs';
import ipaddr from 'ipaddr.js';
import { type CountryResponse, Reader } from 'mmdb-lib';
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
  if (path === undefined) return () => null;
  let reader: Reader<CountryResponse>;
  try {
    reader = new Reader<CountryResponse>(readFileSync(path));
  } catch (error) {
    throw new SettingError(`GEOIP_DATABASE: cannot be read (${(error as Error).message})`);
  }
  return (address) => {
    if (!ipaddr.isValid(address)) return null;
    const found = reader.get(ipaddr.process(address).toString()) as CountryRecord | null;
    const code = found?.country?.iso_code ?? found?.country_code ?? null;
    return isCountryCode(code) ? code : null;
  };
}
