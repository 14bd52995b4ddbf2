import type { Page } from 'playwright-core';
import postgres from 'postgres';
import { afterAll, beforeAll, expect } from 'vitest';
import { settle } from '../../support/dashboard';
import { closed, correlated, finding, scored, secondsAgo, started } from '../../support/facts';
import { dashboard, settings } from './shared-dashboard';

// What the tests of the review page share. They have integrations of their own, so that nothing else is in their queues.

export let sql: postgres.Sql;

export function openQueueDatabase(): void {
  beforeAll(() => {
    sql = postgres(settings.DATABASE_URL!, { max: 1 });
  });
  afterAll(() => sql.end());
}

/** An integration, with `count` sessions of falling scores, `q-0` the highest. */
export async function furnish(count: number): Promise<string> {
  const page = await dashboard.open({ role: 'admin' });
  const created = await dashboard.change(page.context(), 'integrations.create', { name: 'Queue', plan: 'enterprise' });
  const { id } = (await created.json()).result.data;
  const evidence = {
    evidence: [finding('zero-pressure')],
    detectionFlags: ['zero-pressure'],
    ruleSetVersion: '2026.1',
  };
  for (let from = 0; from < count; from += 100) {
    const facts = Array.from({ length: Math.min(100, count - from) }, (_, index) => {
      const [n, sessionId] = [from + index, `q-${from + index}`];
      return [
        started(sessionId, { startedAt: secondsAgo(60 + n) }),
        correlated(sessionId, `u-${n}`, { user: { id: `u-${n}`, name: `Learner ${n}` } }),
        // All in one bin from here on: then the newer ones come first.
        scored(sessionId, Math.max(0.5, 0.99 - n / 100), evidence),
        closed(sessionId),
      ];
    }).flat();
    expect((await dashboard.product.ingest(id, facts)).status).toBe(200);
  }
  return id;
}

const addressOf = (id: string, query = '') => `${dashboard.product.url}/dashboard/${id}/review${query}`;
/** Opens the review of an integration. */
export async function openReview(
  id: string,
  query = '',
  look: Parameters<typeof dashboard.open>[0] = { role: 'admin' },
) {
  const page = await dashboard.open(look);
  expect((await page.goto(addressOf(id, query)))?.status()).toBe(200);
  await settle(page);
  await page.waitForURL(/opened=/);
  return page;
}
/** Reads the ids of the queue that the page shows. */
export const readQueue = (page: Page, id: string) =>
  page.evaluate(
    (key) => {
      const { sessions } = JSON.parse(sessionStorage.getItem(key)!);
      return sessions.map((session: { id: string }) => session.id);
    },
    `review ${id} ${new URL(page.url()).searchParams.get('opened')}`,
  ) as Promise<[string, string, string]>;
/** Chooses the first three sessions of the queue. */
export async function chooseThree(page: Page) {
  const boxes = page.getByRole('checkbox', { name: /^Choose session/ });
  for (let n = 0; n < 3; n++) await boxes.nth(n).check();
}
export const caseOf = (page: Page, sessionId: string) => page.locator(`article[data-session="${sessionId}"]`);
/** Waits for a session to be the current one. */
export const expectCase = (page: Page, sessionId: string) => caseOf(page, sessionId).waitFor();
export const press = async (page: Page, keys: string) => {
  for (const key of keys) await page.keyboard.press(key);
};

export interface Entry {
  label: number | null;
  reasons: string[];
  isUndo: boolean;
}
/** Reads the label of each session and its history, oldest first. */
export async function readVerdicts(id: string) {
  const labels = await sql<{ id: string; label: number | null; by: string | null }[]>`
    select id, label, labeled_by as by from sessions where integration_id = ${id}`;
  const entries = await sql<(Entry & { sessionId: string })[]>`
    select session_id as "sessionId", label, reasons, is_undo as "isUndo"
      from session_verdicts where integration_id = ${id} order by session_id, entry`;
  return new Map(
    labels.map(({ id: sessionId, label, by }) => {
      const history = entries.filter((entry) => entry.sessionId === sessionId);
      return [sessionId, { label, by, history: history.map(({ sessionId: _, ...entry }) => entry) }];
    }),
  );
}
export const readLabels = async (id: string, ...sessionIds: string[]) => {
  const verdicts = await readVerdicts(id);
  return sessionIds.map((sessionId) => verdicts.get(sessionId)?.label);
};
