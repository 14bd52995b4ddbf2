import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startEmbeddedDatabase } from '../../db/embedded';
import { chooseCacheMib, readMemory } from '../../db/embedded-server';
import { bundleChildScript, type ChildScript } from '../support/child-script';

const isRoot = process.getuid?.() === 0;
let embedded: ChildScript;

/** A process that uses the database until it receives a message. It survives Ctrl-C. */
const USER = `
  const [, embedded, dataDir] = process.argv;
  process.on('SIGINT', () => process.send({ interrupted: true }));
  const { startEmbeddedDatabase } = await import(embedded);
  const { url, isNew, stop } = await startEmbeddedDatabase({ dataDir, log: { info() {}, warn() {} } });
  process.once('message', () => stop().then(() => process.exit()));
  process.send({ url, isNew });
`;

let root: string;
let dataDir: string;
let children: ChildProcess[];
let logged: { atMs: number; text: string }[];

const keep = (fields: object, message: string) =>
  void logged.push({ atMs: performance.now(), text: `${message} ${JSON.stringify(fields)}` });
const start = () => startEmbeddedDatabase({ dataDir, log: { info: keep, warn: keep } });

function track(child: ChildProcess): ChildProcess {
  children.push(child);
  return child;
}

/** Starts a user in its own process group. */
function spawnUser(): ChildProcess {
  const args = ['--input-type=module', '-e', USER, pathToFileURL(embedded.path).href, dataDir];
  return track(spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }));
}

async function startUser() {
  const child = spawnUser();
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the user ended with code ${code}`)));
  const [started] = (await Promise.race([once(child, 'message'), ended])) as [{ url: string; isNew: boolean }];
  return { child, ...started };
}

async function end(child: ChildProcess, how: () => unknown): Promise<void> {
  const ended = once(child, 'exit');
  how();
  await ended;
}

async function query<Result>(url: string, use: (sql: postgres.Sql) => Promise<Result>): Promise<Result> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await use(sql);
  } finally {
    // Without a limit, `end` of postgres.js never resolves if the connection was lost a moment ago.
    await sql.end({ timeout: 1 });
  }
}

const writeFact = (url: string) => query(url, (sql) => sql`create table fact as select 42 as value`);
const readFact = (url: string) => query(url, async (sql) => (await sql`select value from fact`)[0]?.value);
const backendPids = (url: string) =>
  query(url, async (sql) => (await sql`select pid from pg_stat_activity`).map(({ pid }) => Number(pid)));
/** The backends of the users that count: each holds a lock. */
const userPids = (url: string) =>
  query(url, async (sql) => {
    const rows = await sql`select pid from pg_locks where locktype = 'advisory' and mode = 'ShareLock'`;
    return rows.map(({ pid }) => Number(pid));
  });
const expectUsers = (url: string, count: number) =>
  expect.poll(() => userPids(url).catch(() => [])).toHaveLength(count);

const pidFile = () => join(dataDir, 'postgres', 'postmaster.pid');
const isRunning = () => existsSync(pidFile());
const postmasterPid = () => Number(readFileSync(pidFile(), 'utf8').split('\n')[0]);
const commandLine = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8');

function killIfAlive(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/**
 * Removes the shared memory of a server that was killed and is never started again. macOS has room for 32 such
 * segments.
 */
function removeSharedMemory(file: string): void {
  const [, id] = existsSync(file) ? (readFileSync(file, 'utf8').split('\n')[6]?.trim().split(/ +/) ?? []) : [];
  // Postgres may have removed it itself.
  if (id) spawnSync('ipcrm', ['-m', id]);
}

/** Holds a cluster that is initialised once and copied by the tests. */
let prepared: string;

/** Copies a cluster. `-p` keeps owners and modes. */
const copyCluster = (from: string, to: string) => void execFileSync('cp', ['-Rp', from, to]);

beforeAll(async () => {
  prepared = mkdtempSync(join(tmpdir(), 'embedded-postgres-'));
  chmodSync(prepared, 0o755);
  embedded = await bundleChildScript('db/embedded.ts');
});
afterAll(async () => {
  rmSync(prepared, { recursive: true, force: true });
  await embedded.remove();
});

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'embedded-postgres-'));
  chmodSync(root, 0o755);
  dataDir = join(root, 'data');
  children = [];
  logged = [];
});

afterEach(async () => {
  for (const child of children) {
    if (child.pid && child.exitCode === null && child.signalCode === null) {
      await end(child, () => killIfAlive(-Number(child.pid), 'SIGKILL'));
    }
  }
  const wasRunning = isRunning();
  if (wasRunning) {
    const pid = postmasterPid();
    while (killIfAlive(pid, 'SIGQUIT')) await sleep(50);
  }
  rmSync(root, { recursive: true, force: true });
  expect(wasRunning, 'the last user stopped the server').toBe(false);
});

describe('the embedded Postgres on its first start', () => {
  it('initialises a cluster and a database on the first start, keeps its password private, and keeps all over a restart', async () => {
    const first = await start();
    expect(first.isNew).toBe(true);
    const [settings] = await query(
      first.url,
      (sql) => sql`select current_database() as name, current_setting('listen_addresses') as address,
        current_setting('TimeZone') as timezone, current_setting('synchronous_commit') as commit,
        current_setting('fsync') as fsync, current_setting('full_page_writes') as pages,
        (pg_size_bytes(current_setting('shared_buffers')) / 1048576)::int as cache,
        pg_encoding_to_char(encoding) as encoding, 'Z' < 'a' as bytewise, lower('É') = 'é' as unicode
        from pg_database where datname = current_database()`,
    );
    expect(settings).toEqual({
      ...{ name: 'app', address: '127.0.0.1', timezone: 'UTC' },
      ...{ commit: 'on', fsync: 'on', pages: 'on', cache: chooseCacheMib(await readMemory()) },
      ...{ encoding: 'UTF8', bytewise: true, unicode: true },
    });
    expect(Number(new URL(first.url).port)).toBeLessThan(32_768);
    const { password } = new URL(first.url);
    const file = join(dataDir, 'postgres-password');
    expect(readFileSync(file, 'utf8')).toBe(password);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    if (process.platform === 'linux') expect(commandLine(postmasterPid())).not.toContain(password);
    const wrong = first.url.replace(password, 'wrong');
    await expect(readFact(wrong)).rejects.toThrow('password authentication failed');
    await writeFact(first.url);
    expect(first.stop()).toBe(first.stop());
    await first.stop();
    expect(isRunning()).toBe(false);
    expect(JSON.stringify(logged)).not.toContain(password);
    expect(readFileSync(join(dataDir, 'postgres.log'), 'utf8')).not.toContain(password);

    const second = await start();
    expect(second.isNew).toBe(false);
    expect(await readFact(second.url)).toBe(42);
    await query(second.url, (sql) => sql`drop table fact`);
    await second.stop();
    copyCluster(dataDir, join(prepared, 'data'));
  });

  it('serves two processes that start at once, until the last of them stops', async () => {
    const [user, own] = await Promise.all([startUser(), start()]);
    expect([user.isNew, own.isNew].sort()).toEqual([false, true]);
    expect(own.url).toBe(user.url);
    await writeFact(own.url);
    await query(own.url, async (sql) => {
      await end(user.child, () => user.child.send('stop'));
      expect(await sql`select value from fact`).toEqual([{ value: 42 }]);
    });
    await own.stop();
    expect(isRunning()).toBe(false);
  });

  it('is not blocked by an initialisation that was killed half-way', async () => {
    const user = spawnUser();
    const isHalfMade = () =>
      existsSync(dataDir) && readdirSync(dataDir).some((name) => existsSync(join(dataDir, name, 'cluster/PG_VERSION')));
    await expect.poll(isHalfMade, { interval: 5 }).toBe(true);
    await end(user, () => process.kill(-Number(user.pid), 'SIGKILL'));
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
    for (const name of readdirSync(dataDir)) removeSharedMemory(join(dataDir, name, 'cluster', 'postmaster.pid'));

    const next = await start();
    expect(next.isNew).toBe(true);
    expect(readdirSync(dataDir).sort()).toEqual(['postgres', 'postgres-password', 'postgres.log']);
    await next.stop();
  });

  it.runIf(isRoot)('says what to do if the system has no name for its user, as with docker run --user', async () => {
    chmodSync(root, 0o777);
    chmodSync(dirname(embedded.path), 0o755);
    const script = `
      const [, embedded, dataDir] = process.argv;
      const { startEmbeddedDatabase } = await import(embedded);
      const refused = await startEmbeddedDatabase({ dataDir, log: {} }).catch((error) => error.message);
      process.stdout.write(refused);
    `;
    const args = ['--input-type=module', '-e', script, pathToFileURL(embedded.path).href, dataDir];
    const { stdout } = spawnSync(process.execPath, args, { uid: 54_321, gid: 54_321, encoding: 'utf8', cwd: '/' });
    expect(stdout).toMatch(
      /^Embedded Postgres in .*: \/etc\/passwd has no entry for uid 54321, .*, or set DATABASE_URL$/,
    );
  });

  it.runIf(isRoot)('starts below a directory that only root can enter', async () => {
    chmodSync(root, 0o700);
    const database = await start();
    expect(database.isNew).toBe(true);
    expect(statSync(pidFile()).uid).not.toBe(0);
    await writeFact(database.url);
    await database.stop();
    await (await start()).stop();
    expect(statSync(root).mode & 0o777).toBe(0o700);
  });
});

describe('the embedded Postgres', () => {
  beforeEach(async () => {
    const from = join(prepared, 'data');
    if (!existsSync(from)) {
      // The first test did not run.
      await (await startEmbeddedDatabase({ dataDir: from, log: { info: () => {}, warn: () => {} } })).stop();
    }
    copyCluster(from, dataDir);
  });

  it('keeps its data and is used again after its process was killed', async () => {
    const user = await startUser();
    await writeFact(user.url);
    const pid = postmasterPid();
    await end(user.child, () => user.child.kill('SIGKILL'));

    const next = await start();
    expect(postmasterPid()).toBe(pid);
    expect(logged[0]?.text).toMatch(/^reusing running/);
    expect(next.url).toBe(user.url);
    expect(await readFact(next.url)).toBe(42);
    await next.stop();
  });

  it('starts with its data after its process and all of Postgres were killed', async () => {
    const user = await startUser();
    await writeFact(user.url);
    const pids = [postmasterPid(), ...(await backendPids(user.url))];
    await end(user.child, () => user.child.kill('SIGKILL'));
    for (const pid of pids) killIfAlive(pid, 'SIGKILL');

    const next = await start();
    expect(logged[0]?.text).toMatch(/^embedded Postgres started/);
    expect(await readFact(next.url)).toBe(42);
    await next.stop();
  });

  it('waits for a backend that outlives a killed server', async () => {
    const user = await startUser();
    const backends = await backendPids(user.url);
    const postmaster = postmasterPid();
    for (const pid of backends) killIfAlive(pid, 'SIGSTOP');
    await end(user.child, () => user.child.kill('SIGKILL'));
    killIfAlive(postmaster, 'SIGKILL');

    let isStarted = false;
    const starting = start().finally(() => {
      isStarted = true;
    });
    await sleep(1_500);
    expect(isStarted).toBe(false);
    for (const pid of backends) killIfAlive(pid, 'SIGKILL');
    await (await starting).stop();
  });

  it('starts although another program now has the pid of the old server', async () => {
    await (await start()).stop();
    const { uid, gid } = statSync(join(dataDir, 'postgres'));
    const stranger = track(spawn('sleep', ['60'], { detached: true, stdio: 'ignore', ...(isRoot && { uid, gid }) }));
    writeFileSync(pidFile(), `${stranger.pid}\n${join(dataDir, 'postgres')}\n1\n20000\n\n127.0.0.1\n1 1\nready\n`);
    await (await start()).stop();
    expect(stranger.exitCode).toBe(null);
  });

  it.runIf(process.platform === 'linux')(
    'does not start while another container has a server on its directory',
    async () => {
      // Its processes cannot be seen from here, but the lock can.
      const holder = track(
        spawn('flock', [join(dataDir, 'postgres'), 'sleep', '60'], { detached: true, stdio: 'ignore' }),
      );
      await once(holder, 'spawn');
      // The program takes a moment to lock.
      await expect.poll(() => spawnSync('flock', ['-n', join(dataDir, 'postgres'), 'true']).status).toBe(1);
      await expect(start()).rejects.toThrow(
        /another server runs on this directory, perhaps in another container: stop it/,
      );
      expect(existsSync(pidFile())).toBe(false);
    },
  );

  it('survives a Ctrl-C until its process stops it', async () => {
    const { child, url } = await startUser();
    const pid = postmasterPid();
    const interrupted = once(child, 'message');
    process.kill(-Number(child.pid), 'SIGINT');
    expect(await interrupted).toEqual([{ interrupted: true }, undefined]);
    await writeFact(url);
    expect(await readFact(url)).toBe(42);
    expect(postmasterPid()).toBe(pid);
    await end(child, () => child.send('stop'));
    expect(isRunning()).toBe(false);
  });

  it('keeps running when a command that used it next to the server ends', async () => {
    const user = await startUser();
    const command = await start();
    await writeFact(command.url);
    await command.stop();
    expect(await readFact(user.url)).toBe(42);
    await end(user.child, () => user.child.send('stop'));
    expect(isRunning()).toBe(false);
  });

  it('stops when all of its users stop at once', async () => {
    const users = [await start(), await start(), await start()];
    await Promise.all(users.map(({ stop }) => stop()));
    expect(isRunning()).toBe(false);
  });

  it('starts again for a user that arrives while it is being stopped', async () => {
    const first = await start();
    const stopped = first.stop();
    const second = await start();
    await stopped;
    await writeFact(second.url);
    await second.stop();
  });

  it('still counts its users after a crash of one backend', async () => {
    const staying = await start();
    const leaving = await start();
    const before = await userPids(staying.url);
    process.kill(Number(before[0]), 'SIGKILL');
    const isRegained = async () => {
      const now = await userPids(staying.url).catch(() => before);
      return now.length === 2 && !now.some((pid) => before.includes(pid));
    };
    await expect.poll(isRegained, { timeout: 20_000 }).toBe(true);
    await leaving.stop();
    await writeFact(staying.url);
    await staying.stop();
  });

  it('is restarted at its address, with its data, by its users after it was killed', async () => {
    const users = [await start(), await start()];
    await writeFact(users[0]!.url);
    const killed = postmasterPid();
    process.kill(killed, 'SIGKILL');
    const readAgain = () => readFact(users[0]!.url).catch(() => null);
    await expect.poll(readAgain, { timeout: 20_000 }).toBe(42);
    expect(postmasterPid()).not.toBe(killed);
    await expectUsers(users[0]!.url, 2);
    for (const { stop } of users) await stop();
    expect(isRunning()).toBe(false);
  });

  it('tells why a restart fails, tries more and more rarely, and is there again as soon as one succeeds', async () => {
    const user = await start();
    await writeFact(user.url);
    const settings = join(dataDir, 'postgres', 'postgresql.conf');
    const intact = readFileSync(settings);
    writeFileSync(settings, 'not a setting');
    process.kill(postmasterPid(), 'SIGKILL');
    const restarts = () => logged.filter(({ text }) => text.includes('restarting it'));
    await expect.poll(() => restarts().length).toBeGreaterThanOrEqual(5);
    const [first, ...others] = restarts();
    expect(first!.text).toMatch(/was not running/);
    for (const { text } of others) expect(text).toMatch(/ended again.*FATAL: configuration file .* contains errors/);
    // The pauses before them are 0.2, 0.4, 0.8 and 1.6 s.
    expect(others[3]!.atMs - first!.atMs).toBeGreaterThanOrEqual(3_000);
    writeFileSync(settings, intact);
    const readAgain = () => readFact(user.url).catch(() => null);
    await expect.poll(readAgain).toBe(42);
    await expectUsers(user.url, 1);
    await user.stop();
  });

  it('makes longer and longer pauses also if its directory is away', async () => {
    const user = await start();
    await writeFact(user.url);
    const log = join(dataDir, 'postgres.log');
    rmSync(log);
    // What cannot be opened, as if a volume were gone.
    mkdirSync(log);
    process.kill(postmasterPid(), 'SIGKILL');
    const failures = () => logged.filter(({ text }) => text.startsWith('could not restart'));
    await expect.poll(() => failures().length).toBeGreaterThanOrEqual(4);
    const [first, , , fourth] = failures();
    // The pauses are 0.2, 0.4 and 0.8 s.
    expect(fourth!.atMs - first!.atMs).toBeGreaterThanOrEqual(1_400);
    rmdirSync(log);
    await expect.poll(() => readFact(user.url).catch(() => null)).toBe(42);
    await expectUsers(user.url, 1);
    await user.stop();
  });

  it('starts while the clock is set, as when a machine without one asks the network for the time', async () => {
    const read = Date.now;
    let aheadMs = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => {
      aheadMs += 3_600_000;
      return read() + aheadMs;
    });
    try {
      await (await start()).stop();
    } finally {
      vi.restoreAllMocks();
    }
  });

  it.each([
    ['was killed', () => [postmasterPid()], /was not running; restarting it/],
    ['lost a backend', userPids, /^lost the connection/],
  ] as const)('is stopped by its last user while it recovers, because it %s', async (_, listVictims, sign) => {
    const user = await start();
    for (const pid of await listVictims(user.url)) process.kill(pid, 'SIGKILL');
    await expect
      .poll(() => logged.map(({ text }) => text), { interval: 5 })
      .toContainEqual(expect.stringMatching(sign));
    await user.stop();
    // A server that has just been started writes its lock file a moment later.
    await sleep(500);
    expect(isRunning()).toBe(false);
  });

  describe('that is paused, as with SIGSTOP', () => {
    let paused: number[];
    const pause = async (url: string) => {
      paused = [postmasterPid(), ...(await backendPids(url))];
      for (const pid of paused) killIfAlive(pid, 'SIGSTOP');
    };
    const resume = () => {
      for (const pid of paused) killIfAlive(pid, 'SIGCONT');
    };
    afterEach(resume);

    it('lets a user leave, and stays for the others', async () => {
      const [leaving, staying] = [await start(), await start()];
      await pause(staying.url);
      let hasLeft = false;
      void leaving.stop().then(() => {
        hasLeft = true;
      });
      await expect.poll(() => hasLeft).toBe(true);
      expect(logged.at(-1)!.text).toMatch(/does not answer; it is left running/);
      resume();
      await expectUsers(staying.url, 1);
      await staying.stop();
    });

    it('makes a start say what it waits for, and is used as soon as it goes on', async () => {
      const user = await start();
      await pause(user.url);
      const starting = start();
      const readLog = () => logged.map(({ text }) => text).join('\n');
      await expect.poll(readLog).toMatch(/does not answer; waiting for it .*postgres\.log/);
      resume();
      await (await starting).stop();
      await user.stop();
    });
  });

  it('takes another port when its port is taken', async () => {
    const first = await start();
    await first.stop();
    const holder = "require('node:net').createServer().listen(process.argv[1], '127.0.0.1', () => process.send('up'))";
    const args = ['-e', holder, new URL(first.url).port];
    const stranger = track(
      spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }),
    );
    await once(stranger, 'message');
    const second = await start();
    expect(second.url).not.toBe(first.url);
    await second.stop();
  });

  it.each([
    ['of a volume whose group the platform sets', 0o2770, 0o660],
    ['of a copy', 0o755, 0o644],
  ])('starts again with the rights %s, and takes them away', async (_, ofDirectory, ofFile) => {
    await (await start()).stop();
    const paths = ['postgres', 'postgres-password', 'postgres.log'].map((name) => join(dataDir, name));
    for (const path of paths) chmodSync(path, statSync(path).isDirectory() ? ofDirectory : ofFile);
    await (await start()).stop();
    expect(paths.map((path) => statSync(path).mode & 0o7777)).toEqual([0o700, 0o600, 0o600]);
  });

  it('keeps the right to read of a group that its operator has chosen', async () => {
    await (await start()).stop();
    chmodSync(join(dataDir, 'postgres'), 0o750);
    await (await start()).stop();
    expect(statSync(join(dataDir, 'postgres')).mode & 0o7777).toBe(0o750);
  });

  it('truncates a log over 5 MB when it starts', async () => {
    writeFileSync(join(dataDir, 'postgres.log'), Buffer.alloc(5 * 1024 * 1024 + 1, 'x'));
    await (await start()).stop();
    expect(statSync(join(dataDir, 'postgres.log')).size).toBeLessThan(100_000);
  });

  it('says in one line that a cluster has another major version', async () => {
    await (await start()).stop();
    writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
    await expect(start()).rejects.toThrow(/^Embedded Postgres in .* version 17, .* version 18\S*$/);
  });

  it('says in one line that it cannot look into its directory, and makes no other cluster', async () => {
    const cluster = join(dataDir, 'postgres');
    renameSync(cluster, `${cluster}-away`);
    // What the directory of another user is to a user who is not root.
    symlinkSync(cluster, cluster);
    await expect(start()).rejects.toThrow(/^Embedded Postgres in .*, stat '.*PG_VERSION'$/);
    expect(readdirSync(dataDir).filter((name) => name.startsWith('postgres.init-'))).toEqual([]);
  });

  it('says in one line that the password is missing', async () => {
    await (await start()).stop();
    rmSync(join(dataDir, 'postgres-password'));
    await expect(start()).rejects.toThrow(/^Embedded Postgres in .*postgres-password.*$/);
  });
});
