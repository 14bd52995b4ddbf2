import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EVENT_TYPE_NAMES, EVENTS, type EventTypeName } from '../../contract/events';
import { type Block, DOCUMENTS, findDifference, LINKED_DOCUMENTS, readBlocks } from '../support/documents';

// Rules for the code blocks of all documents: a test runs each one, or the block says why not.

const PROGRAMS = ['js', 'ts', 'python'];
const SHOWN = ['json', 'text'];
/** Configuration of other programs, shown for reading only. */
const CONFIGURATION = ['ini', 'nginx', 'yaml'];
/** The names that a block of `sh` may have after its language. */
const WAYS = ['keep-running', 'server-stopped'];
/**
 * What no test can run, because it needs a machine, a network, an address or an account, or is the test command itself.
 */
const UNTRIED =
  /^(docker|podman|vercel|npx vercel|sudo|apt-get|systemctl|export|npm install && npm test$|curl .*https:[\w./-]+\.example\.com\b)/;

const blocks = DOCUMENTS.flatMap(readBlocks);
const list = (chosen: Block[]) => chosen.map(({ document, line, language }) => `${document}:${line} ${language}`);

/** Lists the commands of a shell block. Continued lines are joined. */
const readCommands = ({ code }: Block) =>
  code
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#') && !line.startsWith(' '));

describe('a block of the documents', () => {
  it('exists', () => {
    expect(DOCUMENTS.length).toBeGreaterThanOrEqual(4);
    expect(blocks.length).toBeGreaterThan(30);
  });

  it('is in a document that a test follows', () => {
    const tests = readdirSync('tests/docs').map((name) => readFileSync(join('tests/docs', name), 'utf8'));
    const withBlocks = [...new Set(blocks.map(({ document }) => document))];
    expect(withBlocks.filter((path) => !tests.some((text) => text.includes(`'${path}'`)))).toEqual([]);
  });

  it('has a known language', () => {
    const known = ['sh', ...PROGRAMS, ...SHOWN, ...CONFIGURATION];
    expect(list(blocks.filter(({ language }) => !known.includes(language)))).toEqual([]);
  });

  it('is named after a file if it is a program, and in a known way if it is a command', () => {
    const isCalledWrong = ({ language, name }: Block) =>
      language === 'sh'
        ? name !== null && !WAYS.includes(name)
        : PROGRAMS.includes(language) && !/^[\w-]+\.(mjs|ts|py)$/.test(name ?? '');
    expect(list(blocks.filter(isCalledWrong))).toEqual([]);
  });

  it('is left out only if no test can run it', () => {
    const marked = blocks.filter(({ notRun }) => notRun !== null);
    const isAllowed = (block: Block) =>
      CONFIGURATION.includes(block.language) ||
      (block.language === 'sh' && readCommands(block).every((command) => UNTRIED.test(command)));
    expect(list(marked.filter((block) => !isAllowed(block)))).toEqual([]);
    const isConfiguration = ({ language, notRun }: Block) => CONFIGURATION.includes(language) && notRun === null;
    expect(list(blocks.filter(isConfiguration)), 'files of other programs say why they are not run').toEqual([]);
  });

  it('of JSON is valid JSON, and the sample payload if it is named after an event', () => {
    for (const { document, line, name, code } of blocks.filter(({ language }) => language === 'json')) {
      const value = JSON.parse(code);
      if (name === null) continue;
      expect(EVENT_TYPE_NAMES, `${document}:${line}`).toContain(name);
      expect(value, `${document}:${line}`).toEqual(EVENTS[name as EventTypeName].sample);
    }
  });
});

describe('what a command printed', () => {
  const differ = (language: string, code: string, printed: string) =>
    findDifference({ document: '', line: 1, language, name: null, code, notRun: null }, printed);

  it('is compared by keys and types', () => {
    expect(differ('json', '{"a":[{"b":1}],"c":null}', '{"a":[{"b":2},{"b":3}],"c":"x"}')).toBeNull();
    expect(differ('json', '{"a":1}', '{"a":"1"}')).toBe('$.a is of type string instead of number');
    expect(differ('json', '{"a":1}', '{"a":1,"b":2}')).toBe('$ has the keys a b instead of a');
    expect(differ('json', '{"a":[{"b":1}]}', '{"a":[{"b":1},{}]}')).toBe('$.a[1] has the keys  instead of b');
    expect(differ('json', '[1]', '[]')).toBe('$ is empty');
    expect(differ('json', '[1,"a"]', '["b",2]')).toBeNull();
    expect(differ('json', '[1,"a"]', '["b",true]')).toBe('$[1] is of type boolean instead of number');
  });

  it('is compared line by line, where … stands for anything', () => {
    expect(differ('text', '… bots\n404 NOT_FOUND', '17 bots\n404 NOT_FOUND\nmore\n')).toBeNull();
    expect(differ('text', '… bots', '17 cats')).toBe('line 1 is "17 cats" instead of "… bots"');
    expect(differ('text', 'a.c', 'abc')).not.toBeNull();
  });
});

describe('a link of the documents', () => {
  const anchorOf = (heading: string) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
  const links = LINKED_DOCUMENTS.flatMap((document) => {
    const prose = readFileSync(document, 'utf8').replaceAll(/^ *```.*?^ *```$/gms, '');
    return [...prose.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(([, a, b]) => ({
      document,
      to: (a ?? b)!,
    }));
  });

  it('leads to a file of the repository, and to a heading in it', () => {
    expect(links.length).toBeGreaterThan(10);
    const isDead = ({ document, to }: { document: string; to: string }) => {
      if (/^https?:/.test(to)) return false;
      const [path, anchor] = to.split('#');
      const file = path === '' ? document : normalize(join(dirname(document), path!));
      if (!existsSync(file)) return true;
      if (anchor === undefined) return false;
      const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!));
      return !headings.includes(anchor);
    };
    expect(links.filter(isDead)).toEqual([]);
  });
});
