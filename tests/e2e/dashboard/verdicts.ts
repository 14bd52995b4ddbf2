import axe, { type AxeResults } from 'axe-core';
import { describe, expect, it } from 'vitest';
import { intercept, settle } from '../../support/dashboard';
import { closed, secondsAgo, started } from '../../support/facts';
import { createGate } from '../../support/gate';
import { dashboard } from './shared-dashboard';
import {
  ADA,
  ADMIN,
  BLAISE,
  call,
  change,
  clear,
  integrationId,
  NAMES,
  readLabel,
  readVerdict,
  readVerdicts,
  strip,
  tray,
  visit,
} from './verdict-cases';

// A verdict with its reasons and its history.

export function registerVerdictTests(): void {
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

    it('are undone from the strip on another page, whose address stays', async () => {
      const page = await visit('/sessions');
      for (const pressed of 'jb') await page.keyboard.press(pressed);
      await expect.poll(() => readVerdict(ADA)).toBe('bot');
      for (const pressed of 'gu') await page.keyboard.press(pressed);
      await page.waitForURL(/\/users$/);
      await settle(page);
      await strip(page).getByRole('button', { name: 'Undo' }).click();
      await expect.poll(() => readVerdict(ADA)).toBe(null);
      expect(new URL(page.url()).search).toBe('');
    });

    it('are undone with the key on any page that shows the strip', async () => {
      const page = await visit('/sessions');
      for (const pressed of 'jb') await page.keyboard.press(pressed);
      await expect.poll(() => readVerdict(ADA)).toBe('bot');
      await expect.poll(() => new URL(page.url()).searchParams.get('selected')).toBe(BLAISE);
      await page.keyboard.press('o');
      await page.waitForURL(`**/sessions/${BLAISE}*`);
      await settle(page);
      await strip(page).getByText(`Labelled bot: ${NAMES[0]}`).waitFor();
      await page.keyboard.press('u');
      await expect.poll(() => readVerdict(ADA)).toBe(null);
      await strip(page).getByRole('button').first().waitFor({ state: 'detached' });
      await page.keyboard.press('u');
      await page.getByText('Nothing to undo').waitFor();
      expect(new URL(page.url()).pathname).toMatch(/\/sessions\/blaise$/);
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
      // The test before may have left the page to a viewer, who may change no thresholds.
      await dashboard.open(ADMIN);
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

    it('stay on the page of a session if they cannot be read again, with the reason above them', async () => {
      const page = await visit('/sessions/carl', { role: 'admin', provokes: /status of 403/ });
      const history = page.getByRole('list', { name: 'History of the class, latest first' });
      const time = page.getByLabel(/^Class at a time/);
      await time.fill('2030-01-31T09:30');
      // Refused, because a fault would be tried three times first.
      const refusal = { message: 'Not now', code: -32_603, data: { code: 'FORBIDDEN', httpStatus: 403 } };
      await intercept(page, '**/api/trpc/sessions.getHistory*', (route) =>
        route.fulfill({ status: 403, json: { error: refusal } }),
      );
      await page.getByRole('button', { name: 'Bot', exact: true }).click();
      const reason = page.getByRole('alert').filter({ hasText: 'Not now' });
      await reason.waitFor();
      expect(await history.getByText('The session began.').count()).toBe(1);
      expect(await time.inputValue()).toBe('2030-01-31T09:30');
      await page.unrouteAll({ behavior: 'wait' });
      await reason.getByRole('button', { name: 'Try again' }).click();
      await history.getByText(/ labelled it bot\.$/).waitFor();
      expect(await reason.count()).toBe(0);
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
    });
  });
}
