import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { findClientAddress, readForwardedAddress } from '../../server/rest/client-address';
import type { Service } from '../../server/service';

// Whom our own server takes a request to be from: limits on sign-ins and batches are by this address.

it.each([
  ['127.0.0.1', '198.51.100.7', '198.51.100.7'],
  ['10.1.2.3', '198.51.100.7', '198.51.100.7'],
  ['fd00::1', '2001:db8::1', '2001:db8::1'],
  ['::ffff:172.16.0.9', '198.51.100.7', '198.51.100.7'],
  // Pods of EKS and machines of Tailscale have addresses that are reserved for carriers.
  ['100.64.3.7', '198.51.100.7', '198.51.100.7'],
  ['::ffff:100.127.255.254', '198.51.100.7', '198.51.100.7'],
  ['100.128.0.1', '198.51.100.7', '100.128.0.1'],
  // The proxy adds the last entry. The ones before it may be invented.
  ['127.0.0.1', '192.0.2.1, 198.51.100.7', '198.51.100.7'],
  ['127.0.0.1', ['192.0.2.1', '198.51.100.7'], '198.51.100.7'],
  // Some gateways name the client's port too.
  ['10.1.2.3', '198.51.100.7:51234', '198.51.100.7'],
  ['10.1.2.3', '192.0.2.1:443, [2001:db8::1]:443', '2001:db8::1'],
  ['10.1.2.3', '[2001:db8::1]', '2001:db8::1'],
  ['10.1.2.3', '[198.51.100.7:51234', '10.1.2.3'],
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

it.each([
  ['198.51.100.7, 192.0.2.1', '198.51.100.7', '192.0.2.1'],
  ['198.51.100.7:51234, [2001:db8::1]:443', '198.51.100.7', '2001:db8::1'],
  ['[2001:db8::1]:443, 192.0.2.1:80', '2001:db8::1', '192.0.2.1'],
])(
  'a request that names %j is from %s on Vercel, and from %s behind a proxy of plain Next',
  (forwarded, first, last) => {
    const headers = new Headers({ 'x-forwarded-for': forwarded });
    const read = (env: object) => readForwardedAddress({ env, isSelfHosted: false } as Service, headers);
    expect(read({ VERCEL: '1' })).toBe(first);
    expect(read({})).toBe(last);
  },
);
