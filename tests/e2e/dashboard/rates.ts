import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { findLowerBound, findUpperBound } from '../../../server/domain/binomial-interval';
import { answerOutage, intercept, type Look, settle } from '../../support/dashboard';
import { createGate } from '../../support/gate';
import { dashboard, prepareOnce, settings } from './shared-dashboard';

// Error rates next to the risk thresholds, of an integration whose sessions the test knows.

const DAY = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10);
/** Sessions by score and by what they are: 80 of people, 20 of bots. */
const SESSIONS = [
  ...(['human', 'human'] as const).map((verdict) => ({ verdict, bin: 85 })),
  ...Array.from({ length: 6 }, () => ({ verdict: 'human' as const, bin: 66 })),
  ...Array.from({ length: 72 }, () => ({ verdict: 'human' as const, bin: 12 })),
  ...Array.from({ length: 17 }, () => ({ verdict: 'bot' as const, bin: 95 })),
  ...Array.from({ length: 3 }, () => ({ verdict: 'bot' as const, bin: 30 })),
];

/** Says an interval as the page does. */
const range = (count: number, of: number, per: number) =>
  `${Math.floor(findLowerBound(count, of) * per)} to ${Math.ceil(findUpperBound(count, of) * per)}`;

let sql: postgres.Sql;
let integrationId: string;

async function visit(look: Look = { role: 'admin' }) {
  const page = await dashboard.open(look);
  await page.goto(`${dashboard.product.url}/dashboard/${integrationId}/settings?tab=thresholds`);
  await settle(page);
  await page.getByRole('heading', { name: 'Error rates' }).waitFor();
  return page;
}

async function resetThresholds() {
  const { page } = dashboard;
  const usual = { mediumAt: 40, botAt: 70 };
  expect((await dashboard.change(page.context(), 'riskThresholds.update', usual, integrationId)).ok()).toBe(true);
}

/** Draws and judges all sessions of a day. */
async function review() {
  const judged = SESSIONS.map(({ verdict, bin }, n) => ({ n, bin, label: verdict === 'bot' ? 1 : -1 }));
  await sql`
    insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type,
                          browser, bot_score, score_bin)
    select ${integrationId}, 'rate-' || n, ${`${DAY}T12:00:00Z`}::timestamptz, 'Scored', 'https://lms.example.edu/', '', '', '',
           'desktop', 'Chrome', bin / 100.0, bin
      from jsonb_to_recordset(${sql.json(judged)}) as j(n int, bin int)`;
  await sql`insert into review_draws (integration_id, day, population, drawn_at)
            values (${integrationId}, ${DAY}::text::date, ${SESSIONS.length}, now() - interval '1 day')`;
  await sql`insert into review_sample (integration_id, day, position, session_id)
            select ${integrationId}, ${DAY}::text::date, n + 1, 'rate-' || n
              from jsonb_to_recordset(${sql.json(judged)}) as j(n int)`;
  await sql`
    insert into session_verdicts (integration_id, session_id, decided_at, label, actor_kind, bot_score)
    select ${integrationId}, 'rate-' || n, now(), label, 'Staff', bin / 100.0
      from jsonb_to_recordset(${sql.json(judged)}) as j(n int, bin int, label int)`;
}

/** Error rates of the score. */
export function registerRateTests(): void {
  describe('error rates', () => {
    const ensureReviewed = prepareOnce(review);
    beforeAll(async () => {
      sql = postgres(settings.DATABASE_URL!, { max: 1 });
      const context = (await dashboard.open({ role: 'admin' })).context();
      const input = { name: 'Rates', plan: 'pro', allowedOrigins: [] };
      integrationId = (await (await dashboard.change(context, 'integrations.create', input)).json()).result.data.id;
    });
    afterAll(() => sql?.end());

    it('need verdicts; an admin sets how many sessions are drawn for them, others only see it', async () => {
      const page = await visit({ role: 'admin', provokes: /status of 400|\/review\?/ });
      await page.getByText('People called bot: too few labels.').waitFor();
      await page.getByText('Bots among those called bot: too few labels.').waitFor();
      const size = page.getByLabel('Sessions a day');
      const save = page.getByRole('button', { name: 'Save sample' });
      expect(await save.isDisabled()).toBe(true);
      await size.fill('201');
      // The browser's check is not the only one.
      await page.locator('form', { has: size }).evaluate((form: HTMLFormElement) => {
        form.noValidate = true;
      });
      await save.click();
      await page.getByRole('alert').filter({ hasText: 'must be a whole number from 0 to 200' }).waitFor();
      await size.fill('100');
      await save.click();
      await page.getByText('100 sessions a day are drawn').waitFor();
      await expect.poll(() => save.isDisabled()).toBe(true);
      const link = page.getByRole('link', { name: 'Review the sample (0 waiting)' });
      expect(await link.getAttribute('href')).toBe(`/dashboard/${integrationId}/review?queue=sample`);
      const analyst = await visit({ role: 'analyst' });
      expect(await analyst.getByLabel('Sessions a day').inputValue()).toBe('100');
      expect(await analyst.getByLabel('Sessions a day').isDisabled()).toBe(true);
      await analyst.getByText('Your role is analyst: only admins may change the sample.').waitFor();
    });

    it('are said in sentences with their intervals and their source, and move with the cut points', async () => {
      await ensureReviewed();
      const page = await visit();
      const rates = page.getByRole('status', { name: 'Error rates, by the random sample' });
      await rates
        .getByText(`Of 1,000 sessions of people, ${range(2, 80, 1_000)} would be called bot (95 %).`)
        .waitFor();
      await rates.getByText(`Of 1,000 sessions of people, ${range(8, 80, 1_000)} would be medium or bot.`).waitFor();
      await rates.getByText(`Of 100 sessions called bot, ${range(17, 19, 100)} are bots.`).waitFor();
      await rates.getByText(`Of 100 sessions of bots, ${range(17, 20, 100)} would be called bot.`).waitFor();
      await page
        .getByText('From 100 verdicts (80 human, 20 bot) on a random sample of 100 sessions of 1 day.')
        .waitFor();
      const handle = page.getByRole('slider', { name: 'Bot from' });
      await handle.focus();
      await page.keyboard.press('PageDown');
      await rates
        .getByText(`Of 1,000 sessions of people, ${range(8, 80, 1_000)} would be called bot (95 %).`)
        .waitFor();
      await page.getByRole('button', { name: 'Reset' }).click();
      await page.getByRole('button', { name: 'Show People called bot, of 1,000 as a table' }).click();
      const row = page.getByRole('row', { name: /^70 / });
      expect((await row.textContent())!.startsWith('70')).toBe(true);
      await row.getByRole('cell', { name: '80', exact: true }).waitFor();
    });

    it('follow cut points that are saved once, however long that takes', async () => {
      await ensureReviewed();
      const page = await visit();
      const answer = createGate();
      await intercept(page, '**/api/trpc/riskThresholds.update*', (route) =>
        answer.opened.then(() => route.continue()),
      );
      await page.getByRole('spinbutton', { name: 'Bot from' }).fill('72');
      const save = page.getByRole('button', { name: 'Save thresholds' });
      const sent = page.waitForRequest('**/api/trpc/riskThresholds.update*');
      await save.click();
      await sent;
      expect(await save.isDisabled()).toBe(true);
      answer.open();
      const notifications = page.getByRole('region', { name: 'Notifications' });
      await notifications.getByText('bot from 72').waitFor();
      await page.unrouteAll({ behavior: 'wait' });
      await notifications.getByRole('button', { name: 'Undo' }).click();
      await notifications.getByText('bot from 70').waitFor();
    });

    it('say next to cut points that cannot be read why they are not saved, until they are', async () => {
      onTestFinished(resetThresholds);
      const page = await visit({ role: 'admin', provokes: /status of 503/ });
      await page.getByRole('spinbutton', { name: 'Bot from' }).fill('72');
      const save = page.getByRole('button', { name: 'Save thresholds' });
      await intercept(page, '**/api/trpc/riskThresholds.get*', (route) => answerOutage(route));
      await save.click();
      const fault = page.locator('form').getByRole('alert').getByText('The service is temporarily unavailable');
      await fault.waitFor();
      await page.unrouteAll({ behavior: 'wait' });
      await save.click();
      const notifications = page.getByRole('region', { name: 'Notifications' });
      await notifications.getByText('bot from 72').waitFor();
      await fault.waitFor({ state: 'detached' });
      await intercept(page, '**/api/trpc/riskThresholds.update*', (route) => answerOutage(route));
      await notifications.getByRole('button', { name: 'Undo' }).click();
      await notifications.getByText('Not undone. The service is temporarily unavailable').waitFor();
      await page.unrouteAll({ behavior: 'wait' });
      await notifications.getByRole('button', { name: 'Undo' }).click();
      await notifications.getByText('bot from 70').waitFor();
    });

    it('are followed by cut points that were moved while another one was saved: they stay as they were moved', async () => {
      onTestFinished(resetThresholds);
      const page = await visit();
      const answer = createGate();
      await intercept(page, '**/api/trpc/riskThresholds.update*', (route) =>
        answer.opened.then(() => route.continue()),
      );
      const bot = page.getByRole('spinbutton', { name: 'Bot from' });
      const save = page.getByRole('button', { name: 'Save thresholds' });
      const sent = page.waitForRequest('**/api/trpc/riskThresholds.update*');
      await page.getByRole('spinbutton', { name: 'Medium from' }).fill('45');
      await save.click();
      await sent;
      await bot.fill('85');
      await bot.blur();
      answer.open();
      const notifications = page.getByRole('region', { name: 'Notifications' });
      await notifications.getByText('Medium from 45, bot from 70').waitFor();
      expect(await bot.inputValue()).toBe('85');
      expect(await save.isEnabled()).toBe(true);
      await page.unrouteAll({ behavior: 'wait' });
      await save.click();
      await notifications.getByText('Medium from 45, bot from 85').waitFor();
    });

    it('are followed by cut points that were moved since others were saved, also when those are moved back', async () => {
      onTestFinished(resetThresholds);
      const page = await visit();
      const [medium, bot] = ['Medium from', 'Bot from'].map((name) => page.getByRole('spinbutton', { name }));
      const save = page.getByRole('button', { name: 'Save thresholds' });
      await medium!.fill('45');
      await save.click();
      const notifications = page.getByRole('region', { name: 'Notifications' });
      await notifications.getByText('Medium from 45, bot from 70').waitFor();
      await bot!.fill('85');
      await bot!.blur();
      await notifications.getByRole('button', { name: 'Undo' }).click();
      await notifications.getByText('Medium from 40, bot from 70').waitFor();
      expect([await medium!.inputValue(), await bot!.inputValue()]).toEqual(['40', '85']);
      expect(await save.isEnabled()).toBe(true);
    });

    it('come of a sample whose size shows as it was saved before it is read again, and stays as it was typed meanwhile', async () => {
      const page = await visit();
      const size = page.getByLabel('Sessions a day');
      const save = page.getByRole('button', { name: 'Save sample' });
      const [change, read] = [createGate(), createGate()];
      await intercept(page, '**/api/trpc/errorRates.get*', (route) => read.opened.then(() => route.continue()));
      await size.fill('50');
      await save.click();
      await page.getByText('50 sessions a day are drawn').waitFor();
      expect(await size.inputValue()).toBe('50');
      expect(await save.isDisabled()).toBe(true);
      read.open();
      await page.unrouteAll({ behavior: 'wait' });
      await intercept(page, '**/api/trpc/errorRates.setSampleSize*', (route) =>
        change.opened.then(() => route.continue()),
      );
      const sent = page.waitForRequest('**/api/trpc/errorRates.setSampleSize*');
      await size.fill('100');
      await save.click();
      await sent;
      await size.fill('60');
      change.open();
      await page.getByText('100 sessions a day are drawn').waitFor();
      expect(await size.inputValue()).toBe('60');
      await expect.poll(() => save.isEnabled()).toBe(true);
    });

    it('from all labels say that reviewers chose them', async () => {
      await ensureReviewed();
      await sql`update sessions set label = -1, labeled_at = now()
                 where integration_id = ${integrationId} and id in (select 'rate-' || n from generate_series(0, 19) n)`;
      const page = await visit();
      await page.getByLabel('Estimated').selectOption('By all labels');
      const rates = page.getByRole('status', { name: 'Error rates, by all labels' });
      await rates
        .getByText(`Of 1,000 sessions of people, ${range(2, 20, 1_000)} would be called bot (95 %).`)
        .waitFor();
      await rates.getByText('Bots among those called bot: too few labels.').waitFor();
      await page.getByText(/^From 20 labels \(20 human, 0 bot\) .* Reviewers chose these sessions/).waitFor();
      expect(await rates.textContent()).not.toContain('sessions of bots');
    });
  });
}
