import { takeSteps } from '../driving/hands';
import { type McpClient, openMcp } from '../driving/mcp';
import { findMissingNeeds } from '../driving/packages';
import type { Subject } from '../subject';

// Playwright MCP, as a language model drives it: it reads the page, thinks, and calls a tool for each deed.

const THINK_MS = 1_200;

function driveMcp(name: string, slowly: boolean): Subject {
  return {
    ...{ name, family: 'playwright', kind: 'driver', input: 'real', isHeadful: false },
    findMissing: () => findMissingNeeds({ packages: ['@playwright/mcp', '@modelcontextprotocol/sdk'] }),
    async act({ url, steps, env, geometry }) {
      const mcp: McpClient = await openMcp(env);
      try {
        await mcp.call('browser_navigate', { url });
        const find = async (target: string) => {
          await mcp.call('browser_snapshot', {});
          return { element: target, target };
        };
        const hands = {
          click: async (target: string) => mcp.call('browser_click', await find(target)),
          type: async (target: string, text: string) =>
            mcp.call('browser_type', { ...(await find(target)), text, slowly }),
          scroll: () => mcp.call('browser_press_key', { key: 'PageDown' }),
          arrive: (target: string) => geometry.waitFor(({ boxes }) => boxes[target] !== undefined),
        };
        await takeSteps(steps, hands, THINK_MS);
        await mcp.call('browser_close', {});
      } finally {
        await mcp.close();
      }
    },
  };
}

export const subjects = [driveMcp('playwright-mcp-fill', false), driveMcp('playwright-mcp-slowly', true)];
