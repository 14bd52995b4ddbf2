import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openCountryFinder, openNetworkFinder, readNetwork } from '../../server/collector/client-network';
import { mmdbMap, mmdbNumber, mmdbText, writeMmdb } from '../support/mmdb';

const KEY = Buffer.alloc(32, 7);

describe('the network of a client', () => {
  it.each([
    ['203.0.113.77', '203.0.113.0/24'],
    ['::ffff:203.0.113.77', '203.0.113.0/24'],
    ['2001:db8:1:2:3::4', '2001:db8:1::/48'],
    ['::1', '0:0:0::/48'],
  ])('of %s is %s', (address, prefix) => {
    const network = readNetwork(KEY, address);
    expect([network.prefix, network.hash?.length]).toEqual([prefix, 16]);
  });

  it('has a hash that only the same key gives again', () => {
    const hash = (address: string, key = KEY) => readNetwork(key, address).hash!.toString('hex');
    expect(hash('203.0.113.77')).toBe(hash('::ffff:203.0.113.77'));
    expect(new Set([hash('203.0.113.77'), hash('203.0.113.78'), hash('203.0.113.77', Buffer.alloc(32))]).size).toBe(3);
  });

  it('is unknown without an address', () => {
    expect(readNetwork(KEY, 'unknown')).toEqual({ prefix: null, hash: null });
  });
});

describe('the country of a client', () => {
  const directory = mkdtempSync(join(tmpdir(), 'countries-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  const write = (name: string, record: number[]) => writeMmdb(join(directory, name), record);

  it.each([
    ['MaxMind’s form', mmdbMap([['country', mmdbMap([['iso_code', mmdbText('SE')]])]])],
    ['the code alone', mmdbMap([['country_code', mmdbText('SE')]])],
  ])('is read from a database in %s', (_, record) => {
    const findCountry = openCountryFinder(write('countries.mmdb', record));
    expect(['81.2.69.142', '203.0.113.7', 'unknown'].map(findCountry)).toEqual(['SE', null, null]);
  });

  it('is unknown without a database, and a wrong file is told at the start', () => {
    expect(openCountryFinder(undefined)('81.2.69.142')).toBeNull();
    expect(() => openCountryFinder(join(directory, 'missing'))).toThrow('GEOIP_DATABASE');
    writeFileSync(join(directory, 'wrong'), 'no database');
    expect(() => openCountryFinder(join(directory, 'wrong'))).toThrow('GEOIP_DATABASE');
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
