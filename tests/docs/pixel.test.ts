import { execFileSync, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readBlocks } from '../support/documents';

// The programs of docs/pixel.md that customers copy to sign a user's id.

const SECRET = 'an identity secret of the tests';
const USER = 'ada-é-4711';
const EXPECTED = createHmac('sha256', SECRET).update(USER).digest('hex');
const blocks = readBlocks('docs/pixel.md');
const findCode = (language: string, call: string) =>
  blocks.find((block) => block.language === language && block.code.includes(call))!.code;
const isInstalled = (program: string) => spawnSync(program, ['--version']).status === 0;
const run = (program: string, args: string[]) => execFileSync(program, args, { encoding: 'utf8' }).trim();

describe('a signature of docs/pixel.md', () => {
  it('is right in Node', () => {
    const code = `${findCode('js', 'signUser')}\nconsole.log(signUser(${JSON.stringify(SECRET)}, ${JSON.stringify(USER)}))`;
    expect(run(process.execPath, ['--input-type=module', '-e', code])).toBe(EXPECTED);
  });

  it.skipIf(!isInstalled('python3'))('is right in Python', () => {
    const code = `${findCode('python', 'sign_user')}\nprint(sign_user(${JSON.stringify(SECRET)}, ${JSON.stringify(USER)}))`;
    expect(run('python3', ['-c', code])).toBe(EXPECTED);
  });

  it.skipIf(!isInstalled('php'))('is right in PHP', () => {
    const code = `${findCode('php', 'sign_user')}\necho sign_user('${SECRET}', '${USER}');`;
    expect(run('php', ['-r', code])).toBe(EXPECTED);
  });
});

it('docs/pixel.md names every attribute and every stored key of the pixel', () => {
  const text = readFileSync('docs/pixel.md', 'utf8');
  const source = readFileSync('pixel/main.ts', 'utf8');
  const [, names] = /const \{ ([^}]+) \} = script\.dataset/.exec(source)!;
  for (const name of names!.split(',').map((part) => part.trim().split(/[ :]/)[0]!))
    expect(text).toContain(`data-${name}`);
  for (const [, name] of source.matchAll(/if \(name === '(\w+)'\)/g)) expect(text).toContain(`['${name}'`);
});
