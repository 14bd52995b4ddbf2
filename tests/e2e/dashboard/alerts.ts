import { describe, expect, it } from 'vitest';
import { createRandom, makeSessionFacts } from '../../../server/demo/session-facts';
import { intercept, settle } from '../../support/dashboard';
import { createGate } from '../../support/gate';
import { dashboard } from './shared-dashboard';

/** Alert rules, and the alerts that they fire. */
export function registerAlertTests(): void {
  describe('an alert rule', () => {
    it('is made by keyboard with a preview, fires an alert that is acknowledged and resolved, and is switched off and deleted', async () => {
      const page = await dashboard.visit('/alerts?tab=rules', { role: 'admin', provokes: /status of 400/ });
      const { keyboard } = page;
      await settle(page);
      await keyboard.press('n');
      await page.getByLabel('Name').waitFor();
      await settle(page);
      await page.getByText(/^Would (not )?have fired/).waitFor();
      await page.getByLabel('Name').focus();
      await keyboard.type('Bots of a day');
      const next = async (text: string, times = 1) => {
        for (let n = 0; n < times; n++) await keyboard.press('Tab');
        await keyboard.press('ControlOrMeta+A');
        await keyboard.type(text);
      };
      // Over the metric, the scope and the comparison, to the value.
      await next('0', 4);
      const value = page.getByLabel('Value');
      await page.getByRole('alert').filter({ hasText: 'must be above 0 for gte' }).waitFor();
      expect(await value.getAttribute('aria-invalid')).toBe('true');
      await page.getByText('Complete the rule to see when it would have fired.').waitFor();
      await keyboard.press('ControlOrMeta+A');
      await keyboard.type('1');
      await next('1');
      await keyboard.press('Tab');
      await keyboard.type('days');
      await page.getByText(/^Would have fired \d+ times in the last 30 days\.$/).waitFor();
      const firings = page.getByRole('region', { name: 'Alerts that would have come' }).getByRole('listitem');
      // The preview of one hour may still be shown.
      const first = () => firings.first().textContent();
      await expect.poll(first).toMatch(/bot sessions within 1 day in the whole integration$/);
      await page.getByLabel('Name').focus();
      await keyboard.press('Enter');
      const row = page.getByRole('row').filter({ hasText: 'Bots of a day' });
      await row.getByText('Bot sessions at least 1 within 1 day').waitFor();
      const panel = page.getByRole('complementary', { name: 'Bots of a day' });
      await panel.getByRole('switch', { name: 'On' }).waitFor();

      const { facts } = makeSessionFacts('bot', Date.now(), createRandom(11));
      expect((await dashboard.product.ingest(dashboard.integrationId, facts)).status).toBe(200);
      const messages = async () => {
        const listed = await dashboard.ask(page.context(), 'alerts.list', { status: 'Open' });
        return (await listed.json()).result.data.data.map(({ message }: { message: string }) => message).join('\n');
      };
      await expect.poll(messages).toContain('bot sessions within 1 day in the whole integration');
      await panel.getByRole('link', { name: 'Alerts of this rule' }).click();
      const alert = page.getByRole('row').filter({ hasText: 'bot sessions within 1 day' });
      await alert.getByText('Open').waitFor();
      await page.getByRole('button', { name: /Rule: Bots of a day/ }).waitFor();
      await keyboard.press('j');
      const details = page.getByRole('complementary', { name: 'Alert' });
      await details.getByRole('link', { name: 'Bots of a day' }).waitFor();
      await keyboard.press('a');
      await alert.getByText('Acknowledged').waitFor();
      expect(await details.textContent()).toContain(dashboard.demo.email);
      await details.getByRole('button', { name: 'Resolve' }).click();
      await alert.getByText('Resolved').waitFor();
      // A link to an alert shows it, whatever the list shows.
      const id = new URL(page.url()).searchParams.get('selected')!;
      await page.goto(`${dashboard.base}/alerts?status=Open&selected=${id}`);
      await expect.poll(() => details.textContent()).toContain('StatusResolved');

      await dashboard.visit('/alerts?tab=rules');
      await row.getByRole('button', { name: 'Bots of a day' }).press('Enter');
      await panel.getByRole('switch', { name: 'On' }).click();
      await row.getByText('Off').waitFor();
      await panel.getByRole('link', { name: 'Edit' }).click();
      await page.getByRole('heading', { name: 'Edit Bots of a day' }).waitFor();
      await settle(page);
      await page.getByLabel('Name').fill('Bots of today');
      await page.getByRole('button', { name: 'Save' }).click();
      const renamed = page.getByRole('complementary', { name: 'Bots of today' });
      await renamed.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Delete rule' }).click();
      await renamed.waitFor({ state: 'detached' });
      await page.getByRole('row').filter({ hasText: 'Bots of today' }).waitFor({ state: 'detached' });
    });

    it('is made once, however long the next page takes to come', async () => {
      const page = await dashboard.visit('/alerts/rules/new', { role: 'admin' });
      const sent: string[] = [];
      page.on('request', (request) => request.method() === 'POST' && sent.push(new URL(request.url()).pathname));
      const next = createGate();
      await intercept(page, '**/alerts?*', (route) => next.opened.then(() => route.continue()));
      await page.getByLabel('Name').fill('Made once');
      const button = page.getByRole('button', { name: 'Create rule' });
      await button.click();
      await page.getByText('Made once is created.').waitFor();
      expect(await button.isDisabled()).toBe(true);
      await page.getByLabel('Name').press('Enter');
      next.open();
      const panel = page.getByRole('complementary', { name: 'Made once' });
      await panel.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Delete rule' }).click();
      await panel.waitFor({ state: 'detached' });
      expect(sent.filter((path) => path === '/api/trpc/alertRules.create')).toHaveLength(1);
    });

    it('that has not fired yet is named above its alerts, as the links to them name its id', async () => {
      const page = await dashboard.visit('/alerts', { role: 'admin' });
      const rule = {
        ...{ name: 'Never fired', metric: 'botSessions', scope: { kind: 'integration' }, comparison: 'gte' },
        ...{ value: 1_000_000, windowMinutes: 60, severity: 'low', message: 'Never' },
      };
      const made = await dashboard.change(page.context(), 'alertRules.create', rule);
      const { id } = (await made.json()).result.data;
      await dashboard.visit(`/alerts?rule=${id}`);
      await page.getByText('No alert matches').waitFor();
      await page.getByRole('button', { name: /^Rule: Never fired/ }).waitFor();
      await dashboard.change(page.context(), 'alertRules.delete', { id });
    });

    it('is only looked at by viewers', async () => {
      const page = await dashboard.visit('/alerts/rules/new', { role: 'viewer' });
      expect(await page.getByRole('button', { name: 'Create rule' }).isDisabled()).toBe(true);
      await page.getByText('Your role is viewer: only admins may change alert rules.').waitFor();
    });
  });
}
