import { Connection, type RawAnswer } from './connection';

/** A request that no well-behaved client sends. */
export interface OddRequest {
  /** The key it comes with; absent for none. */
  key?: string;
  /** Lines of the head besides `Host` and the key, in Latin-1. */
  headers?: string[];
  hasHost?: boolean;
  body?: string | Uint8Array;
}

/** The answer to a request of exactly these bytes, an interim one aside. `line` is the first line but for the version. */
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
/** Node and Next each frame an answer in their own way. */
const FRAMING = ['connection', 'keep-alive', 'content-length', 'transfer-encoding', 'vary'];

/** All that a client sees, apart from the framing and from what differs between any two requests. */
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
