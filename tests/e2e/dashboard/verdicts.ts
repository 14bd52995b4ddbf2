import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SessionHistory } from '../../../contract/session-history';
import { PLAIN_HOST } from '../../support/browser.mjs';
import { intercept, type Look, settle } from '../../support/dashboard';
import { closed, correlated, scored, secondsAgo, started } from '../../support/facts';
import { createGate } from '../../support/gate';
import { dashboard } from './shared-dashboard';

// A verdict with its reasons, its history, and what happens to one that cannot be saved. In a separate integration.

const ADMIN: Look = { role: 'admin' };
const EXPIRES: Look = { role: 'admin', provokes: /status of 401/ };
const NAMES = ['Ada Lovelace', 'Blaise Pascal', 'Carl Gauss'] as const;
/** The newest is the first of the list. */
const IDS = ['ada', 'blaise', 'carl'] as const;
const [ADA, BLAISE] = IDS;

let integrationId: string;
let base: string;
let key: string;

async function visit(path: string, look: Look = ADMIN): Promise<Page> {
  const page = await dashboard.open(look);
  await page.goto(base + path);
  await settle(page);
  return page;
}
const call = (method: string, path: string, body?: unknown) => dashboard.product.call(method, path, { key, body });
const readLabel = async (id: string) => (await call('GET', `/v1/sessions/${id}`)).body.data.label;
const readVerdict = async (id: string) => (await readLabel(id))?.verdict ?? null;
const change = async (procedure: string, input: unknown) => {
  const answer = await dashboard.change(dashboard.page.context(), procedure, input, integrationId);
  expect([procedure, answer.status()]).toEqual([procedure, 200]);
  return (await answer.json()).result.data;
};
/** Reads the verdicts of a session, oldest first. Needs a page that is signed in. */
const readVerdicts = async (sessionId: string) => {
  const answer = await dashboard.ask(dashboard.page.context(), 'sessions.getHistory', { sessionId }, integrationId);
  const { steps }: SessionHistory = (await answer.json()).result.data;
  return steps
    .filter(({ labeledBy }) => labeledBy !== null)
    .map(({ cause, verdict, reasons }) => [cause, verdict, reasons]);
};
const clear = async (sessionId: string) => {
  const label = await readLabel(sessionId);
  if (label) await change('sessions.removeLabel', { sessionId, labeledAt: label.labeledAt });
};
const tray = (page: Page) => page.getByRole('region', { name: 'Verdicts that are not saved' });
const strip = (page: Page) => page.getByRole('region', { name: 'Reasons for the last verdict' });
const signIn = async (page: Page) => {
  await page.getByLabel('Email').fill(dashboard.demo.email);
  await page.getByLabel('Password').fill(dashboard.demo.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
};
const expire = (page: Page) => page.context().clearCookies();

export function registerVerdictTests(): void {
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

  describe('verdicts', () => {
    it('take reasons by number keys after b or h, and are undone with them', async () => {
      const page = await visit('/sessions');
      for (const pressed of 'jb14') await page.keyboard.press(pressed);
      await strip(page).getByText(`Labelled bot: ${NAMES[0]}`).waitFor();
      const expected = ['AutomatedInput', 'TooFast'];
      await expect.poll(async () => (await readVerdicts(ADA)).at(-1)).toEqual(['Labeled', 'bot', expected]);
      expect(new URL(page.url()).searchParams.get('selected')).toBe(BLAISE);
      await expect
        .poll(() => strip(page).getByRole('button', { pressed: true }).allInnerTexts())
        .toEqual([expect.stringContaining('Automated input'), expect.stringContaining('Too fast')]);
      // The next session is labelled without any reason, and its strip replaces the one before.
      await page.keyboard.press('h');
      await strip(page).getByText(`Labelled human: ${NAMES[1]}`).waitFor();
      await expect.poll(() => readVerdicts(BLAISE)).toEqual([['Labeled', 'human', []]]);
      for (const pressed of 'uu') await page.keyboard.press(pressed);
      await expect.poll(() => Promise.all([ADA, BLAISE].map(readVerdict))).toEqual([null, null]);
      expect(await readVerdicts(ADA)).toEqual([
        ['Labeled', 'bot', []],
        ['Labeled', 'bot', ['AutomatedInput']],
        ['Labeled', 'bot', expected],
        ['LabelUndone', null, []],
      ]);
    });

    it('are shown as undone, however late the answer to an earlier read comes', async () => {
      const page = await visit('/sessions');
      const row = page.locator(`tbody a[href*="/sessions/${ADA}"]`).first();
      const name = await row.getAttribute('aria-label');
      const undone = createGate();
      let reads = 0;
      await intercept(page, '**/api/trpc/sessions.get?*', async (route) => {
        if (reads++ > 0) return route.continue();
        const response = await route.fetch();
        await undone.opened;
        // The page may not wait for it any more.
        await route.fulfill({ response }).catch(() => {});
      });
      for (const pressed of 'jh') await page.keyboard.press(pressed);
      await expect.poll(() => reads).toBe(1);
      await page.keyboard.press('u');
      await expect.poll(() => reads).toBe(2);
      undone.open();
      await expect.poll(() => row.getAttribute('aria-label')).toBe(name);
      await page.unrouteAll({ behavior: 'wait' });
      await settle(page);
      expect(await row.getAttribute('aria-label')).toBe(name);
      expect(await readVerdict(ADA)).toBeNull();
    });

    it('take notes and confidence in the form at r, and show author, confidence, reasons and history', async () => {
      const page = await visit(`/sessions/${ADA}`);
      for (const pressed of 'hr') await page.keyboard.press(pressed);
      // Without waiting for the form: letters and spaces are notes, and mean nothing to the page behind it.
      await page.keyboard.type('Asked the teacher');
      const form = page.getByRole('dialog', { name: `Why? ${NAMES[0]}` });
      await form.getByRole('button', { name: 'Known person' }).click();
      await form.getByRole('button', { name: 'Medium' }).click();
      await page.keyboard.press('Control+Enter');
      await expect
        .poll(() => readLabel(ADA))
        .toMatchObject({ verdict: 'human', confidence: 'medium', notes: 'Asked the teacher' });
      await page.getByText(`Labelled human by ${dashboard.demo.email}`).waitFor();
      await page.getByText('medium confidence', { exact: false }).first().waitFor();
      await page.getByRole('list', { name: 'Reasons of the reviewer' }).getByText('Known person').waitFor();
      const history = page.getByRole('list', { name: 'History of the class, latest first' });
      const latest = history.getByRole('listitem').first();
      await latest.getByText(`${dashboard.demo.email} said why, medium confidence: known person.`).waitFor();
      await latest.getByText('score 65 · medium from 40, bot from 70 · rules 2026.1').waitFor();
      // The panel of the list has the same in short.
      const list = await visit(`/sessions?selected=${ADA}`);
      await list.getByRole('complementary').getByText('said why').waitFor();
      // The form opens with what the label says.
      await list.getByRole('button', { name: 'Reason …' }).click();
      expect(await form.getByLabel('Notes').inputValue()).toBe('Asked the teacher');
      await form.getByRole('button', { name: 'Known person', pressed: true }).waitFor();
      await list.keyboard.press('Escape');
      await form.waitFor({ state: 'detached' });
      expect(await readLabel(ADA)).toMatchObject({ notes: 'Asked the teacher' });
    });

    it('stay as they are shown while they are sent, also if the page reads an open session again and again', async () => {
      expect(
        (await dashboard.product.ingest(integrationId, [started('open', { startedAt: secondsAgo(5 * 3600) })])).status,
      ).toBe(200);
      const page = await visit('/sessions/open');
      const answer = createGate();
      await intercept(page, '**/api/trpc/sessions.setVerdict*', (route) => answer.opened.then(() => route.continue()));
      const bot = page.getByRole('button', { name: 'Bot', exact: true });
      await page.keyboard.press('b');
      // The other parts of the page are read on, twice.
      for (let n = 0; n < 2; n++) await page.waitForResponse('**/api/trpc/sessions.getTimeline?*');
      expect(await bot.getAttribute('aria-pressed')).toBe('true');
      await page.keyboard.press('h');
      answer.open();
      await expect.poll(() => readVerdict('open')).toBe('human');
      expect(await readVerdicts('open')).toEqual([
        ['Labeled', 'bot', []],
        ['Labeled', 'human', []],
      ]);
      await tray(page).getByRole('listitem').waitFor({ state: 'detached' });
      await page.unrouteAll({ behavior: 'wait' });
      expect((await dashboard.product.ingest(integrationId, [closed('open')])).status).toBe(200);
    });

    it('can be removed, which can be undone', async () => {
      await call('POST', `/v1/sessions/${ADA}/label`, { verdict: 'bot', notes: 'kept' });
      const page = await visit(`/sessions/${ADA}`);
      await page.getByRole('button', { name: 'Remove label' }).click();
      await expect.poll(() => readVerdict(ADA)).toBe(null);
      expect((await readVerdicts(ADA)).at(-1)).toEqual(['LabelRemoved', null, []]);
      await page.getByRole('region', { name: 'Notifications' }).getByRole('button', { name: 'Undo' }).click();
      await expect.poll(() => readLabel(ADA)).toMatchObject({ verdict: 'bot', notes: 'kept' });
      await clear(ADA);
    });

    it('have an answer to why a session had its class at a time', async () => {
      await change('riskThresholds.update', { mediumAt: 30, botAt: 60 });
      await call('POST', '/v1/sessions/carl/label', { verdict: 'human' });
      const page = await visit('/sessions/carl');
      const ask = async (at: string) => {
        await page.getByLabel('Class at a time (UTC)').fill(at.slice(0, 16));
        return page.locator('section', { hasText: 'Why it had its class' }).getByRole('status').textContent();
      };
      expect(await ask(secondsAgo(4 * 3600))).toBe('The session had not begun.');
      expect(await ask(secondsAgo(3600))).toBe('Medium Its score was 65 of 100, medium began at 40 and bot at 70.');
      const labelled = await ask(secondsAgo(-60));
      expect(labelled).toMatch(
        /^Human aik_v1_\S+ labelled it human on \d+ \w{3} \d{4}, \d\d:\d\d:\d\d UTC\. Its score was 65/,
      );
      const steps = page.getByRole('list', { name: 'History of the class, latest first' }).getByRole('listitem');
      expect((await steps.allInnerTexts()).map((text) => text.split('\n')[0])).toEqual([
        ...['Human', 'Bot', 'Medium', 'Unscored'],
      ]);
      await change('riskThresholds.update', { mediumAt: 40, botAt: 70 });
      await clear('carl');
    });
  });

  describe('a long history of a class', () => {
    it('can be scrolled with keys in every browser', async () => {
      for (let n = 0; n < 12; n++)
        await call('POST', '/v1/sessions/carl/label', { verdict: n % 2 === 0 ? 'bot' : 'human' });
      const page = await visit('/sessions/carl');
      const history = page.getByRole('list', { name: 'History of the class, latest first' });
      expect(await history.evaluate((list) => list.scrollHeight > list.clientHeight)).toBe(true);
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate<AxeResults>("axe.run('main')");
      expect(violations.map(({ id }) => id)).toEqual([]);
      await clear('carl');
    });
  });

  describe('a confirmed device', () => {
    it('is asked for first, says who confirmed it, and can be revoked', async () => {
      const page = await visit(`/sessions/${ADA}`);
      const countConfirmed = async () => (await call('GET', '/v1/stats')).body.data.confirmedDevices;
      const question = page.getByRole('alertdialog');
      await page.getByRole('button', { name: 'Confirm device device-ada' }).click();
      expect(await question.textContent()).toContain('SharedDevice and DeviceSwitch anomalies of Ada Lovelace');
      await question.getByRole('button', { name: 'Cancel' }).click();
      expect(await countConfirmed()).toBe(0);
      await page.getByRole('button', { name: 'Confirm device device-ada' }).click();
      await question.getByRole('button', { name: 'Confirm device' }).click();
      await page.getByText(`by ${dashboard.demo.email}`).first().waitFor();
      expect(await countConfirmed()).toBe(1);
      const user = await visit('/users/user-ada');
      const devices = user.getByRole('list', { name: 'Devices' });
      await devices.getByText(`by ${dashboard.demo.email}`).waitFor();
      await devices.getByRole('button', { name: 'Revoke the confirmation of device device-ada' }).click();
      expect(await question.textContent()).toContain('are recorded again');
      await question.getByRole('button', { name: 'Revoke confirmation' }).click();
      await devices.getByRole('button', { name: 'Confirm device device-ada' }).waitFor();
      expect(await countConfirmed()).toBe(0);
    });
  });

  describe('the audit log of an integration', () => {
    it('has a sentence for labels, devices and webhooks', async () => {
      const url = 'https://hooks.example.com/services/hidden';
      const { id } = (await call('POST', '/v1/webhooks', { url, eventType: 'BotDetected', name: 'Chat' })).body.data;
      await visit('/sessions');
      await change('webhooks.update', { id, enabled: false, url: 'https://other.example.com/hidden' });
      await change('webhooks.rotateSecret', { id });
      await change('webhooks.delete', { id });
      await change('sessions.setVerdict', {
        sessionId: 'carl',
        verdict: 'bot',
        reasons: ['TooFast'],
        confidence: 'low',
      });
      await clear('carl');
      const { labeledAt } = await change('sessions.setVerdict', { sessionId: 'carl', verdict: 'bot' });
      await change('sessions.undoVerdict', { sessionId: 'carl', labeledAt, previousLabeledAt: null });
      const device = { userId: 'user-carl', fingerprint: 'device-carl' };
      await change('users.confirmDevice', device);
      await change('users.revokeDevice', device);
      const page = await visit('/settings?tab=audit');
      for (const sentence of [
        'Webhook Chat created: BotDetected to https://hooks.example.com/…',
        'Webhook Chat changed: address https://other.example.com/…',
        'Webhook Chat disabled',
        'Secret of webhook Chat rotated',
        'Webhook Chat deleted',
        'Session labelled bot, low confidence: too fast',
        'Label bot removed from a session',
        'Device device-carl confirmed as the user’s own',
        `Confirmation of device device-carl revoked, confirmed by ${dashboard.demo.email}`,
        'Label undone: no label again, was bot',
      ])
        await page.getByText(sentence).first().waitFor();
      expect(await page.content()).not.toContain('hidden/');
    });
  });

  describe('a verdict that is not saved', () => {
    // Signed in again and with an empty tab, whatever the test before has left.
    afterEach(() => dashboard.leave());

    it('because the session of staff has expired is kept over the sign-in and sent to its own session', async () => {
      const page = await visit('/sessions', EXPIRES);
      await page.keyboard.press('j');
      await expire(page);
      await page.keyboard.press('b');
      // The next session is selected, and its details send the page to the sign-in.
      await page.waitForURL(/\/sign-in\?next=/);
      await page.getByText('1 verdict is kept in this tab').waitFor();
      await page.getByText(`Bot, ${NAMES[0]}`).waitFor();
      expect(await readVerdict(ADA)).toBe(null);
      await signIn(page);
      await page.getByText(`Saved: Bot, ${NAMES[0]}`).waitFor();
      expect(await Promise.all(IDS.map(readVerdict))).toEqual(['bot', null, null]);
      expect(new URL(page.url()).searchParams.get('selected')).not.toBe(ADA);
      expect(await tray(page).getByRole('listitem').count()).toBe(0);
      await clear(ADA);
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
      await clear(ADA);
    });

    it('does not replace what a colleague has labelled unseen, by keys, reasons and the undo of a removed label', async () => {
      const page = await visit('/sessions', { role: 'admin', provokes: /status of 400|ERR_FAILED/ });
      // The list does not learn what others do meanwhile.
      await intercept(page, '**/api/trpc/sessions.list*', (route) => route.abort());
      const label = (verdict: string) => call('POST', `/v1/sessions/${ADA}/label`, { verdict, notes: 'asked them' });
      const expectKept = async (verdict: string) => {
        await tray(page).getByText('somebody has labelled the session since', { exact: false }).waitFor();
        expect(await readLabel(ADA)).toMatchObject({ verdict, notes: 'asked them' });
        await tray(page).getByRole('button', { name: 'Discard' }).click();
        await tray(page).getByRole('listitem').waitFor({ state: 'detached' });
      };
      /** Selects the session, and waits until the page shows what the colleague has said. */
      const look = async () => {
        for (const pressed of 'kk') await page.keyboard.press(pressed);
        await page.getByRole('complementary').filter({ hasText: 'asked them' }).waitFor();
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
      await clear(ADA);
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
      await clear(ADA);
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
      await clear(ADA);
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
      await clear(ADA);
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
      await clear(ADA);
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
      await dashboard.leave();
      await dashboard.open(ADMIN);
      await clear(ADA);
    });
  });
}
