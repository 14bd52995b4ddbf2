import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { findChromium } from '../../support/browser.mjs';
import { listMissingPrograms } from '../screen';

// The laboratory's packages are separate, so that the product depends on none of them. `npm run lab -- install` installs
// them where no tool looks for sources.

export const INSTALLED = fileURLToPath(new URL('../../../node_modules/.cache/laboratory/', import.meta.url));
export const PYTHON = join(INSTALLED, 'python/bin/python');
const requireInstalled = createRequire(join(INSTALLED, 'package.json'));

/** Loads a package of the laboratory. Its types are not installed everywhere, so the caller names what it uses. */
export async function loadPackage<Module>(name: string): Promise<Module> {
  const loaded = await import(pathToFileURL(requireInstalled.resolve(name)).href);
  return loaded.default ?? loaded;
}

/** Finds a file of a package of the laboratory by its path from the package's directory. */
export const findPackageFile = (name: string, path: string) => join(INSTALLED, 'node_modules', name, path);

export interface Needs {
  packages?: readonly string[];
  /** Needs Python with the packages of requirements.txt. */
  python?: boolean;
  isHeadful?: boolean;
  /** Programs in their usual places. */
  files?: readonly string[];
}

/** What is missing of it on this machine, in words. */
export function findMissingNeeds({
  packages = [],
  python = false,
  isHeadful = false,
  files = [],
}: Needs): string | null {
  const missing = packages.filter((name) => !existsSync(findPackageFile(name, 'package.json')));
  if (missing.length > 0 || (python && !existsSync(PYTHON)))
    return `${[...missing, ...(python ? ['Python packages'] : [])].join(', ')}: run \`npm run lab -- install\``;
  if (findChromium() === null) return 'Chromium';
  const programs = [...files.filter((path) => !existsSync(path)), ...(isHeadful ? listMissingPrograms() : [])];
  return programs.length > 0 ? programs.join(', ') : null;
}
