import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  openNetworkFinder,
  openPlaceFinder,
  readNetworkPrefix,
  readPlatformPlace,
} from '../../server/collector/client-network';
import { mmdbDouble, mmdbMap, mmdbNumber, mmdbText, writeMmdb } from '../support/mmdb';

describe('the network of a client', () => {
  it.each([
    ['203.0.113.77', '203.0.113.0/24'],
    ['::ffff:203.0.113.77', '203.0.113.0/24'],
    ['2001:db8:1:2:3::4', '2001:db8:1::/48'],
    ['::1', '0:0:0::/48'],
  ])('of %s is %s', (address, prefix) => {
    expect(readNetworkPrefix(address)).toBe(prefix);
  });

  it('is unknown without an address', () => {
    expect(readNetworkPrefix('unknown')).toBeNull();
  });
});

describe('the country of a client', () => {
  const directory = mkdtempSync(join(tmpdir(), 'countries-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  const write = (name: string, record: number[], ipVersion?: 6) => writeMmdb(join(directory, name), record, ipVersion);

  it.each([
    ['MaxMind’s form', mmdbMap([['country', mmdbMap([['iso_code', mmdbText('SE')]])]])],
    ['the code alone', mmdbMap([['country_code', mmdbText('SE')]])],
  ])('is read from a database in %s', (_, record) => {
    const find = openPlaceFinder(write('countries.mmdb', record));
    const countries = ['81.2.69.142', '203.0.113.7', 'unknown'].map((address) => find(address).country);
    expect(countries).toEqual(['SE', null, null]);
    expect(find('81.2.69.142').location).toBeNull();
  });

  it('is unknown for an IPv6 address, if the database is one of IPv4 addresses alone', () => {
    const record = mmdbMap([['country_code', mmdbText('SE')]]);
    const readCountries = (file: string) => {
      const find = openPlaceFinder(file);
      return ['2001:db8::1', '::ffff:81.2.69.142'].map((address) => find(address).country);
    };
    expect(readCountries(write('ipv4.mmdb', record))).toEqual([null, 'SE']);
    expect(readCountries(write('both.mmdb', record, 6))).toEqual(['SE', 'SE']);
  });

  it('is unknown without a database, and a wrong file is told at the start', () => {
    expect(openPlaceFinder(undefined)('81.2.69.142')).toEqual({ country: null, location: null });
    expect(() => openPlaceFinder(join(directory, 'missing'))).toThrow('GEOIP_DATABASE');
    writeFileSync(join(directory, 'wrong'), 'no database');
    expect(() => openPlaceFinder(join(directory, 'wrong'))).toThrow('GEOIP_DATABASE');
  });

  it.each<[string, [string, number[]][], unknown]>([
    ['with its radius', [['accuracy_radius', mmdbNumber(20)]], { latitude: 59.33, longitude: -18.07, accuracyKm: 20 }],
    ['at no place of the Earth', [['latitude', mmdbDouble(91)]], null],
    ['that is text', [['longitude', mmdbText('18')]], null],
  ])('has a location %s if the database knows it', (_, more, expected) => {
    const location = new Map([['latitude', mmdbDouble(59.3293)], ['longitude', mmdbDouble(-18.0686)], ...more]);
    const record = mmdbMap([['location', mmdbMap([...location])]]);
    expect(openPlaceFinder(write('cities.mmdb', record))('81.2.69.142')).toEqual({ country: null, location: expected });
  });

  it('without a radius is worth 50 km if the database knows the city, and is no place if it is that of a country', () => {
    const location = mmdbMap([
      ['latitude', mmdbDouble(59.3293)],
      ['longitude', mmdbDouble(-18.0686)],
    ]);
    const city = mmdbMap([['names', mmdbMap([['en', mmdbText('Stockholm')]])]]);
    const find = (record: number[]) => openPlaceFinder(write('places.mmdb', record))('81.2.69.142').location;
    const place = { latitude: 59.33, longitude: -18.07, accuracyKm: 50 };
    expect(
      find(
        mmdbMap([
          ['location', location],
          ['city', city],
        ]),
      ),
    ).toEqual(place);
    expect(find(mmdbMap([['location', location]]))).toBeNull();
    expect(
      find(
        mmdbMap([
          ['location', location],
          ['city', mmdbMap([])],
        ]),
      ),
    ).toBeNull();
  });

  it('and its network are read from databases of their own', () => {
    const find = (record: number[]) => openNetworkFinder(write('networks.mmdb', record));
    const findNetwork = find(mmdbMap([['autonomous_system_number', mmdbNumber(16_509)]]));
    expect(['81.2.69.142', '203.0.113.7', 'unknown'].map(findNetwork)).toEqual([16_509, null, null]);
    expect(find(mmdbMap([['autonomous_system_number', mmdbText('AS1')]]))('81.2.69.142')).toBeNull();
    expect(openNetworkFinder(undefined)('81.2.69.142')).toBeNull();
    expect(() => openNetworkFinder(join(directory, 'missing'))).toThrow('ASN_DATABASE');
  });
});

describe('what a platform says of a client', () => {
  const read = (
    country: string | null,
    latitude: string | null,
    longitude: string | null,
    city: string | null = 'Ume%C3%A5',
  ) => readPlatformPlace({ country, latitude, longitude, city });
  const somewhere = { latitude: 59.33, longitude: -18.07, accuracyKm: 50 };

  it('is a country and a place, to a kilometre', () => {
    expect(read('SE', '59.3293', '-18.0686')).toEqual({ country: 'SE', location: somewhere });
    expect(read(null, '-0.001', '0')).toEqual({
      country: null,
      location: { latitude: 0, longitude: 0, accuracyKm: 50 },
    });
  });

  it.each([null, ''])('is no place if the city is %j: then its coordinates are those of the country', (city) => {
    expect(read('SE', '59.3293', '-18.0686', city)).toEqual({ country: 'SE', location: null });
  });

  it.each([
    ['91', '0'],
    ['0', '180.5'],
    ['', '18'],
    [' 59', '18'],
    ['1e1', '18'],
    ['NaN', '18'],
    ['59.33', null],
  ])('is no place if it is %j and %j', (latitude, longitude) => {
    expect(read('Sweden', latitude, longitude)).toEqual({ country: null, location: null });
  });
});
