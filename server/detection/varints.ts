/**
 * Whole numbers in little memory: zigzag varints, so most take a byte, as the characters of a string. V8 keeps strings with less
 * overhead than arrays or buffers.
 */
export type PackedNumbers = string;

export function packNumbers(numbers: readonly number[]): PackedNumbers {
  const writer = new ByteWriter();
  for (const number of numbers) writer.writeSigned(number);
  return writer.finish().toString('latin1');
}

/** Does not use ByteReader, which takes longer: a batch of an open session is unpacked several times. */
export function unpackNumbers(packed: PackedNumbers): number[] {
  const numbers: number[] = [];
  for (let at = 0; at < packed.length; ) {
    let byte = packed.charCodeAt(at++);
    let value = byte & 0x7f;
    for (let scale = 0x80; byte >= 0x80; scale *= 0x80) {
      byte = packed.charCodeAt(at++);
      value += (byte & 0x7f) * scale;
    }
    numbers.push(unfold(value));
  }
  return numbers;
}

/** Counts numbers without unpacking them: each ends with a byte below 0x80. */
export function countNumbers(packed: PackedNumbers): number {
  let count = 0;
  for (let at = 0; at < packed.length; at++) if (packed.charCodeAt(at) < 0x80) count++;
  return count;
}

export class EarlyEndError extends Error {
  constructor() {
    super('packed bytes end too early');
  }
}

/** Numbers may have up to 53 bits, so they are divided, not shifted. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(1024);
  #length = 0;

  #reserve(count: number) {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length + count));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }

  writeBytes(bytes: Uint8Array) {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  writeVarint(value: number) {
    this.#reserve(9);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) + 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  writeSigned(value: number) {
    this.writeVarint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }
}

export class ByteReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  readBytes(count: number): Uint8Array {
    const from = this.#at;
    this.#at += count;
    if (this.#at > this.#bytes.length) throw new EarlyEndError();
    return this.#bytes.subarray(from, this.#at);
  }

  /** Reads the numbers up to the end, without unpacking them. The last byte of a number is below 0x80. */
  readPackedNumbers(): PackedNumbers {
    const rest = this.readBytes(this.#bytes.length - this.#at);
    if (rest.length > 0 && rest.at(-1)! >= 0x80) throw new EarlyEndError();
    return Buffer.from(rest).toString('latin1');
  }

  readVarint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new EarlyEndError();
      value += (byte % 0x80) * scale;
      if (byte < 0x80) return value;
    }
  }

  readSigned(): number {
    return unfold(this.readVarint());
  }
}

/** Even numbers stand for 0, 1, 2, …, odd ones for −1, −2, … */
const unfold = (value: number) => (value % 2 === 1 ? -(value + 1) / 2 : value / 2);
