import { requireChromium } from '../../support/browser.mjs';
import { findPackageFile, loadPackage } from './packages';

export interface McpClient {
  /** Calls a tool. Throws if it answers an error. */
  call(name: string, args: Record<string, unknown>): Promise<void>;
  close(): Promise<void>;
}

interface ToolAnswer {
  isError?: boolean;
  content: { text?: string }[];
}
interface Client {
  connect(transport: unknown): Promise<void>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<ToolAnswer>;
  close(): Promise<void>;
}

const ARGS = ['--headless', '--no-sandbox', '--isolated'];

/** Starts Playwright MCP in a separate process and speaks to it as a host of a language model does. */
export async function openMcp(env: NodeJS.ProcessEnv): Promise<McpClient> {
  const [{ Client }, { StdioClientTransport }] = await Promise.all([
    loadPackage<{ Client: new (about: object) => Client }>('@modelcontextprotocol/sdk/client/index.js'),
    loadPackage<{ StdioClientTransport: new (server: object) => unknown }>('@modelcontextprotocol/sdk/client/stdio.js'),
  ]);
  const client = new Client({ name: 'laboratory', version: '1.0.0' });
  const cli = findPackageFile('@playwright/mcp', 'cli.js');
  const args = [cli, ...ARGS, '--executable-path', requireChromium()];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env, cwd: env.TMPDIR, stderr: 'ignore' }),
  );
  return {
    async call(name, args) {
      const { isError, content } = await client.callTool({ name, arguments: args });
      if (isError)
        throw new Error(
          `${name}: ${content
            .map(({ text }) => text)
            .join(' ')
            .slice(0, 300)}`,
        );
    },
    close: () => client.close(),
  };
}
