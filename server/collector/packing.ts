import { promisify } from 'node:util';
import { constants, createInflateRaw, deflateRaw, deflateRawSync, inflateRawSync } from 'node:zlib';
import type { TraceBatch } from '../detection/trace';
import { ByteReader, ByteWriter, EarlyEndError } from '../detection/varints';

// Batches at rest: their events as packed numbers, the rest as JSON. A batch is packed once, when it arrives, and is joined with
// the others of its session when that closes.

/** Who a page says the visitor is, as far as it may be believed. */
export interface NamedUser {
  id: string;
  name: string | null;
  email: string | null;
  url: string | null;
  context: string | null;
  /** The customer's server signed the id. */
  isSigned: boolean;
  /** The pixel read the id from a page of a learning platform. */
  isFromLms?: true;
}

/** What is kept of a batch. */
export interface KeptBatch extends Omit<TraceBatch, 'u'> {
  user?: NamedUser;
  /** The page names somebody who does not count: erased, without the signature that is needed, or by an id that cannot be kept. Who it is is not kept. */
  hasRefusedUser?: true;
  /** In the first batch of a document: the page's origin, and the device's fingerprint. */
  origin?: string;
  fingerprint?: string;
}

/** What the rows of a batch say themselves. */
type RowFields = Pick<KeptBatch, 'd' | 'n' | 'receivedAtMs'>;
export type BatchContent = Omit<KeptBatch, keyof RowFields>;

const PLAIN = 1;
const DEFLATED = 2;
/** Below this size deflating gains little, and costs more than all else that is done with a batch. */
const MIN_DEFLATED_BYTES = 256;
/**
 * Batches are small, so a small window saves the time to clear a large one. The levels are low because a page chooses the text: zlib
 * looks for the best of many short matches, which takes seconds for some texts at level 9, and ordinary traces get 0.1 % smaller by it.
 */
const BATCH_DEFLATE = { level: 4, windowBits: 12, memLevel: 5 };
const TRACE_DEFLATE = { level: 5 };
/** The most bytes that a packed batch or trace may have when inflated. */
const MAX_BATCH_BYTES = 512 * 1024;
const MAX_TRACE_BYTES = 256 * 1024 * 1024;

/** Packs what a batch holds in addition to its row. */
export function packBatch(content: BatchContent): Buffer {
  const plain = writeContent(content);
  if (plain.length < MIN_DEFLATED_BYTES) return Buffer.concat([Buffer.of(PLAIN), plain]);
  const deflated = deflateRawSync(plain, BATCH_DEFLATE);
  return deflated.length < plain.length
    ? Buffer.concat([Buffer.of(DEFLATED), deflated])
    : Buffer.concat([Buffer.of(PLAIN), plain]);
}

/** Reads a packed batch. */
export function unpackBatch(body: Uint8Array, row: RowFields): KeptBatch {
  return readBatch(row, inflate(body, MAX_BATCH_BYTES));
}

const deflateAside = promisify(deflateRaw);

/** Packs all batches of a closed session. They may be several megabytes, so they are deflated in another thread. */
export async function packTrace(batches: readonly KeptBatch[]): Promise<Buffer> {
  const writer = new ByteWriter();
  let atMs = 0;
  for (const { d, n, receivedAtMs, ...content } of batches) {
    writer.writeBytes(Buffer.from(d, 'hex'));
    writer.writeVarint(n);
    writer.writeSigned(receivedAtMs - atMs);
    atMs = receivedAtMs;
    const plain = writeContent(content);
    writer.writeVarint(plain.length);
    writer.writeBytes(plain);
  }
  return Buffer.concat([Buffer.of(DEFLATED), await deflateAside(writer.finish(), TRACE_DEFLATE)]);
}

/** Reads a packed trace. */
export const unpackTrace = (body: Uint8Array): KeptBatch[] => [...readBatches(inflate(body, MAX_TRACE_BYTES))];

/**
 * Reads the first batches of a packed trace, of which perhaps only the beginning is given: as many as are whole in `maxBytes`
 * when inflated. So it costs no more than that, however large the trace is. A batch is read when it is asked for.
 */
export async function unpackBeginning(body: Uint8Array, maxBytes: number): Promise<Iterable<KeptBatch>> {
  if (body[0] !== DEFLATED) return readBatches(inflate(body, maxBytes));
  return readBatches(await inflateBeginning(body.subarray(1), maxBytes), true);
}

function* readBatches(bytes: Uint8Array, mayEndEarly = false): Generator<KeptBatch> {
  const reader = new ByteReader(bytes);
  let atMs = 0;
  while (!reader.isAtEnd()) {
    let batch: KeptBatch;
    try {
      const d = Buffer.from(reader.readBytes(DOCUMENT_BYTES)).toString('hex');
      const n = reader.readVarint();
      atMs += reader.readSigned();
      batch = readBatch({ d, n, receivedAtMs: atMs }, reader.readBytes(reader.readVarint()));
    } catch (error) {
      if (mayEndEarly && error instanceof EarlyEndError) return;
      throw error;
    }
    yield batch;
  }
}

const DOCUMENT_BYTES = 8;

/** The id of a document as the database's signed number. */
export const toDocumentNumber = (d: string) => Buffer.from(d, 'hex').readBigInt64BE(0).toString();

/** The id of a document from the database's number. */
export function toDocumentId(number: string): string {
  const bytes = Buffer.alloc(DOCUMENT_BYTES);
  bytes.writeBigInt64BE(BigInt(number));
  return bytes.toString('hex');
}

function inflate(body: Uint8Array, maxOutputLength: number): Uint8Array {
  if (body[0] === PLAIN) return body.subarray(1);
  if (body[0] === DEFLATED) return inflateRawSync(body.subarray(1), { maxOutputLength });
  throw new Error('unknown format of a packed batch');
}

const CHUNK_BYTES = 256 * 1024;

/** Inflates at most about `maxBytes`, of a stream that may be cut off. */
function inflateBeginning(deflated: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    // A stream that is cut off gives what it has.
    const stream = createInflateRaw({ chunkSize: CHUNK_BYTES, finishFlush: constants.Z_SYNC_FLUSH });
    const finish = () => resolve(Buffer.concat(pieces));
    stream.on('data', (piece: Buffer) => {
      pieces.push(piece);
      length += piece.length;
      if (length < maxBytes) return;
      finish();
      stream.destroy();
    });
    stream.once('end', finish).once('error', reject).end(deflated);
  });
}

function writeContent({ events, ...rest }: BatchContent): Buffer {
  const writer = new ByteWriter();
  const json = Buffer.from(JSON.stringify(rest));
  writer.writeVarint(json.length);
  writer.writeBytes(json);
  writer.writeBytes(Buffer.from(events, 'latin1'));
  return writer.finish();
}

/**
 * Reads what `writeContent` wrote. The object does not begin with a spread, because then, in Node 20, each one would get its own
 * hidden class, which takes more memory than a small batch.
 */
function readBatch({ d, n, receivedAtMs }: RowFields, content: Uint8Array): KeptBatch {
  const reader = new ByteReader(content);
  const rest = JSON.parse(Buffer.from(reader.readBytes(reader.readVarint())).toString()) as Omit<
    BatchContent,
    'events'
  >;
  return { d, n, receivedAtMs, events: reader.readPackedNumbers(), ...rest };
}
