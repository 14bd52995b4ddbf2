import { expect, it } from 'vitest';
import { writeLocalAddress } from '../../server/platform/local-address';

it.each([
  ['127.0.0.1', 'http://127.0.0.1:3000/'],
  ['0.0.0.0', 'http://localhost:3000/'],
  ['::', 'http://localhost:3000/'],
  ['::1', 'http://[::1]:3000/'],
  ['fe80::1%eth0', 'http://[fe80::1]:3000/'],
  ['server.example.com', 'http://server.example.com:3000/'],
])('a server on %s is opened at %s', (host, address) => {
  expect(new URL(writeLocalAddress(host, 3000)).href).toBe(address);
});
