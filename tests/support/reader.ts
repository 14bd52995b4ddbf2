import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Block } from './documents';

const BLOCK_LIMIT_MS = 240_000;
const STOP_LIMIT_MS = 15_000;
const POLL_MS = 30;

/** A reader who follows a document at a terminal: block after block in one shell, so that variables stay. */
export interface Reader {
  /** The directory for the document's files. */
  directory: string;
  /** Does what a block says and answers what it printed. Throws if a command fails. */
  follow(block: Block): Promise<string>;
  /** Ends the shell and what keeps running, and removes the files. */
  leave(): Promise<void>;
}

interface Running {
  pid: number;
  port: number;
}

/**
 * Opens a shell in `workingDirectory`, or in the directory for the document's files. `ports` are the ports that a
 * document names, with the free ones to use instead.
 */
export function openReader(options: {
  workingDirectory?: string;
  ports: Record<string, number>;
  variables: Record<string, string>;
}): Reader {
  const home = mkdtempSync(join(tmpdir(), 'documents-'));
  const directory = join(home, 'files');
  const programs = join(home, 'bin');
  for (const path of [directory, programs]) mkdirSync(path);
  // On a very busy machine the product may take its database for away. As customers are told to, curl asks again after a 503.
  writeFileSync(join(home, '.curlrc'), 'retry = 3\n');
  for (const name of ['npm', 'npx']) symlinkSync(resolve('tests/support/npm-install.mjs'), join(programs, name));
  const shell = openShell(options.workingDirectory ?? directory, {
    PATH: `${programs}:${process.env.PATH}`,
    HOME: home,
    npm_config_update_notifier: 'false',
    ...options.variables,
  });
  const running: Running[] = [];
  let blocks = 0;

  const replacePorts = (code: string) =>
    Object.entries(options.ports).reduce(
      (text, [port, free]) => text.replaceAll(new RegExp(`\\b${port}\\b`, 'g'), `${free}`),
      code,
    );

  async function run(block: Block): Promise<string> {
    const script = join(home, `block-${++blocks}`);
    writeFileSync(script, `${replacePorts(block.code)}\n`);
    const output = `> '${script}.out' 2> '${script}.err' < /dev/null`;
    const read = () => readFileSync(`${script}.out`, 'utf8');
    const explain = (error: unknown) => {
      const printed = `${read()}\n${readFileSync(`${script}.err`, 'utf8')}`.trim();
      return new Error(`${block.document}:${block.line}: ${(error as Error).message}\n${printed.slice(-3_000)}`);
    };
    try {
      const isServer = block.code.includes('npm start');
      const port = options.ports[isServer || block.name === 'server-stopped' ? '3000' : '9000'];
      // Ends the server that listened there before, as Ctrl-C would.
      const isOver = block.name === 'server-stopped' || block.name === 'keep-running';
      for (const before of isOver ? running.filter((each) => each.port === port) : []) await end(before);
      if (block.name !== 'keep-running') {
        await shell.run(`. '${script}' ${output}`);
        return read();
      }
      // In a separate process group, like a job of a terminal.
      const pid = Number(await shell.run(`set -m; ( . '${script}' ) ${output} & set +m; printf '%s' $! >&3`));
      running.push({ pid, port: port! });
      for (const until = Date.now() + BLOCK_LIMIT_MS; ; await sleep(POLL_MS)) {
        if ((await isOpen(port!)) && (!isServer || read().includes('/swagger'))) break;
        if (!isAlive(pid) || Date.now() > until) throw new Error('does not keep running');
      }
      // Only the first start shows these values, which the reader uses later.
      const key = /Demo API key\s+(\S+)/.exec(read())?.[1];
      const integration = /--integration (\S+)/.exec(read())?.[1];
      if (key && integration) await shell.run(`export KEY='${key}' INTEGRATION='${integration}'`);
      return read();
    } catch (error) {
      throw explain(error);
    }
  }

  async function end(process: Running) {
    running.splice(running.indexOf(process), 1);
    await endGroup(process.pid);
  }

  return {
    directory,
    async follow(block) {
      if (block.language === 'sh') return run(block);
      writeFileSync(join(directory, block.name!), `${replacePorts(block.code)}\n`);
      return '';
    },
    async leave() {
      for (const each of [...running]) await end(each);
      shell.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/**
 * Opens a bash that ends with the first command that fails. What is written to its descriptor 3 is a command's answer.
 */
function openShell(cwd: string, env: Record<string, string>) {
  const child: ChildProcess = spawn('bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail'], {
    cwd,
    env: env as NodeJS.ProcessEnv,
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
  });
  let answer = '';
  let wake = () => {};
  child.stdio[3]!.on('data', (chunk) => {
    answer += String(chunk);
    wake();
  });
  child.once('exit', () => wake());
  return {
    async run(line: string): Promise<string> {
      answer = '';
      if (child.exitCode !== null) throw new Error('a block before it failed');
      child.stdin!.write(`${line}\nprintf '\\004' >&3\n`);
      for (const until = Date.now() + BLOCK_LIMIT_MS; !answer.endsWith('\u0004'); ) {
        if (child.exitCode !== null) throw new Error(`exit code ${child.exitCode}`);
        if (Date.now() > until) throw new Error(`not over after ${BLOCK_LIMIT_MS} ms`);
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        await Promise.race([woken, sleep(until + 1 - Date.now(), null, { ref: false })]);
      }
      return answer.slice(0, -1);
    },
    close: () => child.kill('SIGKILL'),
  };
}

const isAlive = (pid: number) => spawnSync('kill', ['-0', '--', `-${pid}`]).status === 0;

async function endGroup(pid: number) {
  spawnSync('kill', ['-TERM', '--', `-${pid}`]);
  for (const until = Date.now() + STOP_LIMIT_MS; isAlive(pid); await sleep(POLL_MS)) {
    if (Date.now() > until) spawnSync('kill', ['-KILL', '--', `-${pid}`]);
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => done(true)).on('error', () => done(false));
    socket.on('connect', () => socket.destroy());
  });
}
