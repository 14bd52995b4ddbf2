import { writeFileSync } from 'node:fs';

// Databases in the mmdb format with one node: addresses below 128.0.0.0 have a record, the others have none.

export const mmdbText = (value: string) => [0x40 + value.length, ...Buffer.from(value)];
export const mmdbNumber = (value: number) => [0xc4, ...[24, 16, 8, 0].map((bits) => (value >>> bits) & 0xff)];
export function mmdbDouble(value: number): number[] {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return [0x68, ...bytes];
}
export const mmdbMap = (entries: [string, number[]][]) => [
  0xe0 + entries.length,
  ...entries.flatMap(([name, value]) => [...mmdbText(name), ...value]),
];

/** Writes a database whose one record is given, of IPv4 addresses alone or of both kinds (6), and answers its path. */
export function writeMmdb(file: string, record: number[], ipVersion: 4 | 6 = 4): string {
  const metadata = mmdbMap([
    ['binary_format_major_version', [0xa1, 2]],
    ['binary_format_minor_version', [0xa0]],
    ['build_epoch', [0x01, 0x02, 1]],
    ['database_type', mmdbText('Test')],
    ['ip_version', [0xa1, ipVersion]],
    ['node_count', [0xc1, 1]],
    ['record_size', [0xa1, 24]],
  ]);
  const tree = [0, 0, 1 + 16, 0, 0, 1];
  const marker = [0xab, 0xcd, 0xef, ...Buffer.from('MaxMind.com')];
  writeFileSync(file, Buffer.from([...tree, ...Array(16).fill(0), ...record, ...marker, ...metadata]));
  return file;
}
