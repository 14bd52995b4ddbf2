import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PLAIN_HOST } from '../../support/browser.mjs';
import { intercept, settle } from '../../support/dashboard';
import { createGate } from '../../support/gate';
import { dashboard } from './shared-dashboard';
import {
  ADA,
  ADMIN,
  base,
  call,
  clear,
  EXPIRES,
  expire,
  IDS,
  NAMES,
  readLabel,
  readVerdict,
  readVerdicts,
  signIn,
  strip,
  tray,
  visit,
} from './verdict-cases';

// What happens to a verdict that cannot be saved.

export function registerUnsavedVerdictTests(): void {
  describe('a verdict that is not saved', () => {
    // Signed in, with an empty tab and without a label, whatever the test before has left.
    beforeEach(async () => {
      await dashboard.open(ADMIN);
      await clear(ADA);
    });
    afterEach(() => dashboard.leave());

    it('because the session of staff has expired is kept over the sign-in and sent to its own session', async () => {
      const page = await visit('/sessions', EXPIRES);
      // A read of these details that is refused would leave for the sign-in before the verdict.
      const details = ['getTimeline', 'getHistory'].map((name) =>
        page.waitForResponse(`**/api/trpc/sessions.${name}?*`),
      );
      await page.keyboard.press('j');
      await Promise.all(details);
      await expire(page);
      await page.keyboard.press('b');
      // The next session is selected, and its details send the page to the sign-in.
      await page.getByText('1 verdict is kept in this tab').waitFor();
      expect(page.url()).toContain('/sign-in?next=');
      await page.getByText(`Bot, ${NAMES[0]}`).waitFor();
      expect(await readVerdict(ADA)).toBe(null);
      await signIn(page);
      await page.getByText(`Saved: Bot, ${NAMES[0]}`).waitFor();
      expect(await Promise.all(IDS.map(readVerdict))).toEqual(['bot', null, null]);
      expect(new URL(page.url()).searchParams.get('selected')).not.toBe(ADA);
      expect(await tray(page).getByRole('listitem').count()).toBe(0);
    });

    it('says so with the name of the session, and does not replace what somebody has labelled meanwhile', async () => {
      const page = await visit(`/sessions/${ADA}`, { ...EXPIRES, provokes: /status of 40[01]/ });
      for (const pressed of 'b1') await page.keyboard.press(pressed);
      await expect.poll(async () => (await readVerdicts(ADA)).at(-1)).toEqual(['Labeled', 'bot', ['AutomatedInput']]);
      // A read that is refused would leave for the sign-in, as in the test before.
      await page.getByText('said why: automated input.').first().waitFor();
      await page.waitForLoadState('networkidle');
      // The reason that follows does not arrive. The strip offers no more of them.
      await expire(page);
      await page.keyboard.press('2');
      await tray(page).getByText('1 verdict is not saved').waitFor();
      await strip(page).waitFor({ state: 'hidden' });
      await tray(page)
        .getByRole('link', { name: `Bot, ${NAMES[0]}` })
        .waitFor();
      await tray(page).getByText('Your session has expired.', { exact: false }).waitFor();
      expect(new URL(page.url()).pathname).toMatch(/\/sessions\/ada$/);
      await call('POST', `/v1/sessions/${ADA}/label`, { verdict: 'human', notes: 'asked them' });
      await tray(page).getByRole('button', { name: 'Sign in and send' }).click();
      await page.waitForURL(/\/sign-in\?next=/);
      await signIn(page);
      await page.waitForURL(/\/sessions\/ada$/);
      await tray(page).getByText('somebody has labelled the session since', { exact: false }).waitFor();
      expect(await readLabel(ADA)).toMatchObject({ verdict: 'human', notes: 'asked them' });
      // The reviewer decides. All reasons are sent.
      await tray(page).getByRole('button', { name: 'Label anyway' }).click();
      const reasons = ['AutomatedInput', 'AutomationTool'];
      await expect.poll(async () => (await readVerdicts(ADA)).at(-1)).toEqual(['Labeled', 'bot', reasons]);
      await tray(page).getByRole('listitem').waitFor({ state: 'detached' });
    });

    it('does not replace what a colleague has labelled unseen, by keys, reasons and the undo of a removed label', async () => {
      const page = await visit('/sessions', { role: 'admin', provokes: /status of 400|ERR_FAILED/ });
      // The list does not learn what others do meanwhile.
      await intercept(page, '**/api/trpc/sessions.list*', (route) => route.abort());
      // An own label keeps the notes that the page shows, so each time says something else.
      const notes = () => `asked them, ${times}`;
      let times = 0;
      const label = (verdict: string) => {
        times += 1;
        return call('POST', `/v1/sessions/${ADA}/label`, { verdict, notes: notes() });
      };
      const expectKept = async (verdict: string) => {
        await tray(page).getByText('somebody has labelled the session since', { exact: false }).waitFor();
        expect(await readLabel(ADA)).toMatchObject({ verdict, notes: notes() });
        await tray(page).getByRole('button', { name: 'Discard' }).click();
        await tray(page).getByRole('listitem').waitFor({ state: 'detached' });
      };
      /** Selects the session, and waits until the page shows what the colleague has said. */
      const look = async () => {
        for (const pressed of 'kk') await page.keyboard.press(pressed);
        await page.getByRole('complementary').filter({ hasText: notes() }).waitFor();
      };
      await page.keyboard.press('j');
      await label('human');
      await page.keyboard.press('b');
      await expectKept('human');
      // A reason that follows the own verdict.
      await look();
      await page.keyboard.press('b');
      await expect.poll(() => readVerdict(ADA)).toBe('bot');
      await label('human');
      await page.keyboard.press('1');
      await expectKept('human');
      // Own changes in flight are not those of a colleague.
      await look();
      for (const pressed of 'bukhukb') await page.keyboard.press(pressed);
      const changes = ['Labeled bot', 'LabelUndone human', 'Labeled human', 'LabelUndone human', 'Labeled bot'];
      await expect
        .poll(async () => (await readVerdicts(ADA)).slice(-5).map(([cause, verdict]) => `${cause} ${verdict}`))
        .toEqual(changes);
      await tray(page).getByRole('listitem').waitFor({ state: 'detached' });
      await page.goto(`${base}/sessions/${ADA}`);
      await settle(page);
      await page.getByRole('button', { name: 'Remove label' }).click();
      await expect.poll(() => readVerdict(ADA)).toBe(null);
      await label('human');
      await page.getByRole('region', { name: 'Notifications' }).getByRole('button', { name: 'Undo' }).click();
      await expectKept('human');
    });

    it('because the server did not answer stays on every page, also after a reload, until it is handled', async () => {
      const page = await visit(`/sessions/${ADA}`, { role: 'admin', provokes: /status of 500|ERR_FAILED/ });
      const path = '**/api/trpc/sessions.setVerdict*';
      await intercept(page, path, (route) => route.abort());
      await page.keyboard.press('b');
      await tray(page).getByText('The server could not be reached.').waitFor();
      await page.getByRole('button', { name: 'Bot', exact: true, pressed: false }).waitFor();
      await page.keyboard.press('g');
      await page.keyboard.press('u');
      await page.waitForURL(/\/users$/);
      await tray(page).getByText(`Bot, ${NAMES[0]}`).waitFor();
      await page.reload();
      await settle(page);
      await tray(page).getByText(`Bot, ${NAMES[0]}`).waitFor();
      await page.unroute(path);
      await intercept(page, path, (route) => route.fulfill({ status: 500, body: '{}' }));
      await tray(page).getByRole('button', { name: 'Try again' }).click();
      await tray(page).getByRole('button', { name: 'Try again' }).waitFor();
      expect(await readVerdict(ADA)).toBe(null);
      await page.unroute(path);
      await tray(page).getByRole('button', { name: 'Try again' }).click();
      await expect.poll(() => readVerdict(ADA)).toBe('bot');
      await tray(page).getByRole('listitem').waitFor({ state: 'detached' });
    });

    it('because there is no network says so at once, and is not sent later by itself', async ({ onTestFinished }) => {
      const page = await visit(`/sessions/${ADA}`, { role: 'admin', provokes: /ERR_INTERNET_DISCONNECTED/ });
      onTestFinished(() => page.context().setOffline(false));
      await page.context().setOffline(true);
      await page.keyboard.press('b');
      await tray(page).getByText('The server could not be reached.').waitFor();
      await page.context().setOffline(false);
      await tray(page).getByRole('button', { name: 'Try again' }).click();
      await expect.poll(() => readVerdict(ADA)).toBe('bot');
      await tray(page).getByRole('listitem').waitFor({ state: 'detached' });
    });

    it('because the page was left while it was sent is sent by the next one', async () => {
      const page = await visit(`/sessions/${ADA}`);
      const path = '**/api/trpc/sessions.setVerdict*';
      let asked = 0;
      // The first one gets no answer.
      await intercept(page, path, (route) => ++asked > 1 && route.continue());
      await page.keyboard.press('b');
      await expect.poll(() => asked).toBe(1);
      await page.reload();
      await page.getByText(`Saved: Bot, ${NAMES[0]}`).waitFor();
      expect(await readVerdict(ADA)).toBe('bot');
    });

    it('because its answer was lost is not sent twice', async () => {
      const page = await visit(`/sessions/${ADA}`, { role: 'admin', provokes: /status of 400|ERR_FAILED/ });
      const path = '**/api/trpc/sessions.setVerdict*';
      await intercept(page, path, async (route) => {
        await route.fetch();
        await route.abort();
      });
      await page.keyboard.press('h');
      await tray(page).getByRole('button', { name: 'Try again' }).waitFor();
      expect(await readVerdict(ADA)).toBe('human');
      const before = await readVerdicts(ADA);
      await page.unroute(path);
      await tray(page).getByRole('button', { name: 'Try again' }).click();
      await page.getByText(`Saved: Human, ${NAMES[0]}`).waitFor();
      expect(await readVerdicts(ADA)).toEqual(before);
    });

    it('and waits for an earlier one of its session is asked about before the page is left', async () => {
      const page = await visit(`/sessions/${ADA}`);
      const path = '**/api/trpc/sessions.setVerdict*';
      const answer = createGate();
      await intercept(page, path, (route) => answer.opened.then(() => route.continue()));
      const asksBeforeLeaving = () =>
        page.evaluate(() => !window.dispatchEvent(new Event('beforeunload', { cancelable: true })));
      await page.keyboard.press('b');
      // The tab keeps it.
      expect(await asksBeforeLeaving()).toBe(false);
      await page.keyboard.press('h');
      expect(await asksBeforeLeaving()).toBe(true);
      answer.open();
      await expect.poll(() => readVerdict(ADA)).toBe('human');
      expect(await asksBeforeLeaving()).toBe(false);
      await page.unrouteAll({ behavior: 'wait' });
      await tray(page).getByRole('listitem').waitFor({ state: 'detached' });
    });

    it('and was a removal is undone by forgetting it, without another label', async () => {
      await call('POST', `/v1/sessions/${ADA}/label`, { verdict: 'bot', notes: 'kept' });
      const page = await visit(`/sessions/${ADA}`, { role: 'admin', provokes: /status of 400|ERR_FAILED/ });
      const before = await readVerdicts(ADA);
      await intercept(page, '**/api/trpc/sessions.removeLabel*', (route) => route.abort());
      await page.getByRole('button', { name: 'Remove label' }).click();
      await tray(page).getByText('The server could not be reached.').waitFor();
      await page.getByRole('button', { name: 'Bot', exact: true, pressed: true }).waitFor();
      await page.getByRole('region', { name: 'Notifications' }).getByRole('button', { name: 'Undo' }).click();
      await tray(page).getByRole('listitem').waitFor({ state: 'detached' });
      // Nothing is on its way either: the next page would send it.
      await page.reload();
      await settle(page);
      await page.waitForLoadState('networkidle');
      expect(await tray(page).getByRole('listitem').count()).toBe(0);
      expect(await readVerdicts(ADA)).toEqual(before);
      expect(await readLabel(ADA)).toMatchObject({ verdict: 'bot', notes: 'kept' });
    });

    it('and was a removal whose answer was lost is undone by labelling again', async () => {
      await call('POST', `/v1/sessions/${ADA}/label`, { verdict: 'bot', notes: 'kept' });
      const page = await visit(`/sessions/${ADA}`, { role: 'admin', provokes: /ERR_FAILED/ });
      await intercept(page, '**/api/trpc/sessions.removeLabel*', async (route) => {
        await route.fetch();
        await route.abort();
      });
      await page.getByRole('button', { name: 'Remove label' }).click();
      await tray(page).getByText('The server could not be reached.').waitFor();
      await page.getByRole('button', { name: 'Bot', exact: true, pressed: false }).waitFor();
      await page.getByRole('region', { name: 'Notifications' }).getByRole('button', { name: 'Undo' }).click();
      await expect.poll(() => readLabel(ADA)).toMatchObject({ verdict: 'bot', notes: 'kept' });
      await tray(page).getByRole('listitem').waitFor({ state: 'detached' });
    });

    it('can be discarded', async () => {
      const page = await visit(`/sessions/${ADA}`, { role: 'admin', provokes: /ERR_FAILED/ });
      await intercept(page, '**/api/trpc/sessions.setVerdict*', (route) => route.abort());
      await page.keyboard.press('b');
      await tray(page).getByRole('button', { name: 'Discard' }).click();
      await tray(page).getByRole('listitem').waitFor({ state: 'detached' });
      await page.reload();
      await settle(page);
      expect(await tray(page).getByRole('listitem').count()).toBe(0);
      expect(await readVerdict(ADA)).toBe(null);
    });

    it('can be given and ids be copied on plain http, where browsers offer less', async () => {
      const page = await dashboard.open({ provokes: /Cross-Origin-Opener-Policy/ });
      const plain = new URL(`${base}/sessions/${ADA}`);
      plain.hostname = PLAIN_HOST;
      await page.goto(plain.href);
      await signIn(page);
      await page.waitForURL(plain.href);
      await settle(page);
      expect(await page.evaluate(() => isSecureContext)).toBe(false);
      const id = page.getByRole('button', { name: /, copy session id$/ }).first();
      await id.click();
      await id.getByRole('status').getByText('Copied', { exact: true }).waitFor({ state: 'attached' });
      expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('BUTTON');
      await page.keyboard.press('b');
      await expect.poll(() => readVerdict(ADA)).toBe('bot');
    });
  });
}
