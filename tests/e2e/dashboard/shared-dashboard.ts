import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, onTestFinished } from 'vitest';
import { type Dashboard, type Role, startDashboard } from '../../support/dashboard';
import { createDemoSettings } from '../../support/database';
import { POLL_LIMIT_MS } from '../../support/limits.mjs';
import { type Receiver, startReceiver } from '../../support/receiver';

// One product, one browser and one receiver of webhooks for all tests of the dashboard. Starting them, and loading each page
// for the first time, costs more than most tests.

/** Exist while tests run. */
export let dashboard: Dashboard;
export let receiver: Receiver;
/** Of the product, for what cannot be done through it. */
export let settings: Record<string, string>;

/** Starts them before the first test. After each test, no error may be left that the test did not provoke. */
export function shareDashboard(): void {
  beforeAll(async () => {
    receiver = await startReceiver();
    settings = {
      ...(await createDemoSettings()),
      WEBHOOK_ALLOW_HOSTS: receiver.host,
      WEBHOOK_RETRY_DELAYS: '0s,20ms,20ms,20ms,20ms,20ms',
      // A visit to the demo page must not close, and send its verdict, while a test of webhooks counts what arrives.
      SESSION_GONE: '1s',
    };
    dashboard = await startDashboard(settings);
  });
  afterEach(() => expect(dashboard.takeFaults().join('\n')).toBe(''));
  afterAll(async () => {
    await dashboard?.stop();
    await receiver?.stop();
  });
}

/** Opens a page in a separate context, signed in, until the test ends. What a test changes of it, such as the clock, does not reach others. */
export async function openSeparatePage(role: Role): Promise<Page> {
  const signedIn = (await dashboard.open({ role })).context();
  const context = await signedIn.browser()!.newContext({ storageState: await signedIn.storageState() });
  onTestFinished(() => context.close());
  context.setDefaultTimeout(POLL_LIMIT_MS);
  return context.newPage();
}

/** Prepares what tests share when the first of them needs it. If that fails, all of them fail with its reason. */
export function prepareOnce<Result>(prepare: () => Promise<Result>): () => Promise<Result> {
  let prepared: Promise<Result> | undefined;
  return () => (prepared ??= prepare());
}
