import { Connection, type RawAnswer } from './connection';
import type { GeneratedRequest } from './request-generator';

const CHUNK_BYTES = 10_000;

/** Sends a generated request on a new connection, byte for byte, and reads its final answer. */
export async function sendGenerated(url: string, request: GeneratedRequest): Promise<RawAnswer> {
  const { method, target, headers, body, isChunked } = request;
  const connection = await Connection.open(url);
  try {
    const length: Record<string, string> = isChunked
      ? { 'Transfer-Encoding': 'chunked' }
      : body
        ? { 'Content-Length': String(body.length) }
        : {};
    connection.writeHead(method, target, { ...headers, ...length });
    if (body && isChunked) writeChunks(connection, body);
    else if (body) connection.write(body);
    let answer = await connection.read(method !== 'HEAD');
    while (answer.status < 200) answer = await connection.read(method !== 'HEAD');
    return answer;
  } finally {
    connection.close();
  }
}

function writeChunks(connection: Connection, body: Uint8Array) {
  for (let at = 0; at < body.length; at += CHUNK_BYTES) {
    const chunk = body.subarray(at, at + CHUNK_BYTES);
    connection.write(`${chunk.length.toString(16)}\r\n`);
    connection.write(chunk);
    connection.write('\r\n');
  }
  connection.write('0\r\n\r\n');
}
