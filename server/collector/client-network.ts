import { readFileSync } from 'node:fs';
import ipaddr from 'ipaddr.js';
import { type AsnResponse, type CityResponse, Reader, type Response } from 'mmdb-lib';
import { type GeoLocation, geoLocationInput } from '../../contract/sessions';
import { SettingError } from '../platform/env';

/** Reduces an address to its network (/24 or /48), null if it is unknown. The address itself is never stored or logged. */
export function readNetworkPrefix(address: string): string | null {
  if (!ipaddr.isValid(address)) return null;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return `${parsed.toByteArray().slice(0, 3).join('.')}.0/24`;
  return `${parsed.toNormalizedString().split(':').slice(0, 3).join(':')}::/48`;
}

const COUNTRY_CODE = /^[A-Z]{2}$/;

/** Whether text is an ISO 3166 country code, as platforms send it. */
const isCountryCode = (text: string | null): text is string => text !== null && COUNTRY_CODE.test(text);

/** Where an address is, as far as it is known. */
export interface ClientPlace {
  country: string | null;
  location: GeoLocation | null;
}

/** Finds where an address is. */
export type PlaceFinder = (address: string) => ClientPlace;

/**
 * How far a client may be from the place that a source gives without an accuracy: a large city and its surroundings. If the source
 * does not know the city, the coordinates are those of the middle of a country, and are not used.
 */
const CITY_ACCURACY_KM = 50;
/** Two decimals are a kilometre. More would say more than is known, and is not kept. */
const COORDINATE_SCALE = 100;

/** What a platform says of a client in its headers. */
export interface PlatformPlace {
  country: string | null;
  latitude: string | null;
  longitude: string | null;
  /** Null or empty where the platform does not know it. It is not kept. */
  city: string | null;
}

/** Reads what a platform says. What is no country or place is ignored. */
export function readPlatformPlace({ country, latitude, longitude, city }: PlatformPlace): ClientPlace {
  const isKnown = isDecimal(latitude) && isDecimal(longitude) && city;
  return {
    country: isCountryCode(country) ? country : null,
    location: isKnown ? readLocation(Number(latitude), Number(longitude), CITY_ACCURACY_KM) : null,
  };
}

const DECIMAL = /^-?\d{1,3}(?:\.\d{1,20})?$/;
const isDecimal = (text: string | null): text is string => text !== null && DECIMAL.test(text);

/** Makes a location of numbers from outside. Null if they are none. */
function readLocation(latitude: unknown, longitude: unknown, accuracyKm: unknown): GeoLocation | null {
  const { success, data } = geoLocationInput.safeParse({ latitude, longitude, accuracyKm });
  if (!success) return null;
  const cut = (degrees: number) => Math.round(degrees * COORDINATE_SCALE) / COORDINATE_SCALE + 0;
  return { ...data, latitude: cut(data.latitude), longitude: cut(data.longitude) };
}

/** What databases of places hold: MaxMind's own form, perhaps with a location, or the code of the country alone. */
type PlaceRecord = Partial<CityResponse> & { country_code?: string };

/** Opens a database of countries or cities (any mmdb file). Without a path, no place is known. */
export function openPlaceFinder(path: string | undefined): PlaceFinder {
  const find = openDatabase<CityResponse>('GEOIP_DATABASE', path);
  return (address) => {
    const found = find(address) as PlaceRecord | null;
    const code = found?.country?.iso_code ?? found?.country_code ?? null;
    const { latitude, longitude, accuracy_radius: accuracyKm } = found?.location ?? {};
    const isCity = Object.keys(found?.city?.names ?? {}).length > 0;
    return {
      country: isCountryCode(code) ? code : null,
      location: readLocation(latitude, longitude, accuracyKm ?? (isCity ? CITY_ACCURACY_KM : null)),
    };
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

const IPV4 = 4;

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
  return (address) => {
    if (!ipaddr.isValid(address)) return null;
    const parsed = ipaddr.process(address);
    // A database that has IPv4 alone would read the first 32 bits of an IPv6 address as the IPv4 address of another network.
    if (reader.metadata.ipVersion === IPV4 && parsed.kind() === 'ipv6') return null;
    return reader.get(parsed.toString());
  };
}
