import { Connection, type RawAnswer } from './connection';

/** A request that no well-behaved client sends. */
export interface OddRequest {
  /** The key to send. Absent: none. */
  key?: string;
  /** Lines of the head in addition to `Host` and the key, in Latin-1. */
  headers?: string[];
  hasHost?: boolean;
  body?: string | Uint8Array;
}

/**
 * Sends a request of exactly these bytes and reads its answer, skipping an interim one. `line` is the first line
 * without the version.
 */
export async function sendOdd(
  url: string,
  line: string,
  { key, headers = [], hasHost = true, body = '' }: OddRequest = {},
): Promise<RawAnswer> {
  const own = [...(hasHost ? ['Host: localhost'] : []), ...(key ? [`Authorization: Bearer ${key}`] : [])];
  const connection = await Connection.open(url);
  try {
    connection.write(Buffer.from(`${[`${line} HTTP/1.1`, ...own, ...headers].join('\r\n')}\r\n\r\n`, 'latin1'));
    connection.write(body);
    const hasBody = !line.startsWith('HEAD ');
    const answer = await connection.read(hasBody);
    return answer.status === 100 ? await connection.read(hasBody) : answer;
  } finally {
    connection.close();
  }
}

const VOLATILE = new Set(['date', 'x-request-id', 'ratelimit']);
/** Headers of framing: Node and Next frame an answer differently. */
const FRAMING = ['connection', 'keep-alive', 'content-length', 'transfer-encoding', 'vary'];

/** What a client sees, without the framing and without what differs between any two requests. */
export function describeAnswer({ status, rawHeaders, text }: RawAnswer) {
  const headers = rawHeaders
    .map(([name, value]): [string, string] => [name.toLowerCase(), value])
    .filter(([name]) => !FRAMING.includes(name));
  return {
    status,
    headers: Object.fromEntries(headers.filter(([name]) => !VOLATILE.has(name))),
    names: headers.map(([name]) => name).sort(),
    text: text.replace(/"timestamp":"[^"]+"/, ''),
  };
}
