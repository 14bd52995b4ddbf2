import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { copyClients } from './copied-clients';

const run = promisify(execFile);
const INSTALL_LIMIT_MS = 280_000;

/** The MCP server as an operator has it: packed, and installed into a folder outside of the repository. */
export interface InstalledMcp {
  home: string;
  /** Paths in the package. */
  files: string[];
  /** What npm links to the bin. */
  program: string;
  remove(): Promise<void>;
}

/** Packs the server and installs it. A string says why this machine cannot: the SDK comes from the registry or npm's cache. */
export async function installMcp(): Promise<InstalledMcp | string> {
  const home = await mkdtemp(join(tmpdir(), 'mcp-'));
  const npm = async (cwd: string, ...parameters: string[]) =>
    (
      await run('npm', parameters, {
        cwd,
        timeout: INSTALL_LIMIT_MS,
        env: {
          ...process.env,
          npm_config_update_notifier: 'false',
          npm_config_fetch_retries: '1',
          npm_config_fetch_retry_mintimeout: '1000',
        },
      })
    ).stdout;
  const sources = await copyClients();
  const [packed] = JSON.parse(await npm(join(sources.folder, 'mcp'), 'pack', '--json', '--pack-destination', home));
  await sources.remove();
  await writeFile(join(home, 'package.json'), JSON.stringify({ private: true }));
  const remove = () => rm(home, { recursive: true });
  try {
    await npm(home, 'install', '--prefer-offline', '--no-audit', '--no-fund', join(home, packed.filename));
  } catch (error) {
    await remove();
    const { stderr, killed } = error as { stderr?: string; killed?: boolean };
    if (killed) return `no answer within ${INSTALL_LIMIT_MS / 1000} s`;
    const text = String(stderr ?? error);
    // Any other failure is a fault of the packages.
    const why = /ENOTFOUND|ECONN\w+|ETIMEDOUT|EAI_AGAIN|ENOTCACHED|E40[34]/.exec(text)?.[0];
    if (!why) throw error;
    return why;
  }
  return {
    home,
    files: packed.files.map(({ path }: { path: string }) => path).sort(),
    program: join(home, 'node_modules/.bin/bot-detection-mcp'),
    remove,
  };
}

/** An assistant's program: the SDK's own client, connected to the server as its child. */
export interface Assistant {
  client: Client;
  pid: number;
  /** Calls a tool. */
  call(name: string, input?: object, signal?: AbortSignal): Promise<CallToolResult>;
  /** Calls a tool that must succeed, and answers its structured content. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results freely
  read(name: string, input?: object): Promise<any>;
  /** Calls a tool that must fail, and answers what it says. */
  fail(name: string, input?: object): Promise<string>;
  /** What the server wrote to stderr. */
  log(): string;
  close(): Promise<void>;
}

export interface Settings {
  key: string;
  baseUrl: string;
  parameters?: string[];
  /** Further variables of the environment. */
  env?: Record<string, string>;
}

/** The whole environment of the server. Its home is a separate folder. */
export const makeEnv = async ({ home }: InstalledMcp, { key, baseUrl, env = {} }: Settings) => {
  const folder = join(home, 'home');
  await mkdir(folder, { recursive: true });
  return {
    PATH: process.env.PATH!,
    NODE_ENV: 'production' as const,
    HOME: folder,
    BOT_DETECTION_API_KEY: key,
    BOT_DETECTION_BASE_URL: baseUrl,
    ...env,
  };
};

export async function startAssistant(installed: InstalledMcp, settings: Settings): Promise<Assistant> {
  const env = await makeEnv(installed, settings);
  const args = settings.parameters ?? [];
  const transport = new StdioClientTransport({ command: installed.program, args, env, stderr: 'pipe' });
  let log = '';
  transport.stderr!.on('data', (chunk) => {
    log += chunk;
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  const call: Assistant['call'] = async (name, input = {}, signal) =>
    (await client.callTool({ name, arguments: { ...input } }, undefined, signal ? { signal } : {})) as CallToolResult;
  return {
    client,
    pid: transport.pid!,
    call,
    async read(name, input) {
      const result = await call(name, input);
      if (result.isError) throw new Error(`${name}: ${readText(result)}`);
      return result.structuredContent;
    },
    async fail(name, input) {
      const result = await call(name, input);
      if (!result.isError) throw new Error(`${name} succeeded`);
      return readText(result);
    },
    log: () => log,
    close: () => client.close(),
  };
}

export const readText = ({ content }: CallToolResult) => (content[0] as { text: string }).text;

/** The server with a plain stdin: what it writes, line by line, and how it ends. */
export async function startRaw(installed: InstalledMcp, settings: Settings) {
  const env = await makeEnv(installed, settings);
  const child = spawn(installed.program, settings.parameters ?? [], { env, stdio: 'pipe' });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    output.stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    output.stderr += chunk;
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const send = (line: unknown) => child.stdin.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  return { child, output, ended, send };
}
