import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { readPassword } from '../../server/auth/password-input';

/** Types keys into a password prompt. Returns what it read and what the terminal showed. */
async function type(keys: string, isTTY: boolean) {
  const input = Object.assign(new PassThrough(), { isTTY, setRawMode: () => {} });
  const terminal = new PassThrough();
  const read = readPassword(input, terminal);
  input.write(keys);
  if (!isTTY) input.end();
  const password = await read;
  terminal.end();
  return [password, await text(terminal)];
}

describe('on a terminal, a password', () => {
  it.each([
    ['correct horse\r', 'correct horse'],
    ['horsf\x7fe\r', 'horse'],
    ['\r', null],
    ['half\x03', null],
    ['\x04', null],
  ])('is asked for and not shown: %j', async (keys, password) => {
    expect(await type(keys, true)).toEqual([password, 'Password: \n']);
  });
});

describe('from a pipe, a password', () => {
  it.each([
    ['correct horse\nnext\n', 'correct horse'],
    ['correct horse\r\n', 'correct horse'],
    ['no line end', 'no line end'],
    [' with spaces \n', ' with spaces '],
    ['\nsecond', null],
    ['', null],
  ])('is the first line: %j', async (keys, password) => {
    expect(await type(keys, false)).toEqual([password, '']);
  });
});
