import { existsSync, readFileSync } from 'node:fs';

/** A package of package-lock.json. An optional one may be for another platform; then it is not installed here. */
export interface LockedPackage {
  /** Where it is installed: `node_modules/a/node_modules/b`. */
  path: string;
  name: string;
  version: string;
  /** An SPDX expression, or what its author wrote instead. Null if it names no licence. */
  licence: string | null;
  /** Installed without development packages, on every platform. */
  isProduction: boolean;
  hasInstallScript: boolean;
  /** Where it was fetched from, if the file says so. */
  resolved: string | null;
  /** Packages that it requires, or uses if the platform fits. */
  asksFor: string[];
}

type Entry = {
  name?: string;
  version: string;
  license?: string;
  resolved?: string;
  dev?: true;
  optional?: true;
  devOptional?: true;
  hasInstallScript?: true;
  dependencies?: object;
  optionalDependencies?: object;
};

/** Reads the packages of the lock file, and the licences of the installed ones from their own files. */
export function readLockedPackages(): LockedPackage[] {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Entry> };
  const entries = Object.entries(lock.packages).filter(([path]) => path !== '');
  return entries.map(([path, entry]) => ({
    path,
    name: entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
    version: entry.version,
    licence: readLicence(path) ?? entry.license ?? null,
    isProduction: !entry.dev && !entry.optional && !entry.devOptional,
    hasInstallScript: entry.hasInstallScript === true,
    resolved: entry.resolved ?? null,
    asksFor: Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }),
  }));
}

function readLicence(path: string): string | null {
  const file = `${path}/package.json`;
  if (!existsSync(file)) return null;
  const { license } = JSON.parse(readFileSync(file, 'utf8')) as { license?: unknown };
  return typeof license === 'string' ? license : null;
}

/**
 * Finds packages that others ask for and the file does not contain, as `path → name`: `npm ci` refuses a file with such
 * a gap.
 */
export function findMissingPackages(packages: Pick<LockedPackage, 'path' | 'asksFor'>[]): string[] {
  const paths = new Set(packages.map(({ path }) => path));
  /** Node looks for a package next to the one that asks, then one level up, and so on. */
  function isHeld(from: string, name: string): boolean {
    if (paths.has(`${from === '' ? '' : `${from}/`}node_modules/${name}`)) return true;
    return from !== '' && isHeld(from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))), name);
  }
  return packages.flatMap(({ path, asksFor }) =>
    asksFor.filter((name) => !isHeld(path, name)).map((name) => `${path} → ${name}`),
  );
}

/** Licences that bind what uses the package, and no licence at all, which allows nothing. */
const FORBIDDEN = /\b[AL]?GPL|\bSSPL|\bBUSL|^UNLICENSED$|^SEE LICEN[CS]E/i;

/** Finds the packages that have a forbidden licence, as `name version: licence`. */
export function findForbiddenLicences(packages: Pick<LockedPackage, 'name' | 'version' | 'licence'>[]): string[] {
  return packages
    .filter(({ licence }) => licence === null || FORBIDDEN.test(licence))
    .map(({ name, version, licence }) => `${name} ${version}: ${licence ?? 'no licence'}`);
}
