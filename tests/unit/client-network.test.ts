import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openCountryFinder, readNetwork } from '../../server/collector/client-network';

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

  // A database in the mmdb format with one node: addresses below 128.0.0.0 are in one country, the others in no known one.
  const text = (value: string) => [0x40 + value.length, ...Buffer.from(value)];
  const map = (entries: [string, number[]][]) => [
    0xe0 + entries.length,
    ...entries.flatMap(([name, value]) => [...text(name), ...value]),
  ];
  const write = (name: string, record: number[]) => {
    const file = join(directory, name);
    const metadata = map([
      ['binary_format_major_version', [0xa1, 2]],
      ['binary_format_minor_version', [0xa0]],
      ['build_epoch', [0x01, 0x02, 1]],
      ['database_type', text('Country')],
      ['ip_version', [0xa1, 4]],
      ['node_count', [0xc1, 1]],
      ['record_size', [0xa1, 24]],
    ]);
    const tree = [0, 0, 1 + 16, 0, 0, 1];
    const marker = [0xab, 0xcd, 0xef, ...Buffer.from('MaxMind.com')];
    writeFileSync(file, Buffer.from([...tree, ...Array(16).fill(0), ...record, ...marker, ...metadata]));
    return file;
  };

  it.each([
    ['MaxMind’s form', map([['country', map([['iso_code', text('SE')]])]])],
    ['the code alone', map([['country_code', text('SE')]])],
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
});
