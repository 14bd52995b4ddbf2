import { type Deadline, onAbort } from './deadline.js';
import { ConnectionError } from './errors.js';

interface OpenFile {
  body: ReadableStream<Uint8Array>;
  deadline: Deadline;
}

const LINE_END = 10;

/**
 * Reads a file of lines part by part. The deadline limits the wait for each part. Throws if the file breaks off: the connection
 * ends before the body does, or the last line has no end. To leave the loop ends the request.
 */
async function* readParts(open: () => Promise<OpenFile>): AsyncGenerator<Uint8Array, void, undefined> {
  const { body, deadline } = await open();
  const reader = body.getReader();
  let lastByte = LINE_END;
  try {
    for (;;) {
      deadline.restart();
      const { done, value } = await reader.read();
      deadline.pause();
      if (done) break;
      lastByte = value.at(-1) ?? lastByte;
      yield value;
    }
    if (lastByte !== LINE_END) throw new Error('the last line has no end');
  } catch (error) {
    const reason = deadline.explain(error);
    if (!(reason instanceof ConnectionError) || reason.cause === undefined) throw reason;
    throw new ConnectionError('the file broke off, so it is incomplete', { cause: error });
  } finally {
    deadline.end();
    // Ends the request if the reader leaves early; after the end it does nothing.
    await reader.cancel().catch(() => {});
  }
}

/** Reads NDJSON as rows. The request is sent when the first row is asked for. */
export async function* readRows<Row>(open: () => Promise<OpenFile>): AsyncGenerator<Row, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const part of readParts(open)) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n');
    rest = lines.pop()!;
    for (const line of lines) if (line !== '') yield parseLine(line) as Row;
  }
}

/** A proxy may write into a file that breaks off. */
function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new ConnectionError('a line of the file is none of the API', { cause });
  }
}

/**
 * Reads a file as a stream of its bytes. The request is sent when the first bytes are asked for. To cancel the stream ends the
 * request, even while it waits for bytes.
 */
export function streamFile(
  open: (signal: AbortSignal) => Promise<OpenFile>,
  callerSignal: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  const controller = new AbortController();
  const end = onAbort(callerSignal, (reason) => controller.abort(reason));
  const parts = readParts(() => open(controller.signal));
  return new ReadableStream<Uint8Array>(
    {
      async pull(stream) {
        try {
          const { done, value } = await parts.next();
          if (!done) return stream.enqueue(value);
          end();
          stream.close();
        } catch (error) {
          end();
          throw error;
        }
      },
      cancel(reason) {
        end();
        controller.abort(reason);
      },
    },
    // Nothing is read ahead, and nothing is sent before somebody reads.
    { highWaterMark: 0 },
  );
}
