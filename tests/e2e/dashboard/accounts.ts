import axe from 'axe-core';
import type { BrowserContext, Locator, Page, Request } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { intercept, settle } from '../../support/dashboard';
import { createGate } from '../../support/gate';
import { POLL_LIMIT_MS } from '../../support/limits.mjs';
import { createClient } from '../../support/server';
import { trySignIn } from '../../support/staff-client';
import { findIssues } from './pages';
import { dashboard } from './shared-dashboard';

const EMAIL = 'katherine@example.com';
const PASSWORD = 'a password of my own';
const LINK = /http:\/\/\S+\/invitation#([\w-]{43})/;

/** Browsers of other people. */
const contexts: BrowserContext[] = [];
async function openBrowser(): Promise<Page> {
  const context = await dashboard.page.context().browser()!.newContext({ baseURL: dashboard.product.url });
  context.setDefaultTimeout(POLL_LIMIT_MS);
  contexts.push(context);
  return context.newPage();
}

const signInAs = (password: string) =>
  trySignIn({ url: dashboard.product.url, ...createClient(dashboard.product.url) }, { email: EMAIL, password });

/** Asks for a link in the settings, and stores it. */
async function takeLink(page: Page): Promise<string> {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Make the link' }).click();
  const link = (await dialog.getByText(LINK).textContent())!;
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  await dialog.waitFor({ state: 'hidden' });
  return link;
}

const isAt = (page: Page, heading: string) => page.getByRole('heading', { name: heading, level: 1 }).waitFor();

/** Invitations, links to a new password, and the own password. */
export function registerAccountTests(): void {
  afterAll(async () => {
    for (const context of contexts) await context.close();
  });

  it('are made by buttons at the right edge, as on the other tabs, at 1280 pixels', async () => {
    const page = await dashboard.visit('/settings?tab=staff');
    await page.setViewportSize({ width: 1280, height: 800 });
    const readRight = (one: Locator) => one.evaluate((element) => element.getBoundingClientRect().right);
    const button = page.getByRole('button', { name: 'Invite a person' });
    expect(await readRight(button)).toBeCloseTo(await readRight(page.getByRole('table', { name: 'Staff' })), -1);
  });

  describe('an invitation', () => {
    it('is passed on as a link, makes an account once, and its token goes to no server but in a body', async () => {
      const page = await dashboard.visit('/settings?tab=staff');
      await page.getByRole('button', { name: 'Invite a person' }).click();
      await page.getByLabel('Email').fill(EMAIL);
      await page.getByLabel('Name').fill('Katherine');
      await page.getByLabel('Role', { exact: true }).selectOption('analyst');
      const link = await takeLink(page);
      const [, token = ''] = LINK.exec(link)!;
      await page.getByRole('button', { name: 'Revoke the link of Katherine' }).waitFor();

      const theirs = await openBrowser();
      const asked: Promise<string>[] = [];
      // What is on the wire: the browser's tools also show a fragment where it is not sent.
      const note = async (request: Request) => `${request.url()} ${JSON.stringify(await request.allHeaders())}`;
      theirs.on('request', (request) => asked.push(note(request)));
      const opened = await theirs.goto(link);
      expect(opened!.headers()['cache-control']).toContain('no-store');
      await isAt(theirs, 'Welcome');
      expect(await theirs.locator('main').textContent()).toContain(`as analyst, with the address ${EMAIL}`);
      await theirs.evaluate(axe.source);
      expect(await findIssues(theirs)).toEqual([]);
      expect(await theirs.getByLabel('Your name').inputValue()).toBe('Katherine');
      await theirs.getByLabel('Your name').fill('Katherine Johnson');
      await theirs.getByLabel('Password').fill('too short');
      await theirs.getByRole('button', { name: 'Create the account' }).click();
      await theirs.getByText('must have 12 to 256 characters').waitFor();
      await theirs.getByLabel('Password').fill(PASSWORD);
      await theirs.getByRole('button', { name: 'Create the account' }).click();
      await isAt(theirs, 'Overview');
      await theirs.getByText('Katherine Johnson').waitFor();
      expect((await Promise.all(asked)).filter((request) => request.includes(token))).toEqual([]);
      expect(asked.length).toBeGreaterThan(5);
      expect(await theirs.evaluate(() => window.history.length)).toBeLessThanOrEqual(2);

      const late = await openBrowser();
      await late.goto(link);
      await isAt(late, 'This link does not work');
      expect(await late.locator('main').textContent()).not.toContain(EMAIL);
      await late.evaluate(axe.source);
      expect(await findIssues(late)).toEqual([]);
      await page.reload();
      await page.getByText(EMAIL).waitFor();
      expect(await page.getByRole('heading', { name: 'Open links' }).count()).toBe(0);
      const log = await dashboard.visit('/settings?tab=audit&scope=Staff');
      await log.getByText(`${EMAIL} accepted the invitation as analyst`).waitFor();
      await log.getByText(`${EMAIL} invited as analyst`).waitFor();
    });

    it('does nothing once an admin revoked it', async () => {
      const page = await dashboard.visit('/settings?tab=staff');
      await page.getByRole('button', { name: 'Invite a person' }).click();
      await page.getByLabel('Email').fill('wrong@example.com');
      await page.getByLabel('Name').fill('Wrong Person');
      const link = await takeLink(page);
      await page.getByRole('button', { name: 'Revoke the link of Wrong Person' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke link' }).click();
      await page.getByText('Link revoked').waitFor();
      const theirs = await openBrowser();
      await theirs.goto(link);
      await isAt(theirs, 'This link does not work');
      await theirs.goto('/invitation');
      await isAt(theirs, 'This link does not work');
    });
  });

  it('a link to a new password ends the sessions of the account', async () => {
    const before = await signInAs(PASSWORD);
    expect(before.status).toBe(200);
    const page = await dashboard.visit('/settings?tab=staff');
    await page.getByRole('button', { name: 'New password for Katherine Johnson' }).click();
    const link = await takeLink(page);
    const theirs = await openBrowser();
    await theirs.goto(link);
    await isAt(theirs, 'Set a new password');
    await theirs.getByLabel('Password').fill('another of my own');
    await theirs.getByRole('button', { name: 'Set the password' }).click();
    await isAt(theirs, 'Overview');
    const cookie = before.headers.get('set-cookie')!.split(';')[0]!;
    const me = await fetch(`${dashboard.product.url}/api/trpc/staff.me`, { headers: { cookie } });
    expect(me.status).toBe(401);
  });

  describe('an account that somebody changes', () => {
    /** Makes an account with the name that its address begins with. */
    async function createAccount(name: string): Promise<string> {
      const { page } = dashboard;
      const input = { email: `${name}@example.com`, password: PASSWORD, role: 'viewer' };
      return (await (await dashboard.change(page.context(), 'staff.create', input)).json()).result.data.id;
    }
    const PROVOKES = { role: 'admin', provokes: /status of 400/ } as const;

    it('is disabled meanwhile: the page says why it makes no link to a new password', async () => {
      const page = await dashboard.open(PROVOKES);
      const id = await createAccount('leaving');
      await dashboard.visit('/settings?tab=staff', PROVOKES);
      await page.getByRole('button', { name: 'New password for leaving' }).click();
      expect((await dashboard.change(page.context(), 'staff.disable', { id })).status()).toBe(200);
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Make the link' }).click();
      await dialog.getByRole('alert').getByText('is a disabled account').waitFor();
    });

    it('takes its open link with it when it is disabled', async () => {
      const page = await dashboard.open({ role: 'admin' });
      const id = await createAccount('forgetful');
      await dashboard.change(page.context(), 'invitations.createPasswordLink', { id });
      await dashboard.visit('/settings?tab=staff');
      const link = page.getByRole('button', { name: 'Revoke the link of forgetful' });
      await link.waitFor();
      await page.getByRole('button', { name: 'Disable forgetful' }).click();
      await page.getByRole('button', { name: 'Disable account' }).click();
      await link.waitFor({ state: 'hidden' });
    });

    it('of one’s own keeps its role until a question is answered', async () => {
      const page = await dashboard.visit('/settings?tab=staff');
      const role = page.getByRole('row').filter({ hasText: 'You' }).getByRole('combobox');
      await role.selectOption('viewer');
      const question = page.getByRole('alertdialog', { name: 'Make yourself viewer?' });
      await question.getByRole('button', { name: 'Give up the role' }).waitFor();
      await question.getByRole('button', { name: 'Cancel' }).click();
      await question.waitFor({ state: 'detached' });
      expect(await role.inputValue()).toBe('admin');
      await page.reload();
      await settle(page);
      expect(await role.inputValue()).toBe('admin');
    });

    it('keeps its role if that is refused, which the page says although another change came after it', async () => {
      const page = await dashboard.open(PROVOKES);
      for (const name of ['first', 'second']) await createAccount(name);
      await dashboard.visit('/settings?tab=staff', PROVOKES);
      const answer = createGate();
      const refusal = { message: 'Not this one', code: -32600, data: { code: 'BAD_REQUEST', httpStatus: 400 } };
      let calls = 0;
      await intercept(page, '**/api/trpc/staff.setRole*', async (route) => {
        if (calls++ > 0) return route.continue();
        await answer.opened;
        await route.fulfill({ status: 400, json: { error: refusal } });
      });
      await page.getByLabel('Role of first').selectOption('analyst');
      await page.getByLabel('Role of second').selectOption('analyst');
      await page.getByText('second is now analyst').waitFor();
      answer.open();
      await page.getByText('Not this one').waitFor();
      expect(await page.getByLabel('Role of first').inputValue()).toBe('viewer');
    });
  });

  it('the own password is changed with the current one', async () => {
    const page = contexts.at(-1)!.pages()[0]!;
    await settle(page);
    await page.getByRole('button', { name: 'account' }).click();
    await page.getByRole('button', { name: 'Change password' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change your password' });
    await dialog.getByLabel('Current password').fill('not this one at all');
    await dialog.getByLabel('New password').fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Change password' }).click();
    await dialog.getByText('is wrong').waitFor();
    await page.evaluate(axe.source);
    expect(await findIssues(page)).toEqual([]);
    await dialog.getByLabel('Current password').fill('another of my own');
    await dialog.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Password changed. Your other sessions have ended.').waitFor();
    expect((await signInAs(PASSWORD)).status).toBe(200);
    // This browser has the new session.
    await page.reload();
    await isAt(page, 'Overview');
  });
}
