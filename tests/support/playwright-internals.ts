import type { Browser } from 'playwright-core';

interface Session {
  send(method: string, parameters?: unknown): Promise<unknown>;
}

/**
 * Lets Playwright drive a stock Firefox that lacks a command of WebDriver BiDi. Playwright 1.65 sends
 * `emulation.setMediaFeaturesOverride` for each context, whatever its options; Firefox ESR 153 does not know it. The object
 * behind a browser is reached through its connection, because both run in this process.
 */
export function tolerateMissingCommands(browser: Browser): void {
  const client = browser as unknown as { _connection: { toImpl(of: Browser): { _browserSession: Session } } };
  const session = client._connection.toImpl(browser)._browserSession;
  const send = session.send.bind(session);
  session.send = async (method, parameters) => {
    try {
      return await send(method, parameters);
    } catch (error) {
      if (method !== 'emulation.setMediaFeaturesOverride' || !/unknown command/.test(String(error))) throw error;
      return {};
    }
  };
}
