import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createWebhookClient, type PostResult } from '../../server/webhooks/http-client';
import { judgeAttempt } from '../../server/webhooks/retry-schedule';
import { detours, dialled, resetConnector } from '../support/connector';
import { type DnsRecord, type DnsServer, startDnsServer } from '../support/dns-server';
import { answer, ok, type RawReceiver, type Reply, startRawReceiver } from '../support/raw-receiver';
import vectors from '../vectors/ssrf.json';

// The address rules (specification: Endpoints, rule 7; decisions: URL and address rules) against real DNS answers. Any
// dialled address would lead to a receiver here, which counts its connections.

vi.mock('node:net', async (original) => (await import('../support/connector')).divertNet(await original()));
vi.mock('node:tls', async (original) => (await import('../support/connector')).divertTls(await original()));

const PUBLIC = '1.1.1.1';
const PUBLIC_IPV6 = '2606:4700:4700::1111';
const METADATA = '169.254.169.254';
const RETRY_DELAYS_MS = [0, 60_000];

let dns: DnsServer;
/** The same for tests of silence: it tries only once, so that they end sooner. */
let impatient: DnsServer;
const cleanups: (() => unknown)[] = [];
beforeAll(async () => {
  [dns, impatient] = await Promise.all([startDnsServer(), startDnsServer({ tries: 1 })]);
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  dns.queries.length = 0;
  resetConnector();
});
afterAll(() => Promise.all([dns.stop(), impatient.stop()]));

/** Makes a client that posts to a name. Every address in `addresses` leads to the one receiver. */
async function setUp({
  addresses = [] as string[],
  reply = ok as Reply,
  allowedHosts = [] as string[],
  names = dns,
} = {}) {
  const receiver = await startRawReceiver(reply);
  cleanups.push(() => receiver.stop());
  for (const address of addresses) detours.set(address, receiver.port);
  const client = createWebhookClient({ allowedHosts: new Set(allowedHosts), resolve: names.resolve });
  cleanups.push(() => client.close());
  const post = (url = 'http://hooks.example.com/', timeoutMs = 5_000) =>
    client.post({ url, headers: {}, body: '{}', timeoutMs });
  return { receiver, post };
}

const answered = (address: string): PostResult => ({ kind: 'response', status: 200, address, retryAfter: null });
const refused = (address: string | null): PostResult => ({ kind: 'refused-address', address });
const failed = (reason: string): PostResult => ({ kind: 'network', address: null, reason });
const judge = (result: PostResult) => {
  if (result.kind === 'aborted') throw new Error('aborted');
  return judgeAttempt(result, 1, RETRY_DELAYS_MS);
};
const BLOCKED = { status: 'PermanentFailure', failureClass: 'BlockedSsrf', retryDelayMs: null };
const RETRIED = { status: 'Pending', retryDelayMs: 60_000 };
const asked = (name = 'hooks.example.com') =>
  dns.queries.flatMap((query) => (query.name === name ? [`${query.type} ${query.transport}`] : [])).sort();

async function expectBlocked(result: PostResult, address: string, receiver: RawReceiver) {
  expect(result).toEqual(refused(address));
  expect(judge(result)).toEqual(BLOCKED);
  expect(dialled).toEqual([]);
  await sleep(5);
  expect(receiver.sockets).toEqual([]);
}

/** Sets the records of one name. Other names do not exist. */
const setRecords = (...records: DnsRecord[]) => {
  dns.answer = ({ name }) => (name === 'hooks.example.com' ? records : { rcode: 'NXDOMAIN' });
};

describe('the name server of the tests', () => {
  it('answers as set, over UDP and TCP', async () => {
    setRecords(PUBLIC, PUBLIC_IPV6);
    expect(await dns.resolve('hooks.example.com')).toEqual([PUBLIC, PUBLIC_IPV6]);
    expect(asked()).toEqual(['A udp', 'AAAA udp']);
    await expect(dns.resolve('other.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    dns.queries.length = 0;
    dns.answer = () => ({ records: [PUBLIC], truncated: true });
    expect(await dns.resolve('hooks.example.com')).toEqual([PUBLIC]);
    expect(asked()).toEqual(['A tcp', 'A udp', 'AAAA tcp', 'AAAA udp']);
  });
});

describe('the address of an attempt is judged and then dialled', () => {
  it('from one look-up per attempt: a name that rebinds within the attempt leads to the judged address', async () => {
    const { receiver, post } = await setUp({ addresses: [PUBLIC, METADATA] });
    const counts = { A: 0, AAAA: 0, other: 0 };
    dns.answer = ({ type }) => (counts[type]++ === 0 ? [PUBLIC] : [METADATA]);
    expect(await post()).toEqual(answered(PUBLIC));
    expect(asked()).toEqual(['A udp', 'AAAA udp']);
    expect(dialled).toEqual([`${PUBLIC} 80`]);
    expect(receiver.requests[0]?.head).toContain('\r\nhost: hooks.example.com\r\n');
  });

  it('with a new look-up for each connection: a name that rebinds between attempts is refused', async () => {
    const { receiver, post } = await setUp({
      addresses: [PUBLIC, METADATA],
      reply: (socket) => socket.end(answer(200, '', 'connection: close\r\n')),
    });
    setRecords(PUBLIC);
    expect(await post()).toEqual(answered(PUBLIC));
    setRecords(METADATA);
    const result = await post();
    expect(result).toEqual(refused(METADATA));
    expect(judge(result)).toEqual(BLOCKED);
    expect([dialled, receiver.sockets.length]).toEqual([[`${PUBLIC} 80`], 1]);
    expect(asked()).toEqual(['A udp', 'A udp', 'AAAA udp', 'AAAA udp']);
  });

  it('with one look-up even if the judged addresses fail one after the other', async () => {
    const addresses = [PUBLIC, '1.0.0.1', PUBLIC_IPV6];
    const { receiver, post } = await setUp({ addresses });
    receiver.stop();
    setRecords(...addresses);
    expect(await post()).toEqual({ kind: 'network', address: PUBLIC_IPV6, reason: 'ECONNREFUSED' });
    expect(dialled).toEqual(addresses.map((address) => `${address} 80`));
    expect(asked()).toEqual(['A udp', 'AAAA udp']);
  });

  it('up to ten addresses: a failed attempt does not try every address of a name', async () => {
    const addresses = Array.from({ length: 200 }, (_, n) => `1.2.3.${n}`);
    const { receiver, post } = await setUp({ addresses });
    receiver.stop();
    setRecords(...addresses);
    expect(await post()).toMatchObject({ kind: 'network', reason: 'ECONNREFUSED' });
    expect(dialled).toEqual(addresses.slice(0, 10).map((address) => `${address} 80`));
  });

  it('over TLS too, and the name is not looked up again for the handshake', async () => {
    const { receiver, post } = await setUp({ addresses: [PUBLIC, METADATA] });
    const counts = { A: 0, AAAA: 0, other: 0 };
    dns.answer = ({ type }) => (counts[type]++ === 0 ? [PUBLIC] : [METADATA]);
    // The receiver does not speak TLS, so the handshake waits for it.
    expect(await post('https://hooks.example.com/', 300)).toEqual({
      kind: 'timeout',
      address: PUBLIC,
      awaited: 'connection',
    });
    expect(dialled).toEqual([`${PUBLIC} 443`]);
    expect(asked()).toEqual(['A udp', 'AAAA udp']);
    expect(receiver.requests).toEqual([]);
  });
});

describe('a name that leads to a forbidden address is blocked permanently, and nothing is contacted', () => {
  it.each(vectors.rejectAddresses)('%s of the shared vectors', async (address) => {
    const { receiver, post } = await setUp({ addresses: vectors.rejectAddresses });
    setRecords(address);
    const result = await post();
    // Resolvers may spell addresses differently.
    const [spelled] = await dns.resolve('hooks.example.com');
    await expectBlocked(result, spelled!, receiver);
  });

  it.each<[string, string[], string]>([
    ['the private one last', [PUBLIC, '10.0.0.1'], '10.0.0.1'],
    ['the private one first', ['10.0.0.1', PUBLIC], '10.0.0.1'],
    [
      'the private one among many',
      [...Array.from({ length: 40 }, (_, n) => `1.1.2.${n}`), '192.168.0.9'],
      '192.168.0.9',
    ],
    ['a public IPv4, a private IPv6', [PUBLIC, 'fd00::1'], 'fd00::1'],
    ['a private IPv4, a public IPv6', [PUBLIC_IPV6, '127.0.0.1'], '127.0.0.1'],
    ['metadata of a cloud', [PUBLIC, METADATA], METADATA],
  ])('mixed answers as a whole: %s', async (_what, records, forbidden) => {
    const { receiver, post } = await setUp({ addresses: records });
    setRecords(...records);
    await expectBlocked(await post(), forbidden, receiver);
  });

  it.each<[string, DnsRecord[], string]>([
    [
      'an alias of a private name',
      [
        { owner: 'hooks.example.com', alias: 'db.internal' },
        { owner: 'db.internal', address: '10.0.0.5' },
      ],
      '10.0.0.5',
    ],
    [
      'an alias of localhost',
      [
        { owner: 'hooks.example.com', alias: 'localhost' },
        { owner: 'localhost', address: '127.0.0.1' },
      ],
      '127.0.0.1',
    ],
    [
      'a chain of aliases',
      [
        { owner: 'hooks.example.com', alias: 'a.cdn.example' },
        { owner: 'a.cdn.example', alias: 'b.cdn.example' },
        { owner: 'b.cdn.example', address: METADATA },
      ],
      METADATA,
    ],
    ['an IPv4-mapped private IPv6', ['::ffff:10.0.0.1'], '::ffff:10.0.0.1'],
    ['an IPv4-mapped public IPv6', ['::ffff:1.1.1.1'], '::ffff:1.1.1.1'],
    ['an IPv6 that embeds metadata (NAT64)', ['64:ff9b::a9fe:a9fe'], '64:ff9b::a9fe:a9fe'],
    ['loopback by IPv6 alone', ['::1'], '::1'],
  ])('%s', async (_what, records, forbidden) => {
    const { receiver, post } = await setUp({ addresses: [PUBLIC, '10.0.0.5', '127.0.0.1', '::1', METADATA] });
    setRecords(...records);
    await expectBlocked(await post(), forbidden, receiver);
  });

  it('one forbidden address at the end of an answer of 1,500 addresses, which comes over TCP', async () => {
    const many = Array.from({ length: 1_500 }, (_, n) => `1.2.${n >> 8}.${n & 255}`);
    const { receiver, post } = await setUp({ addresses: [...many, '10.0.0.1'] });
    setRecords(...many, '10.0.0.1');
    await expectBlocked(await post(), '10.0.0.1', receiver);
    expect(asked()).toEqual(['A tcp', 'A udp', 'AAAA udp']);
  });

  it('even if attempts at the same moment share the look-up', async () => {
    const { receiver, post } = await setUp({ addresses: [PUBLIC, '10.0.0.1'] });
    dns.answer = () => ({ records: [PUBLIC, '10.0.0.1'], afterMs: 30 });
    for (const result of await Promise.all([post(), post(), post()])) expect(result).toEqual(refused('10.0.0.1'));
    expect([dialled, receiver.sockets]).toEqual([[], []]);
    expect(asked()).toEqual(['A udp', 'AAAA udp']);
  });
});

describe('a name with only IPv6 addresses', () => {
  it('is judged and dialled like any other', async () => {
    const { post } = await setUp({ addresses: [PUBLIC_IPV6] });
    setRecords(PUBLIC_IPV6);
    expect(await post()).toEqual(answered(PUBLIC_IPV6));
    expect(dialled).toEqual([`${PUBLIC_IPV6} 80`]);
  });

  it('reaches ::1 only if host and port are allowed', async () => {
    const receiver = await startRawReceiver(ok, { host: '::1' });
    cleanups.push(() => receiver.stop());
    const { post } = await setUp({ allowedHosts: [`hooks.example.com:${receiver.port}`] });
    setRecords('::1');
    expect(await post(`http://hooks.example.com:${receiver.port}/`)).toEqual(answered('::1'));
    expect(await post()).toEqual(refused('::1'));
    expect(receiver.requests.length).toBe(1);
  });
});

describe('a look-up that fails is class Network, retried, and nothing is contacted', () => {
  it.each<[string, string, DnsServer['answer']]>([
    ['an empty answer', 'ENOTFOUND', () => []],
    ['a name that does not exist', 'ENOTFOUND', () => ({ rcode: 'NXDOMAIN' })],
    ['an alias without an address', 'ENOTFOUND', () => [{ owner: 'hooks.example.com', alias: 'gone.example' }]],
    [
      'aliases in a circle',
      'ENOTFOUND',
      () => [
        { owner: 'hooks.example.com', alias: 'other.example.com' },
        { owner: 'other.example.com', alias: 'hooks.example.com' },
      ],
    ],
    ['a server failure', 'EAI_AGAIN', () => ({ rcode: 'SERVFAIL' })],
    ['a refusal', 'EAI_AGAIN', () => ({ rcode: 'REFUSED' })],
    ['silence', 'EAI_AGAIN', () => null],
    ['garbage', 'EAI_AGAIN', () => ({ raw: Buffer.from('no answer at all, only text') })],
    ['a cut header', 'EAI_AGAIN', () => ({ raw: Buffer.from([0, 1, 0x81]) })],
    [
      'a cut answer that TCP does not complete',
      'EAI_AGAIN',
      ({ transport }) => (transport === 'udp' ? { truncated: true } : { raw: Buffer.from([1, 2, 3]) }),
    ],
  ])('%s', async (_what, code, reply) => {
    const { receiver, post } = await setUp({ addresses: [PUBLIC], names: impatient });
    impatient.answer = reply;
    const result = await post();
    expect(result).toEqual(failed(code));
    expect(judge(result)).toEqual({ ...RETRIED, failureClass: 'Network' });
    expect([dialled, receiver.sockets]).toEqual([[], []]);
  });

  it('unless the other family has an address', async () => {
    const { post } = await setUp({ addresses: [PUBLIC] });
    dns.answer = ({ type }) => (type === 'A' ? [PUBLIC] : { rcode: 'SERVFAIL' });
    expect(await post()).toEqual(answered(PUBLIC));
  });

  it('and the next attempt looks up again', async () => {
    const { post } = await setUp({ addresses: [PUBLIC] });
    dns.answer = () => ({ rcode: 'SERVFAIL' });
    expect(await post()).toEqual(failed('EAI_AGAIN'));
    setRecords(PUBLIC);
    expect(await post()).toEqual(answered(PUBLIC));
  });
});

describe('a slow look-up', () => {
  const slowly = (afterMs: number) => () => ({ records: [PUBLIC], afterMs });

  it('counts towards the timeout of the attempt, which is class Timeout, retried', async () => {
    const { post } = await setUp({ addresses: [PUBLIC] });
    dns.answer = slowly(3_000);
    const from = performance.now();
    const result = await post(undefined, 100);
    expect(performance.now() - from).toBeLessThan(2_500);
    expect(result).toEqual({ kind: 'timeout', address: null, awaited: 'name' });
    expect(judge(result)).toEqual({ ...RETRIED, failureClass: 'Timeout' });
  });

  it('has no effect after the timeout: nothing is dialled', async () => {
    const { receiver, post } = await setUp({ addresses: [PUBLIC] });
    dns.answer = slowly(150);
    expect(await post('http://late.example.com/', 50)).toEqual({ kind: 'timeout', address: null, awaited: 'name' });
    await sleep(300);
    expect(asked('late.example.com')).toEqual(['A udp', 'AAAA udp']);
    expect([dialled, receiver.sockets]).toEqual([[], []]);
  });

  it('leaves only the remaining time to the receiver', async () => {
    const { post } = await setUp({
      addresses: [PUBLIC],
      reply: (socket) => setTimeout(() => ok(socket, null!, 0), 900),
    });
    dns.answer = slowly(150);
    expect(await post(undefined, 1_000)).toEqual({ kind: 'timeout', address: PUBLIC, awaited: 'answer' });
    expect(await post(undefined, 10_000)).toEqual(answered(PUBLIC));
  });

  it('does not delay another host', async () => {
    const { post } = await setUp({ addresses: [PUBLIC] });
    dns.answer = ({ name }) => (name === 'slow.example.com' ? slowly(600)() : [PUBLIC]);
    const order: string[] = [];
    const slow = post('http://slow.example.com/', 15_000).finally(() => order.push('slow'));
    expect(await post().finally(() => order.push('other'))).toEqual(answered(PUBLIC));
    expect(await slow).toEqual(answered(PUBLIC));
    expect(order).toEqual(['other', 'slow']);
  });
});
