import type { Page } from 'playwright-core';
import { beforeAll, expect } from 'vitest';
import type { SessionHistory } from '../../../contract/session-history';
import { type Look, settle } from '../../support/dashboard';
import { closed, correlated, scored, secondsAgo, started } from '../../support/facts';
import { dashboard } from './shared-dashboard';

// Three sessions in a separate integration, for the tests of verdicts.

export const ADMIN: Look = { role: 'admin' };
export const EXPIRES: Look = { role: 'admin', provokes: /status of 401/ };
export const NAMES = ['Ada Lovelace', 'Blaise Pascal', 'Carl Gauss'] as const;
/** The newest is the first of the list. */
export const IDS = ['ada', 'blaise', 'carl'] as const;
export const [ADA, BLAISE] = IDS;

export let integrationId: string;
export let base: string;
let key: string;

export function prepareCases(): void {
  beforeAll(async () => {
    const page = await dashboard.open(ADMIN);
    const created = await dashboard.change(page.context(), 'integrations.create', { name: 'Cases', plan: 'pro' });
    ({ id: integrationId } = (await created.json()).result.data);
    base = `${dashboard.product.url}/dashboard/${integrationId}`;
    ({ key } = await change('apiKeys.mint', { name: 'Cases' }));
    const facts = IDS.flatMap((id, n) => {
      const startedAt = secondsAgo(3600 * (n + 1));
      const user = { id: `user-${id}`, name: NAMES[n] };
      return [
        started(id, { startedAt, deviceFingerprint: `device-${id}` }),
        correlated(id, user.id, { user }),
        closed(id, { closedAt: secondsAgo(3600 * (n + 1) - 600) }),
        scored(id, 0.65, { scoredAt: secondsAgo(3600 * (n + 1) - 900), ruleSetVersion: '2026.1' }),
      ];
    });
    expect((await dashboard.product.ingest(integrationId, facts)).status).toBe(200);
  });
}

export async function visit(path: string, look: Look = ADMIN): Promise<Page> {
  const page = await dashboard.open(look);
  await page.goto(base + path);
  await settle(page);
  return page;
}
export const call = (method: string, path: string, body?: unknown) =>
  dashboard.product.call(method, path, { key, body });
export const readLabel = async (id: string) => (await call('GET', `/v1/sessions/${id}`)).body.data.label;
export const readVerdict = async (id: string) => (await readLabel(id))?.verdict ?? null;
export const change = async (procedure: string, input: unknown) => {
  const answer = await dashboard.change(dashboard.page.context(), procedure, input, integrationId);
  expect([procedure, answer.status()]).toEqual([procedure, 200]);
  return (await answer.json()).result.data;
};
/** Reads the verdicts of a session, oldest first. Needs a page that is signed in. */
export const readVerdicts = async (sessionId: string) => {
  const answer = await dashboard.ask(dashboard.page.context(), 'sessions.getHistory', { sessionId }, integrationId);
  const { steps }: SessionHistory = (await answer.json()).result.data;
  return steps
    .filter(({ labeledBy }) => labeledBy !== null)
    .map(({ cause, verdict, reasons }) => [cause, verdict, reasons]);
};
export const clear = async (sessionId: string) => {
  const label = await readLabel(sessionId);
  if (label) await change('sessions.removeLabel', { sessionId, labeledAt: label.labeledAt });
};
export const tray = (page: Page) => page.getByRole('region', { name: 'Verdicts that are not saved' });
export const strip = (page: Page) => page.getByRole('region', { name: 'Reasons for the last verdict' });
export const signIn = async (page: Page) => {
  await page.getByLabel('Email').fill(dashboard.demo.email);
  await page.getByLabel('Password').fill(dashboard.demo.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
};
export const expire = (page: Page) => page.context().clearCookies();
