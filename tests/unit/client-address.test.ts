import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { findClientAddress } from '../../server/rest/client-address';

// Whom our own server takes a request to be from: limits on sign-ins and batches are by this address.

it.each([
  ['127.0.0.1', '198.51.100.7', '198.51.100.7'],
  ['10.1.2.3', '198.51.100.7', '198.51.100.7'],
  ['fd00::1', '2001:db8::1', '2001:db8::1'],
  ['::ffff:172.16.0.9', '198.51.100.7', '198.51.100.7'],
  // The proxy adds the last entry. The ones before it may be invented.
  ['127.0.0.1', '192.0.2.1, 198.51.100.7', '198.51.100.7'],
  ['127.0.0.1', ['192.0.2.1', '198.51.100.7'], '198.51.100.7'],
  // Who is no proxy of ours may write anything into the header.
  ['203.0.113.9', '198.51.100.7', '203.0.113.9'],
  ['2001:db8::9', '198.51.100.7', '2001:db8::9'],
  ['127.0.0.1', 'unknown', '127.0.0.1'],
  ['127.0.0.1', '198.51.100.7,', '127.0.0.1'],
  ['203.0.113.9', undefined, '203.0.113.9'],
  [undefined, '198.51.100.7', ''],
])('a request from %s that names %j is from %s', (remoteAddress, forwarded, address) => {
  const request = { socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } };
  expect(findClientAddress(request as unknown as IncomingMessage)).toBe(address);
});
