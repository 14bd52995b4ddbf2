import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { createServer, isIPv6, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';
import type { Resolve } from '../../server/webhooks/checked-connection';
import { findFreePort } from './ports';

export interface DnsQuery {
  /** In lower case. */
  name: string;
  type: 'A' | 'AAAA' | 'other';
  transport: 'udp' | 'tcp';
}

/** An address, answered if its type is asked for, or an alias, always answered. */
export type DnsRecord = string | { owner: string; address: string } | { owner: string; alias: string };

export interface DnsReply {
  records?: DnsRecord[];
  rcode?: keyof typeof RCODES;
  /** Says that the answer continues over TCP, and gives no records. Answers over 1,232 bytes are truncated anyway. */
  truncated?: boolean;
  afterMs?: number;
  /** Bytes to send instead of an answer. */
  raw?: Buffer;
}

export interface DnsServer {
  /** Decides the answer: records, a detailed reply, or null for silence. */
  answer: (query: DnsQuery) => DnsRecord[] | DnsReply | null;
  queries: DnsQuery[];
  /** Looks names up here instead of in the operating system. */
  resolve: Resolve;
  stop(): Promise<void>;
}

const RCODES = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 };
const TYPES: Record<number, 'A' | 'AAAA'> = { 1: 'A', 28: 'AAAA' };
const TYPE_CNAME = 5;
/** How long a resolver waits before it asks again. With a quick server it soon waits less, and then twice as long. */
const ASK_AGAIN_AFTER_MS = 400;
const MAX_UDP_BYTES = 1_232;
const HEADER_BYTES = 12;

/**
 * Starts a name server on the loopback, over UDP and TCP, that answers as a test decides. `tries` is how often its
 * look-up asks.
 */
export async function startDnsServer({ tries = 5 } = {}): Promise<DnsServer> {
  const port = await findFreePort();
  const udp = createSocket('udp4');
  const connections: Socket[] = [];
  const tcp = createServer((socket) => {
    connections.push(socket);
    let buffered = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', async (chunk) => {
      buffered = Buffer.concat([buffered, chunk]);
      while (buffered.length >= 2 && buffered.length >= 2 + buffered.readUInt16BE(0)) {
        const message = buffered.subarray(2, 2 + buffered.readUInt16BE(0));
        buffered = buffered.subarray(2 + message.length);
        const bytes = await reply(message, 'tcp');
        if (bytes && !socket.destroyed) socket.write(Buffer.concat([uint16(bytes.length), bytes]));
      }
    });
  });
  let isStopped = false;
  /** Replies by question and number. A resolver that asks again gets the same reply, and is not counted twice. */
  const replies = new Map<string, { answer: DnsServer['answer']; reply: DnsReply | null }>();

  async function reply(message: Buffer, transport: DnsQuery['transport']): Promise<Buffer | null> {
    const question = readQuestion(message);
    const query: DnsQuery = { name: question.name.toLowerCase(), type: question.type, transport };
    const key = `${transport} ${message.readUInt16BE(0)} ${query.type} ${query.name}`;
    let entry = replies.get(key);
    if (entry?.answer !== server.answer) {
      server.queries.push(query);
      const decided = server.answer(query);
      entry = { answer: server.answer, reply: Array.isArray(decided) ? { records: decided } : decided };
      replies.set(key, entry);
    }
    const full = entry.reply;
    if (full?.afterMs) await sleep(full.afterMs);
    if (full === null || isStopped) return null;
    return full.raw ?? writeAnswer(message, question, full, transport);
  }

  udp.on('message', async (message, { port: from, address }) => {
    const bytes = await reply(message, 'udp');
    if (bytes && !isStopped) udp.send(bytes, from, address);
  });
  await new Promise<void>((bound) => udp.bind(port, '127.0.0.1', bound));
  await new Promise<void>((listening) => tcp.listen(port, '127.0.0.1', listening));

  const resolver = new Resolver({ timeout: ASK_AGAIN_AFTER_MS, tries });
  resolver.setServers([`127.0.0.1:${port}`]);
  const server: DnsServer = {
    answer: () => ({ rcode: 'NXDOMAIN' }),
    queries: [],
    resolve: (hostname) => lookUp(resolver, hostname),
    async stop() {
      isStopped = true;
      resolver.cancel();
      for (const socket of connections) socket.destroy();
      await Promise.all([new Promise<void>((closed) => udp.close(closed)), new Promise((closed) => tcp.close(closed))]);
    },
  };
  return server;
}

/**
 * Does what getaddrinfo does for the product's look-up: asks for IPv4 and IPv6 at once and takes what there is. A name
 * without any address is not found; any other error is a temporary failure.
 */
async function lookUp(resolver: Resolver, hostname: string): Promise<string[]> {
  const results = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  if (addresses.length > 0) return addresses;
  const codes = results.map((result) => (result.status === 'rejected' ? result.reason.code : 'ENODATA'));
  const code = codes.every((each) => each === 'ENOTFOUND' || each === 'ENODATA') ? 'ENOTFOUND' : 'EAI_AGAIN';
  throw Object.assign(new Error(`${code} ${hostname}`), { code });
}

interface Question {
  name: string;
  type: DnsQuery['type'];
  /** The bytes as they arrived, because a resolver compares them. */
  bytes: Buffer;
}

function readQuestion(message: Buffer): Question {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = TYPES[message.readUInt16BE(at + 1)] ?? 'other';
  return { name: labels.join('.'), type, bytes: message.subarray(HEADER_BYTES, at + 5) };
}

function writeAnswer(message: Buffer, question: Question, reply: DnsReply, transport: DnsQuery['transport']): Buffer {
  const records = (reply.records ?? []).flatMap((record) => writeRecord(record, question) ?? []);
  const length = HEADER_BYTES + question.bytes.length + Buffer.concat(records).length;
  const isCut = transport === 'udp' && (reply.truncated === true || length > MAX_UDP_BYTES);
  const given = isCut ? [] : records;
  // Flags: an answer, recursion desired and available.
  const flags = 0x8180 | (isCut ? 0x0200 : 0) | RCODES[reply.rcode ?? 'NOERROR'];
  const header = Buffer.concat([message.subarray(0, 2), ...[flags, 1, given.length, 0, 0].map(uint16)]);
  return Buffer.concat([header, question.bytes, ...given]);
}

function writeRecord(record: DnsRecord, question: Question): Buffer | null {
  const { owner, ...value } = typeof record === 'string' ? { owner: question.name, address: record } : record;
  if ('alias' in value) return joinRecord(owner, TYPE_CNAME, writeName(value.alias));
  const type = isIPv6(value.address) ? 'AAAA' : 'A';
  if (type !== question.type) return null;
  return joinRecord(owner, type === 'A' ? 1 : 28, Buffer.from(ipaddr.parse(value.address).toByteArray()));
}

/** Writes a record of class IN that must not be cached. */
const joinRecord = (owner: string, type: number, data: Buffer) =>
  Buffer.concat([writeName(owner), uint16(type), uint16(1), uint16(0), uint16(0), uint16(data.length), data]);

const writeName = (name: string) =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ]);

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
