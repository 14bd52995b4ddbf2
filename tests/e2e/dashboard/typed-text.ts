import type { Dialog, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { intercept, type Look, settle, waitForAnswers } from '../../support/dashboard';
import { waitUntil } from '../../support/receiver';
import { dashboard } from './shared-dashboard';

const NOT_CLOSED = 'Not closed: what you have typed is not saved.';
const SIGNED_OUT = 'You are signed out.';

const LEAVE = 'confirm Leave this page? What you have typed is not saved.';

/** Answers the questions of the browser until `end`: with no, unless `isLeft`. */
function answerQuestions(page: Page) {
  const answers = { asked: [] as string[], isLeft: false, end: () => void page.off('dialog', answer) };
  const answer = (dialog: Dialog) => {
    answers.asked.push(`${dialog.type()} ${dialog.message()}`.trim());
    void (answers.isLeft ? dialog.accept() : dialog.dismiss());
  };
  page.on('dialog', answer);
  return answers;
}
const pathOf = (page: Page) => new URL(page.url()).pathname.split('/').slice(3).join('/');

/** What people have typed stays until they save or discard it, and fields show what colleagues have changed. */
export function registerTypedTextTests(): void {
  describe('text that is typed', () => {
    it('in a dialog stays on Escape and on a click outside, until it is saved or cancelled', async () => {
      const page = await dashboard.visit('/sessions');
      for (const pressed of 'jhr') await page.keyboard.press(pressed);
      const why = page.getByRole('dialog', { name: /^Why\?/ });
      await page.keyboard.type('Asked the teacher');
      for (const dismiss of [() => page.keyboard.press('Escape'), () => page.mouse.click(5, 5)]) {
        await dismiss();
        await why.getByRole('alert').getByText(NOT_CLOSED).waitFor();
        expect(await why.getByLabel('Notes').inputValue()).toBe('Asked the teacher');
      }
      await why.getByRole('button', { name: 'Cancel' }).click();
      await why.waitFor({ state: 'detached' });
      const undone = page.waitForResponse('**/api/trpc/sessions.undoVerdict*');
      await page.keyboard.press('u');
      expect((await undone).status()).toBe(200);
      await waitForAnswers(page);

      await dashboard.visit('/settings?tab=api-keys');
      const mint = page.getByRole('dialog', { name: 'Mint a key' });
      const open = () => page.getByRole('button', { name: 'Mint a key' }).click();
      await open();
      await mint.getByLabel('Name').fill('Half a name');
      await page.keyboard.press('Escape');
      await mint.getByRole('alert').getByText(NOT_CLOSED).waitFor();
      await mint.getByRole('button', { name: 'Close' }).click();
      await mint.waitFor({ state: 'detached' });
      // Nothing of it is left.
      await open();
      expect(await mint.getByRole('alert').count()).toBe(0);
      await page.keyboard.press('Escape');
      await mint.waitFor({ state: 'detached' });
    });

    it('that fills a page is left by a link, a key or the search, or with the tab, only after a question', async ({
      onTestFinished,
    }) => {
      onTestFinished(() => dashboard.leave());
      const page = await dashboard.visit('/alerts/rules/new', { role: 'admin' });
      const answers = answerQuestions(page);
      onTestFinished(answers.end);
      const { asked: questions } = answers;
      const path = () => pathOf(page);
      const goTo = (name: string) => page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
      await goTo('Users');
      await expect.poll(path).toBe('users');
      await page.goBack();
      await page.getByLabel('Message').fill('Too many bots in the quiz');
      expect(questions).toEqual([]);

      await goTo('Users');
      expect(questions).toEqual([LEAVE]);
      // Keys of letters act only outside of fields.
      await page.getByRole('main').focus();
      for (const pressed of 'gu') await page.keyboard.press(pressed);
      await expect.poll(() => questions.length).toBe(2);
      await page.keyboard.press('Control+k');
      const search = page.getByRole('dialog').getByRole('combobox');
      await search.fill('Users');
      await page.getByRole('option', { name: /^Users/ }).click();
      await expect.poll(() => questions.length).toBe(3);
      expect(new Set(questions).size).toBe(1);
      await page.keyboard.press('Escape');
      await search.waitFor({ state: 'detached' });
      expect(path()).toBe('alerts/rules/new');
      await page.evaluate(() => window.location.reload()).catch(() => {});
      await expect.poll(() => questions.at(-1)).toBe('beforeunload');
      expect(path()).toBe('alerts/rules/new');
      expect(await page.getByLabel('Message').inputValue()).toBe('Too many bots in the quiz');

      answers.isLeft = true;
      await goTo('Users');
      await expect.poll(path).toBe('users');
      expect(questions).toHaveLength(5);
      await page.goBack();
      await page.getByLabel('Message').fill('Half a rule');
      await page.getByRole('link', { name: 'Cancel' }).click();
      await expect.poll(path).toBe('alerts');
      expect(questions).toHaveLength(5);
    });

    it('is left by the back button, or for a new integration, only after a question; so is a secret', async ({
      onTestFinished,
    }) => {
      onTestFinished(() => dashboard.leave());
      const page = await dashboard.visit('/alerts?tab=rules', { role: 'admin' });
      const answers = answerQuestions(page);
      onTestFinished(answers.end);
      const openRule = async () => {
        await page.getByRole('link', { name: 'New rule' }).click();
        await expect.poll(() => pathOf(page)).toBe('alerts/rules/new');
      };
      const goBack = () => page.evaluate(() => window.history.back());
      await openRule();
      await goBack();
      await expect.poll(() => pathOf(page)).toBe('alerts');
      expect(answers.asked).toEqual([]);

      await openRule();
      await page.getByLabel('Name', { exact: true }).click();
      await page.keyboard.type('Half a rule');
      await goBack();
      await expect.poll(() => answers.asked).toEqual([LEAVE]);
      await page.getByRole('button', { name: /, switch integration$/ }).click();
      await page.getByRole('button', { name: 'Create an integration' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Made meanwhile');
      await dialog.getByRole('button', { name: 'Create integration' }).click();
      await expect.poll(() => answers.asked).toEqual([LEAVE, LEAVE]);
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      const listed = await dashboard.ask(page.context(), 'integrations.list');
      expect(await listed.text()).not.toContain('Made meanwhile');
      expect(pathOf(page)).toBe('alerts/rules/new');
      expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Half a rule');
      answers.isLeft = true;
      await goBack();
      await expect.poll(() => pathOf(page)).toBe('alerts');
      expect(answers.asked).toEqual([LEAVE, LEAVE, LEAVE]);

      // A dialog with a form, and then with a secret.
      answers.isLeft = false;
      await page.getByRole('navigation').getByRole('link', { name: 'Settings', exact: true }).click();
      await page.getByRole('button', { name: 'Mint a key' }).click();
      await dialog.getByLabel('Name').click();
      await page.keyboard.type('Unsaved');
      await goBack();
      await expect.poll(() => answers.asked.length).toBe(4);
      await dialog.getByRole('button', { name: 'Mint key' }).click();
      const stored = dialog.getByRole('button', { name: 'I have stored it' });
      await stored.waitFor();
      await goBack();
      await expect
        .poll(() => answers.asked.slice(3))
        .toEqual([LEAVE, 'confirm Leave this page? What it shows now is not shown again.']);
      await stored.click();
      expect(pathOf(page)).toBe('settings');
    });

    it('is not asked for as notes while the tab can keep no further verdict', async ({ onTestFinished }) => {
      onTestFinished(() => dashboard.leave());
      const page = await dashboard.visit('/sessions', { role: 'admin', provokes: /ERR_FAILED/ });
      await page.keyboard.press('j');
      await page.keyboard.press('h');
      const remove = page.getByRole('complementary').getByRole('button', { name: 'Remove label' });
      await page.keyboard.press('k');
      await remove.waitFor();
      await intercept(page, '**/api/trpc/sessions.setVerdict*', (route) => route.abort());
      await page.keyboard.press('b');
      const tray = page.getByRole('region', { name: 'Verdicts that are not saved' });
      await tray.getByText('1 verdict is not saved').waitFor();
      await page.evaluate(() => {
        const [key, text] = Object.entries(sessionStorage).find(([name]) => name.startsWith('unsaved-verdicts:'))!;
        const [entry] = JSON.parse(text);
        const others = Array.from({ length: 50 }, (_, n) => ({ ...entry, id: `id-${n}`, sessionId: `other-${n}` }));
        sessionStorage.setItem(key, JSON.stringify(others));
      });
      await page.reload();
      await settle(page);
      await tray.getByText('50 verdicts are not saved').waitFor();
      await page.keyboard.press('k');
      await remove.waitFor();
      await page.keyboard.press('r');
      await page.getByText('50 verdicts are not saved. Send or discard them first.').waitFor();
      expect(await page.getByRole('dialog').count()).toBe(0);
      await page.unroute('**/api/trpc/sessions.setVerdict*');
    });

    it('stays when the session of staff has expired: the page says where to sign in, and goes on then', async ({
      onTestFinished,
    }) => {
      onTestFinished(() => dashboard.leave());
      const page = await dashboard.visit('/alerts/rules/new', { role: 'admin', provokes: /status of 401/ });
      const context = page.context();
      const cookies = await context.cookies();
      await page.getByText(/^Would (not )?have fired/).waitFor();
      await context.clearCookies();
      await page.getByLabel('Name').fill('Half a rule');
      await page.getByLabel('Value').fill('17');
      const notice = page.getByRole('alert').filter({ hasText: SIGNED_OUT });
      const link = notice.getByRole('link', { name: 'sign in in another tab' });
      const path = new URL(page.url()).pathname;
      expect(await link.getAttribute('href')).toBe(`/sign-in?next=${encodeURIComponent(path)}`);
      expect(await link.getAttribute('target')).toBe('_blank');
      await context.addCookies(cookies);
      await page.getByLabel('Value').fill('18');
      await notice.waitFor({ state: 'detached' });
      expect(new URL(page.url()).pathname).toBe(path);
      expect(await page.getByLabel('Name').inputValue()).toBe('Half a rule');

      await dashboard.visit('/settings?tab=api-keys', { role: 'admin', provokes: /status of 401/ });
      await page.getByRole('button', { name: 'Mint a key' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('After a pause');
      await context.clearCookies();
      await dialog.getByRole('button', { name: 'Mint key' }).click();
      // Within the dialog, where the link can be pressed.
      await dialog.getByRole('alert').filter({ hasText: SIGNED_OUT }).getByRole('link').waitFor();
      await context.addCookies(cookies);
      await dialog.getByRole('button', { name: 'Mint key' }).click();
      await dialog.getByRole('button', { name: 'I have stored it' }).click();
      await page.getByRole('row').filter({ hasText: 'After a pause' }).waitFor();
    });

    it('keeps the page no longer once it is saved or discarded', async ({ onTestFinished }) => {
      onTestFinished(() => dashboard.leave());
      const look: Look = { role: 'admin', provokes: /status of 401/ };
      const page = await dashboard.visit('/settings?tab=sites', look);
      const context = page.context();
      const cookies = await context.cookies();
      /** The tab was behind another one. */
      const showAgain = () => page.evaluate(() => void window.dispatchEvent(new Event('visibilitychange')));
      /** Again and again, because a read that began before the cookies went has its answer. */
      const expectToLeave = () =>
        waitUntil(async () => {
          if (page.url().includes('/sign-in?next=')) return true;
          await showAgain().catch(() => {});
          return false;
        });
      const origins = page.getByLabel('Origins');
      const save = page.getByRole('button', { name: 'Save origins' });
      // The same ones, so that other tests find them.
      await origins.fill(`${await origins.inputValue()}\n`);
      await context.clearCookies();
      await showAgain();
      await page.getByRole('alert').filter({ hasText: SIGNED_OUT }).waitFor();
      await context.addCookies(cookies);
      await save.click();
      await page.getByText('Origins saved').waitFor();
      await expect.poll(() => save.isDisabled()).toBe(true);
      await context.clearCookies();
      await expectToLeave();

      await context.addCookies(cookies);
      await dashboard.visit('/settings?tab=thresholds', look);
      await page.getByRole('spinbutton', { name: 'Bot from' }).fill('77');
      await page.getByRole('button', { name: 'Reset' }).click();
      await context.clearCookies();
      await expectToLeave();
    });
  });

  describe('the plan field', () => {
    it('shows the plan that a colleague has chosen meanwhile, unless another one is chosen in it', async () => {
      const page = await dashboard.open({ role: 'admin' });
      const change = async (procedure: string, input: object) => {
        const answer = await dashboard.change(page.context(), procedure, input);
        expect(answer.status()).toBe(200);
        return (await answer.json()).result.data;
      };
      const { id } = await change('integrations.create', { name: 'Planned', plan: 'pro' });
      await page.goto(`${dashboard.product.url}/dashboard/${id}/settings?tab=integration`);
      await settle(page);
      const field = page.getByLabel('Plan', { exact: true });
      const act = page.getByRole('button', { name: 'Change plan' });
      /** A colleague changes the plan, and the page reads it again. */
      const changeElsewhere = async (plan: string, shown: string) => {
        await change('integrations.setPlan', { id, plan });
        await page.evaluate(() => {
          const now = Date.now;
          Date.now = () => now() + 60_000;
          window.dispatchEvent(new Event('visibilitychange'));
        });
        await page.getByText(`${shown}, service tier`).waitFor();
      };
      await changeElsewhere('starter', 'Starter');
      expect([await field.inputValue(), await act.isDisabled()]).toEqual(['starter', true]);
      await field.selectOption('free');
      await changeElsewhere('enterprise', 'Enterprise');
      expect([await field.inputValue(), await act.isDisabled()]).toEqual(['free', false]);
      await act.click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Change plan' }).click();
      await page.getByRole('alertdialog').waitFor({ state: 'detached' });
      await changeElsewhere('pro', 'Pro');
      expect([await field.inputValue(), await act.isDisabled()]).toEqual(['pro', true]);
    });
  });
}
