import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { requireChromium } from '../../support/browser.mjs';
import type { Subject } from '../subject';
import { findMissingNeeds, PYTHON } from './packages';

export interface PythonDriver {
  /** Names the script too: `drivers/NAME.driver.py`, a name that hides no module of Python. */
  name: string;
  family: string;
  isHeadful: boolean;
  files?: readonly string[];
}

const DRIVERS = fileURLToPath(new URL('../drivers/', import.meta.url));
const DRIVING = fileURLToPath(new URL('.', import.meta.url));

/** Defines a driver that is written in Python. The script reads the visit from the file that its argument names. */
export function drivePython({ name, family, isHeadful, files }: PythonDriver): Subject {
  return {
    ...{ name, family, kind: 'driver', input: 'real', isHeadful },
    findMissing: () => findMissingNeeds({ python: true, isHeadful, files }),
    async act({ url, steps, profile, env }) {
      const file = join(profile, 'visit.json');
      await writeFile(file, JSON.stringify({ url, steps, profile, isHeadful, chromium: requireChromium() }));
      const child = spawn(PYTHON, [`${DRIVERS}${name}.driver.py`, file], {
        env: { ...env, PYTHONPATH: DRIVING, PYTHONDONTWRITEBYTECODE: '1' },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const [[code], errors] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
      if (code !== 0)
        throw new Error(`${name}.py ended with ${code}: ${errors.trim().split('\n').slice(-3).join(' | ')}`);
    },
  };
}
