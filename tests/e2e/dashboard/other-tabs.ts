import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { intercept, PASSWORD, settle } from '../../support/dashboard';
import { POLL_LIMIT_MS } from '../../support/limits.mjs';
import { dashboard, receiver } from './shared-dashboard';

const ANA = 'ana-of-tabs@example.com';
const MENU = { name: 'account' };

const contexts: BrowserContext[] = [];
/** Another browser, with an account signed in. */
async function openBrowser(account: { email: string; password: string }): Promise<BrowserContext> {
  const context = await dashboard.page.context().browser()!.newContext({ baseURL: dashboard.product.url });
  context.setDefaultTimeout(POLL_LIMIT_MS);
  contexts.push(context);
  await signIn(context, account);
  return context;
}

async function signIn({ request }: BrowserContext, data: { email: string; password: string }): Promise<void> {
  const answer = await request.post('/api/auth/sign-in', { headers: { origin: dashboard.product.url }, data });
  expect(answer.status()).toBe(200);
}

let ana: Promise<{ admin: BrowserContext; id: string }> | undefined;
/** An account of these tests alone, and an admin who changes it. */
const prepare = () => {
  ana ??= (async () => {
    const admin = await openBrowser(dashboard.demo);
    const made = await dashboard.change(admin, 'staff.create', { email: ANA, password: PASSWORD, role: 'analyst' });
    expect(made.status()).toBe(200);
    return { admin, id: (await made.json()).result.data.id };
  })();
  return ana;
};

async function openTab(context: BrowserContext, path: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${dashboard.base}${path}`);
  await settle(page);
  return page;
}

const roleOf = (page: Page) => page.getByRole('button', MENU).textContent();

/** Several tabs of one browser, and what an admin does meanwhile. */
export function registerOtherTabTests(): void {
  describe('an account', () => {
    afterAll(async () => {
      for (const context of contexts) await context.close();
    });

    it('that has signed out in one tab is in no other tab any more, and the next one is in all of them', async () => {
      await prepare();
      const context = await openBrowser(dashboard.demo);
      const [staff, keys] = [
        await openTab(context, '/settings?tab=staff'),
        await openTab(context, '/settings?tab=api-keys'),
      ];
      await keys.getByRole('button', MENU).click();
      await keys.getByRole('button', { name: 'Sign out' }).click();
      // Nobody touches it.
      await staff.waitForURL(/\/sign-in\?next=/);
      await signIn(context, dashboard.demo);
      await staff.goto(`${dashboard.base}/settings?tab=staff`);
      await settle(staff);
      await keys.waitForURL(`${dashboard.product.url}/sign-in`);
      await context.clearCookies();
      await keys.getByLabel('Email').fill(ANA);
      await keys.getByLabel('Password').fill(PASSWORD);
      await keys.getByRole('button', { name: 'Sign in' }).click();
      // The page of the admin becomes the analyst's.
      await staff.getByText('Your account').waitFor();
      expect(await roleOf(staff)).toContain('analyst');
    });

    it('that an invitation signs in is in all tabs, and in none after it has signed itself out everywhere', async () => {
      const { admin } = await prepare();
      const invited = { email: 'eve-of-tabs@example.com', name: 'Eve', role: 'admin' };
      const made = await dashboard.change(admin, 'invitations.create', invited);
      const { token } = (await made.json()).result.data;
      const context = await openBrowser(dashboard.demo);
      const untouched = await openTab(context, '/settings?tab=staff');
      const other = await context.newPage();
      await other.goto(`/invitation#${token}`);
      await other.getByLabel('Password').fill(PASSWORD);
      await other.getByRole('button', { name: 'Create the account' }).click();
      await untouched.getByRole('row').filter({ hasText: invited.email }).getByText('You').waitFor();
      await other.waitForURL(/\/dashboard/);
      await other.goto(`${dashboard.base}/settings?tab=staff`);
      const { id } = (await (await dashboard.ask(context, 'staff.me')).json()).result.data;
      await other.evaluate((key) => sessionStorage.setItem(key, '[]'), `unsaved-verdicts:${id}:elsewhere`);
      await other.getByRole('button', { name: 'Sign out Eve everywhere' }).click();
      await other.getByRole('alertdialog').getByRole('button', { name: 'Sign out everywhere' }).click();
      await untouched.waitForURL(/\/sign-in\?next=/);
      // As after any other sign-out, the tab keeps no names of students.
      await other.getByLabel('Email').waitFor();
      const kept = await other.evaluate(() => Object.keys(sessionStorage));
      expect(kept.filter((key) => key.startsWith('unsaved-verdicts:'))).toEqual([]);
    });

    it('is not replaced by another one below what somebody types: the page says so, and goes on with the first', async () => {
      await prepare();
      const context = await openBrowser(dashboard.demo);
      const page = await openTab(context, '/alerts/rules/new');
      await page.getByText(/^Would (not )?have fired/).waitFor();
      await page.getByLabel('Name').fill('Half a rule of an admin');
      await signIn(context, { email: ANA, password: PASSWORD });
      await page.getByRole('button', { name: 'Create rule' }).click();
      const notice = page.getByRole('alert').filter({ hasText: 'Another account is signed in now.' });
      await notice.getByText(`sign out there and in again as ${dashboard.demo.email}`).waitFor();
      // Nor does the page act on the other one.
      await page.getByRole('button', MENU).click();
      const refused = page.waitForResponse('**/api/auth/sign-out');
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      expect((await refused).status()).toBe(401);
      expect((await (await dashboard.ask(context, 'staff.me')).json()).result.data.email).toBe(ANA);
      await signIn(context, dashboard.demo);
      await page.getByLabel('Value').fill('18');
      await notice.waitFor({ state: 'detached' });
      expect(await page.getByLabel('Name').inputValue()).toBe('Half a rule of an admin');
    });

    it('is not kept signed in by a page that nobody touches: its calls say so', async () => {
      const page = await (await openBrowser(dashboard.demo)).newPage();
      await page.clock.install();
      await page.goto(dashboard.base);
      await settle(page);
      const waitForCall = (mark: string | undefined) =>
        page.waitForRequest(
          (request) => request.url().includes('/api/trpc/') && request.headers()['x-unattended'] === mark,
        );
      const unattended = waitForCall('1');
      await page.clock.fastForward('05:01');
      await unattended;
      await page.keyboard.press('Shift');
      const attended = waitForCall(undefined);
      await page.clock.fastForward('01:01');
      await attended;
    });

    it('with another role sees what it may do now, and keeps what is typed', async () => {
      const { admin, id } = await prepare();
      const page = await openTab(await openBrowser({ email: ANA, password: PASSWORD }), '/settings?tab=thresholds');
      const field = page.getByRole('spinbutton', { name: 'Bot from' });
      const save = page.getByRole('button', { name: 'Save thresholds' });
      await field.fill('77');
      const setRole = async (role: string) =>
        expect((await dashboard.change(admin, 'staff.setRole', { id, role })).status()).toBe(200);
      await setRole('viewer');
      await save.click();
      await page.getByText('The role viewer does not permit this').waitFor();
      await page.getByText('Your role is viewer', { exact: false }).first().waitFor();
      expect([await roleOf(page), await save.isDisabled(), await field.inputValue()]).toEqual([
        expect.stringContaining('viewer'),
        true,
        '77',
      ]);
      await setRole('analyst');
      // The tab was behind another one.
      await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
      await expect.poll(() => save.isDisabled()).toBe(false);
    });

    it('has the role that the last admin gave: an undo and a choice do not replace what another one chose since', async () => {
      const { admin, id } = await prepare();
      const page = await openTab(await openBrowser(dashboard.demo), '/settings?tab=staff');
      const field = page.getByLabel('Role of ana-of-tabs');
      const setRole = async (role: string) =>
        expect((await dashboard.change(admin, 'staff.setRole', { id, role })).status()).toBe(200);
      await field.selectOption('admin');
      const undo = page.getByRole('button', { name: 'Undo' });
      await undo.waitFor();
      await setRole('viewer');
      await undo.click();
      await page.getByText('Somebody has made ana-of-tabs viewer since').waitFor();
      await expect.poll(() => field.inputValue()).toBe('viewer');
      await setRole('analyst');
      await field.selectOption('admin');
      await page.getByText('Somebody has made ana-of-tabs analyst since').waitFor();
      await expect.poll(() => field.inputValue()).toBe('analyst');
    });
  });

  describe('what a colleague has removed meanwhile', () => {
    it('is not shown any more after an action on it', async () => {
      const page = await dashboard.open({ role: 'admin', provokes: /status of 404/ });
      const context = page.context();
      const change = async (procedure: string, input: object) => {
        const answer = await dashboard.change(context, procedure, input);
        expect(answer.status()).toBe(200);
        return (await answer.json()).result.data;
      };
      const { id } = await change('alertRules.create', {
        ...{ name: 'Soon gone', metric: 'botSessions', comparison: 'gte', value: 25, windowMinutes: 10 },
        ...{ scope: { kind: 'integration' }, severity: 'high', message: '{{value}}' },
      });
      await page.goto(`${dashboard.base}/alerts?tab=rules&selected=${id}`);
      await settle(page);
      await change('alertRules.delete', { id });
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Delete rule' }).click();
      await page.getByRole('row').filter({ hasText: 'Soon gone' }).waitFor({ state: 'detached' });

      const webhook = await change('webhooks.create', { url: `${receiver.url}/gone`, eventType: 'BotDetected' });
      await page.goto(`${dashboard.base}/webhooks/${webhook.id}`);
      await settle(page);
      await change('webhooks.delete', { id: webhook.id });
      await page.getByRole('heading', { name: 'Not found' }).waitFor();
    });
  });

  describe('a change without an answer', () => {
    it('says that it may have been made, and shows it', async () => {
      const page = await dashboard.visit('/settings?tab=sites', { role: 'admin', provokes: /ERR_FAILED/ });
      await intercept(page, '**/api/trpc/sites.create*', async (route) => {
        await route.fetch();
        await route.abort();
      });
      await page.getByRole('button', { name: 'Create a site' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Answer lost');
      await dialog.getByRole('button', { name: 'Create site' }).click();
      await dialog.getByText('It may have been done all the same: look before you try again.').waitFor();
      // Behind the dialog.
      await page.getByRole('row', { includeHidden: true }).filter({ hasText: 'Answer lost' }).waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
    });
  });
}
