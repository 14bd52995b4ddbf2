import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { type Block, findDifference, readBlocks } from './documents';
import type { Reader } from './reader';

const BLOCK_LIMIT_MS = 60_000;
const EXPECTED = ['json', 'text'];
const NEEDS_PYTHON = /\bpython3?\b|\bpip3?\b/;

/** Describes that every block of a document does what it says, in order; `json` and `text` after a command are what it prints. */
export function followDocument(document: string, reader: () => Reader) {
  describe(document, () => {
    const blocks = readBlocks(document).filter(({ notRun }) => notRun === null);
    let missing: string | null = null;
    for (const [index, block] of blocks.entries()) {
      if (EXPECTED.includes(block.language)) continue;
      const shown = blocks[index + 1];
      it(
        `line ${block.line}: ${nameBlock(block)}`,
        async (context) => {
          if (NEEDS_PYTHON.test(block.code) || block.language === 'python') {
            missing ??= findMissingPython();
            if (missing) context.skip(missing);
          }
          const printed = await reader().follow(block);
          const isShown = block.language === 'sh' && block.name === null && shown && EXPECTED.includes(shown.language);
          if (isShown && shown.name === null) expect(findDifference(shown, printed), printed).toBeNull();
        },
        BLOCK_LIMIT_MS,
      );
    }
  });
}

const nameBlock = ({ language, name, code }: Block) =>
  language === 'sh'
    ? code
        .split('\n')
        .find((line) => !line.startsWith('#'))!
        .slice(0, 100)
    : `${language} ${name}`;

/** Why no Python runs here, in words; an empty text where one does. */
function findMissingPython(): string {
  if (spawnSync('python3', ['-m', 'venv', '--help']).status !== 0) return 'there is no python3 with venv here';
  const found = spawnSync('python3', ['-m', 'pip', 'install', '--dry-run', '--break-system-packages', '-q', 'httpx']);
  return found.status === 0 ? '' : 'httpx cannot be had here';
}
