import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { intercept, settle } from '../../support/dashboard';
import { anomaly, report, secondsAgo } from '../../support/facts';
import { dashboard } from './shared-dashboard';

const KEY = /^aik_v1_[\w-]{40}$/;

/** Whether the browser would ask before the page is left. */
const asksBeforeLeaving = (page: Page) =>
  page.evaluate(() => !window.dispatchEvent(new Event('beforeunload', { cancelable: true })));

async function mintKey(name: string): Promise<Page> {
  const page = await dashboard.visit('/settings?tab=api-keys');
  await page.getByRole('button', { name: 'Mint a key' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Mint key' }).click();
  await page.getByRole('dialog').getByText(KEY).waitFor();
  return page;
}

const selectedOf = (page: Page) => new URL(page.url()).searchParams.get('selected');
/** The text of the element that has the focus, and whether it is in a dialog. */
const readFocus = (page: Page) =>
  page.evaluate(() => ({
    text: document.activeElement?.textContent ?? '',
    tag: document.activeElement?.tagName,
    isInDialog: document.activeElement?.closest('dialog') !== null,
  }));

/** Secrets that are shown once, one-letter keys, and what screen readers hear of a list. */
export function registerKeyTests(): void {
  describe('a dialog', () => {
    it('moves nothing of a page that has no scroll bar', async () => {
      const page = await dashboard.visit('/settings?tab=api-keys');
      const measure = () => page.locator('main').evaluate((main) => main.getBoundingClientRect().width);
      const before = await measure();
      await page.getByRole('button', { name: 'Mint a key' }).click();
      await page.getByRole('dialog').waitFor();
      expect(await measure()).toBe(before);
    });

    it('shows keys that are pressed together in one line', async () => {
      const page = await dashboard.visit('/sessions');
      await page.getByRole('button', { name: 'Keyboard shortcuts (?)' }).click();
      const key = page.getByRole('dialog').getByText('Ctrl+K', { exact: true });
      expect(await key.evaluate((one) => one.scrollHeight <= one.clientHeight)).toBe(true);
    });
  });

  describe('a key that is shown once', () => {
    it('is not lost by Escape, by a click outside or by the cross, and leaving the page asks first', async () => {
      const page = await mintKey('Kept');
      const dialog = page.getByRole('dialog');
      expect(await asksBeforeLeaving(page)).toBe(true);
      const attempts = [
        () => page.keyboard.press('Escape'),
        // Chromium asks a page only once in a row whether its dialog may be closed.
        () => page.keyboard.press('Escape'),
        () => page.mouse.click(5, 5),
        () => dialog.getByRole('button', { name: 'Close' }).click(),
      ];
      for (const attempt of attempts) {
        await attempt();
        await dialog.getByRole('alert').getByText('Not closed: it would be lost.').waitFor();
        expect(await dialog.getByText(KEY).count()).toBe(1);
      }
      await dialog.getByRole('button', { name: 'I have stored it' }).click();
      await dialog.waitFor({ state: 'hidden' });
      expect(await asksBeforeLeaving(page)).toBe(false);
    });

    it('closes by Escape once it is copied', async () => {
      const page = await mintKey('Copied');
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Copy' }).click();
      await dialog.getByText('Copied').waitFor();
      expect(await asksBeforeLeaving(page)).toBe(false);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
    });
  });

  describe('a new key', () => {
    it('needs a scope: the form says so at its boxes, and nothing is wrong with the name', async () => {
      const page = await dashboard.visit('/settings?tab=api-keys', { role: 'admin', provokes: /status of 400/ });
      await page.getByRole('button', { name: 'Mint a key' }).click();
      const name = page.getByLabel('Name');
      await name.fill('For nothing');
      const checked = page.getByRole('checkbox', { checked: true });
      while ((await checked.count()) > 0) await checked.first().uncheck();
      await page.getByRole('button', { name: 'Mint key' }).click();
      const scopes = page.getByRole('group', { name: 'Scopes' });
      expect(await scopes.getByRole('alert').textContent()).toBe('must have at least one item');
      expect(await name.getAttribute('aria-invalid')).toBe(null);
      await page.getByRole('button', { name: 'Cancel' }).click();
    });

    it('is named in one line of the list, also next to a long name', async () => {
      const { page } = dashboard;
      await dashboard.open({ role: 'admin' });
      const input = { name: 'A program that reads '.repeat(4).trim(), expiresInDays: 30 };
      expect((await dashboard.change(page.context(), 'apiKeys.mint', input)).status()).toBe(200);
      await dashboard.visit('/settings?tab=api-keys');
      const lines = await page
        .locator('tbody code')
        .evaluateAll((keys) => keys.map((key) => key.getClientRects().length));
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.every((count) => count === 1)).toBe(true);
    });

    it('may do what its boxes said, until the day that was chosen', async () => {
      const page = await dashboard.visit('/settings?tab=api-keys');
      await page.getByRole('button', { name: 'Mint a key' }).click();
      await page.getByLabel('Name').fill('Reader');
      expect(await page.getByRole('checkbox', { name: 'users:erase' }).isChecked()).toBe(false);
      for (const scope of ['sessions:write', 'webhooks:write', 'settings:write'])
        await page.getByRole('checkbox', { name: scope }).uncheck();
      await page.getByLabel('Expires').selectOption('In 30 days');
      await page.getByRole('button', { name: 'Mint key' }).click();
      const dialog = page.getByRole('dialog');
      const key = (await dialog.getByText(KEY).textContent())!;
      await dialog.getByRole('button', { name: 'I have stored it' }).click();
      const row = page.getByRole('row').filter({ hasText: 'Reader' });
      await row.getByText('read', { exact: true }).waitFor();
      await row.getByText(/^expires /).waitFor();
      const { call } = dashboard.product;
      const body = { url: 'https://example.com/', eventType: 'BotDetected' };
      expect((await call('GET', '/v1/webhooks', { key })).status).toBe(200);
      expect((await call('POST', '/v1/webhooks', { key, body })).status).toBe(403);
    });
  });

  describe('one-letter keys', () => {
    it('do nothing once they are switched off, in the page and after it is loaded again; Escape and buttons stay', async () => {
      const page = await dashboard.visit('/sessions');
      await page.keyboard.press('?');
      const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
      await help.getByLabel('One-letter keys').uncheck();
      await help.getByText('Letters, digits and signs do nothing now').waitFor();
      await page.keyboard.press('Escape');
      await help.waitFor({ state: 'hidden' });
      const expectOff = async () => {
        for (const key of ['j', 'k', 'b', 'g', 'o', '?', '/']) await page.keyboard.press(key);
        expect([selectedOf(page), await help.count(), new URL(page.url()).pathname]).toEqual([
          ...[null, 0, new URL(`${dashboard.base}/sessions`).pathname],
        ]);
        expect((await readFocus(page)).tag).toBe('BODY');
      };
      await expectOff();
      await expect
        .poll(async () => (await page.context().cookies()).find(({ name }) => name === 'letter_keys')?.value)
        .toBe('off');
      // The server's own page knows it: there is no hint that would vanish.
      expect(await (await page.request.get(page.url())).text()).not.toContain('Select with j and k');
      await page.reload();
      await settle(page);
      await expectOff();
      await page.locator('tbody tr').first().getByRole('cell').nth(2).click();
      await expect.poll(() => selectedOf(page)).not.toBe(null);
      await page.keyboard.press('Escape');
      await expect.poll(() => selectedOf(page)).toBe(null);

      await page.getByRole('button', { name: 'account' }).click();
      await page.getByLabel('One-letter keys').check();
      await page.keyboard.press('Escape');
      await page.keyboard.press('j');
      await expect.poll(() => selectedOf(page)).not.toBe(null);
      await page.getByRole('button', { name: 'Keyboard shortcuts (?)' }).click();
      await help.getByText('Next row').waitFor();
      await page.keyboard.press('Escape');
    });
  });

  describe('a row of tabs on a phone', () => {
    it('shows the tab of the page, however many tabs come before it', async () => {
      const page = await dashboard.visit('/settings?tab=staff', { role: 'admin', width: 360, height: 800 });
      const tab = page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Staff' });
      const { x, width } = (await tab.boundingBox())!;
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x + width).toBeLessThanOrEqual(360);
    });
  });

  describe('a menu in a sheet', () => {
    it('closes alone by Escape; a dialog that it opens gives the focus back to its button', async () => {
      const page = await dashboard.visit('/sessions', { role: 'admin', width: 390, height: 800 });
      await page.getByRole('button', { name: 'Menu', exact: true }).click();
      const sheet = page.getByRole('dialog', { name: 'Menu' });
      const button = sheet.getByRole('button', { name: 'account' });
      const item = sheet.getByRole('button', { name: 'Change password' });
      const hasFocus = () => button.evaluate((element) => element === document.activeElement);
      await button.click();
      await item.waitFor();
      await page.keyboard.press('Escape');
      await item.waitFor({ state: 'hidden' });
      expect(await hasFocus()).toBe(true);
      await button.click();
      await item.click();
      const form = page.getByRole('dialog', { name: 'Change your password' });
      await form.waitFor();
      await page.keyboard.press('Escape');
      await form.waitFor({ state: 'hidden' });
      await expect.poll(hasFocus).toBe(true);
      await page.keyboard.press('Escape');
      await sheet.waitFor({ state: 'hidden' });
    });
  });

  describe('a menu', () => {
    it('begins with its last item on the arrow up', async () => {
      const page = await dashboard.visit('/overview');
      await page.getByRole('button', { name: 'account' }).focus();
      await page.keyboard.press('ArrowUp');
      await expect.poll(async () => (await readFocus(page)).text).toBe('Sign out');
      await page.keyboard.press('ArrowDown');
      await expect.poll(async () => (await readFocus(page)).text).not.toBe('Sign out');
      await page.keyboard.press('Escape');
    });

    it('shows the theme that was chosen there before', async () => {
      const page = await dashboard.visit('/overview');
      const account = page.getByRole('button', { name: 'account' });
      await account.click();
      await page.getByRole('button', { name: 'Dark' }).click();
      await page.keyboard.press('Escape');
      await account.click();
      await page.getByRole('button', { name: 'Dark', pressed: true }).waitFor();
      await page.getByRole('button', { name: 'System' }).click();
    });
  });

  describe('a question before an act', () => {
    it('says in words that the server could not be reached, and stays', async () => {
      const page = await dashboard.visit('/settings?tab=api-keys', { role: 'admin', provokes: /ERR_FAILED/ });
      await intercept(page, '**/api/trpc/apiKeys.revoke*', (route) => route.abort());
      await page
        .getByRole('button', { name: /^Revoke / })
        .first()
        .click();
      const question = page.getByRole('alertdialog');
      await question.getByRole('button', { name: 'Revoke key' }).click();
      await question.getByRole('alert').getByText('The server could not be reached.').waitFor();
      await question.getByRole('button', { name: 'Cancel' }).click();
    });
  });

  describe('the page behind a dialog', () => {
    it('does not scroll', async () => {
      const page = await dashboard.visit('/sessions', { role: 'admin', height: 600 });
      const dialog = page.getByRole('dialog', { name: 'Search everything' });
      await page.keyboard.press('Control+k');
      await dialog.waitFor();
      await page.mouse.move(5, 300);
      await page.mouse.wheel(0, 500);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
      await page.mouse.wheel(0, 100);
      await expect.poll(() => page.evaluate(() => window.scrollY)).toBe(100);
    });
  });

  describe('a list', () => {
    it('says which row the keys have selected, and its links have different names', async () => {
      const page = await dashboard.visit('/sessions');
      const status = page.getByRole('status').filter({ hasText: 'Selected:' });
      expect(await status.count()).toBe(0);
      const names = await page
        .locator('tbody a[href*="/sessions/"]')
        .evaluateAll((links) => links.map((link) => link.ariaLabel));
      expect(names.length).toBeGreaterThan(20);
      expect(new Set(names).size).toBe(names.length);
      await page.keyboard.press('j');
      await status.getByText(`Selected: ${names[0]}, row 1 of ${names.length}`).waitFor();
      await page.keyboard.press('j');
      await status.getByText(`Selected: ${names[1]}, row 2 of ${names.length}`).waitFor();
      await page.keyboard.press('Escape');
      await expect.poll(() => status.count()).toBe(0);
    });

    describe('with rows that begin alike', () => {
      const ruleIds: string[] = [];
      beforeAll(async () => {
        const facts = [1, 2].flatMap((n) => [
          report(`told-${n}`, { reportName: 'Told twice', completedAt: secondsAgo(5_000 + n) }),
          anomaly(`seen-${n}`, { anomalyType: 'SeenTwice', detectedAt: secondsAgo(5_000 + n) }),
        ]);
        expect((await dashboard.product.ingest(dashboard.integrationId, facts)).status).toBe(200);
        const context = (await dashboard.open({ role: 'admin' })).context();
        for (const value of [10, 20]) {
          const made = await dashboard.change(context, 'alertRules.create', {
            ...{ name: 'Made twice', metric: 'botSessions', scope: { kind: 'integration' }, comparison: 'gte', value },
            ...{ windowMinutes: 10, severity: 'low', message: '{{value}} bots', enabled: false },
          });
          ruleIds.push((await made.json()).result.data.id);
        }
      });
      afterAll(async () => {
        const context = (await dashboard.open({ role: 'admin' })).context();
        for (const id of ruleIds) await dashboard.change(context, 'alertRules.delete', { id });
      });

      it.each([
        ['reports', '/reports', 'Told twice'],
        ['anomalies', '/anomalies?anomalyType=SeenTwice', 'SeenTwice'],
        ['alert rules', '/alerts?tab=rules', 'Made twice'],
      ])('of %s has a name for each, and says it', async (_, path, beginning) => {
        const page = await dashboard.visit(path);
        const buttons = page.locator('tbody button', { hasText: beginning });
        const names = await buttons.evaluateAll((all) => all.map((button) => button.ariaLabel ?? button.textContent));
        expect(names).toHaveLength(2);
        expect(new Set(names).size).toBe(2);
        await buttons.first().click();
        await page.getByRole('status').getByText(`Selected: ${names[0]}, row`).waitFor();
      });
    });

    it('on a phone keeps the focus in the sheet while it is open, and takes it back when it closes', async () => {
      const page = await dashboard.visit('/sessions', { role: 'admin', width: 390, height: 800 });
      const row = page.locator('tbody tr').nth(2);
      const name = await row.locator('a[href*="/sessions/"]').getAttribute('aria-label');
      const sheet = page.getByRole('dialog');
      for (const close of [
        () => page.keyboard.press('Escape'),
        () => sheet.getByRole('button', { name: 'Close', exact: true }).click(),
      ]) {
        // The score: the cell before it is the link of the row.
        await row.getByRole('cell').nth(2).click();
        await sheet.waitFor();
        await expect.poll(async () => (await readFocus(page)).isInDialog).toBe(true);
        await sheet.getByRole('button', { name: 'Human', exact: true }).click();
        await sheet.getByText(/^Labelled human/).waitFor();
        expect(await readFocus(page)).toMatchObject({ text: 'Human', isInDialog: true });
        await page.keyboard.press('u');
        await sheet.getByText(/^Labelled human/).waitFor({ state: 'hidden' });
        expect((await readFocus(page)).isInDialog).toBe(true);
        await close();
        await sheet.waitFor({ state: 'hidden' });
        await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(name);
      }
    });
  });
}
