import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ByteReader, ByteWriter, countNumbers, packNumbers, unpackNumbers } from '../../../server/detection/varints';

const BOUNDS = [0, 6, 7, 13, 14, 30, 31, 32, 40, 51].flatMap((bits) => [2 ** bits - 1, 2 ** bits]);

it('packed numbers are read as they were written, and counted', () => {
  const number = fc.oneof(
    fc.integer({ min: -300, max: 300 }),
    fc.integer({ min: -(2 ** 40), max: 2 ** 40 }),
    fc.constantFrom(...BOUNDS, ...BOUNDS.map((bound) => 0 - bound)),
  );
  fc.assert(
    fc.property(fc.array(number, { maxLength: 400 }), (numbers) => {
      const packed = packNumbers(numbers);
      expect(unpackNumbers(packed)).toEqual(numbers);
      expect(countNumbers(packed)).toBe(numbers.length);
    }),
  );
});

it('a number takes a byte from −64 to 63, as one character', () => {
  const small = Array.from({ length: 128 }, (_, n) => n - 64);
  expect(packNumbers(small)).toHaveLength(128);
  expect([-65, 64].map((number) => packNumbers([number]).length)).toEqual([2, 2]);
  expect(packNumbers([0, -1, 1, 64])).toBe('\x00\x01\x02\x80\x01');
});

it('bytes that end within a number are refused', () => {
  const writer = new ByteWriter();
  writer.writeSigned(1_000);
  const whole = writer.finish();
  expect(new ByteReader(whole).readSigned()).toBe(1_000);
  expect(() => new ByteReader(whole.subarray(0, 1)).readSigned()).toThrow('too early');
  expect(new ByteReader(whole).readPackedNumbers()).toBe(packNumbers([1_000]));
  expect(() => new ByteReader(whole.subarray(0, 1)).readPackedNumbers()).toThrow('too early');
});
