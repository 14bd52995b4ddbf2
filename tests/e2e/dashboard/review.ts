import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { intercept, settle } from '../../support/dashboard';
import {
  closed,
  correlated,
  finding,
  scored,
  secondsAgo,
  started,
  writing,
  writingEvidence,
} from '../../support/facts';
import { createGate } from '../../support/gate';
import { dashboard } from './shared-dashboard';

/** Shorter and longer than the page takes to render. */
const QUICK_PAUSES_MS = [0, 2, 5, 10, 20, 40];

const findSelected = (page: Page) => new URL(page.url()).searchParams.get('selected');
const rowOf = (page: Page, sessionId: string) =>
  page.getByRole('row').filter({ has: page.locator(`a[href*="/sessions/${sessionId}?"]`) });
/** Lists the session ids of the rows, in order. */
const listRows = (page: Page) =>
  page
    .locator('tbody a[href*="/sessions/"]')
    .evaluateAll((links) =>
      links.map((link) => decodeURIComponent((link as HTMLAnchorElement).pathname.split('/').at(-1)!)),
    );
const readVerdict = async (id: string) =>
  (await dashboard.api('GET', `/v1/sessions/${id}`)).body.data.label?.verdict ?? null;

/** Changes the choices one after the other, in the page itself, because each command of the browser's driver takes longer. */
async function changeFilters({ filters, pauseMs }: { filters: [label: string, value: string][]; pauseMs: number }) {
  for (const [label, value] of filters) {
    const select = document.querySelector<HTMLSelectElement>(`select[aria-label="${label}"]`)!;
    select.value = value;
    select.dispatchEvent(new Event('change', { bubbles: true }));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Lists of sessions, labels and thresholds. */
export function registerReviewTests(): void {
  describe('review', () => {
    it('works by keyboard alone: j selects, b and h label and go on, u undoes', async () => {
      const page = await dashboard.visit('/sessions?label=none');
      const [first, second, third] = (await listRows(page)) as [string, string, string];
      await page.keyboard.press('j');
      await expect.poll(() => findSelected(page)).toBe(first);
      await page.keyboard.press('b');
      await expect.poll(() => findSelected(page)).toBe(second);
      await rowOf(page, first).getByText('Labelled bot').waitFor();
      await page.keyboard.press('h');
      await expect.poll(() => findSelected(page)).toBe(third);
      await rowOf(page, second).getByText('Labelled human').waitFor();
      await expect.poll(() => Promise.all([first, second, third].map(readVerdict))).toEqual(['bot', 'human', null]);
      expect((await dashboard.api('GET', `/v1/sessions/${first}`)).body.data.riskLevel).toBe('bot');

      await page.keyboard.press('u');
      await expect.poll(() => findSelected(page)).toBe(second);
      await rowOf(page, second).getByText('Labelled human').waitFor({ state: 'detached' });
      await expect.poll(() => readVerdict(second)).toBe(null);
      await page.keyboard.press('u');
      await expect.poll(() => Promise.all([first, second].map(readVerdict))).toEqual([null, null]);
      expect(findSelected(page)).toBe(first);
    });

    it('shows a label also if the list was asked for more before, however late the answer comes', async () => {
      const page = await dashboard.visit('/sessions?label=none');
      const first = (await listRows(page))[0]!;
      await page.keyboard.press('j');
      await expect.poll(() => findSelected(page)).toBe(first);
      await settle(page);
      const shown = createGate();
      await intercept(page, '**/api/trpc/sessions.listSorted?*', async (route) => {
        const response = await route.fetch();
        await shown.opened;
        await route.fulfill({ response });
      });
      const asked = page.waitForRequest('**/api/trpc/sessions.listSorted?*');
      await page.getByRole('button', { name: 'Load more' }).click();
      await asked;
      const count = (await listRows(page)).length;
      // Its history is read when the answer to the label is shown.
      const labeled = page.waitForRequest('**/api/trpc/sessions.getHistory?*');
      await page.getByRole('complementary').getByRole('button', { name: 'Bot', exact: true }).click();
      await labeled;
      shown.open();
      await expect.poll(async () => (await listRows(page)).length).toBeGreaterThan(count);
      expect(await rowOf(page, first).getByText('Labelled bot').count()).toBe(1);
      await page.unrouteAll({ behavior: 'wait' });
      await page.keyboard.press('u');
      await expect.poll(() => readVerdict(first)).toBe(null);
    });

    it('labels what a link has selected, also if the list does not show it', async () => {
      const [{ id }] = (await dashboard.api('GET', '/v1/sessions?pageSize=1')).body.data;
      const page = await dashboard.visit(`/sessions?userId=nobody&selected=${id}`);
      await page.getByRole('complementary').getByText('Label as').waitFor();
      await page.keyboard.press('b');
      await expect.poll(() => readVerdict(id)).toBe('bot');
      await page.keyboard.press('u');
      await expect.poll(() => readVerdict(id)).toBe(null);
    });

    it('says why the timeline of the selected session cannot be read, and reads it again', async () => {
      const [{ id }] = (await dashboard.api('GET', '/v1/sessions?pageSize=1')).body.data;
      const page = await dashboard.visit('/sessions', { role: 'viewer', provokes: /status of 403/ });
      // Refused, because a fault would be tried three times first.
      const refusal = { message: 'Not now', code: -32_603, data: { code: 'FORBIDDEN', httpStatus: 403 } };
      await intercept(page, '**/api/trpc/sessions.getTimeline*', (route) =>
        route.fulfill({ status: 403, json: { error: refusal } }),
      );
      await page.locator(`tr[data-row="${id}"] td`).last().click();
      const panel = page.getByRole('complementary');
      await panel.getByRole('alert').getByText('Not now').waitFor();
      await page.unrouteAll({ behavior: 'wait' });
      await panel.getByRole('button', { name: 'Try again' }).click();
      await panel.getByRole('figure', { name: 'Timeline' }).waitFor();
    });

    it('does not go on to the next session if the role may not label', async () => {
      const page = await dashboard.visit('/sessions?label=none', { role: 'viewer' });
      const [first] = await listRows(page);
      for (const key of 'jb') await page.keyboard.press(key);
      await page.getByText('Your role is viewer: you cannot label.').waitFor();
      expect(findSelected(page)).toBe(first);
    });

    it('keeps up with keys that are pressed faster than the page renders', async () => {
      const page = await dashboard.visit('/sessions?label=none');
      const ids = (await listRows(page)).slice(0, 4);
      for (const key of 'jbhbh') await page.keyboard.press(key);
      await expect.poll(() => Promise.all(ids.map(readVerdict))).toEqual(['bot', 'human', 'bot', 'human']);
      for (const key of 'uuuu') await page.keyboard.press(key);
      await expect.poll(() => Promise.all(ids.map(readVerdict))).toEqual([null, null, null, null]);
    });

    it('also works on the page of a session, which shows everything about it', async () => {
      const [{ id }] = (await dashboard.api('GET', '/v1/sessions?pageSize=1')).body.data;
      const page = await dashboard.visit(`/sessions/${id}`);
      await page.keyboard.press('b');
      await expect.poll(() => readVerdict(id)).toBe('bot');
      await page.getByRole('button', { name: 'Bot', exact: true, pressed: true }).waitFor();
      await page.getByRole('button', { name: 'Undo' }).click();
      await expect.poll(() => readVerdict(id)).toBe(null);
      await page.getByRole('figure').first().waitFor();
    });

    it('changes the counts on the page of a user and of a course at once', async () => {
      const id = 'counted-again';
      const facts = [
        started(id, { pageUrl: 'https://lms.example.edu/courses/77001/quizzes/1' }),
        correlated(id, 'counted', { user: { id: 'counted', name: 'Counted Again' } }),
        scored(id, 0.95),
        closed(id),
      ];
      expect((await dashboard.product.ingest(dashboard.integrationId, facts)).status).toBe(200);
      const { courseId } = (await dashboard.api('GET', `/v1/sessions/${id}`)).body.data;
      for (const path of ['/users/counted', `/courses/${courseId}`]) {
        const page = await dashboard.visit(path);
        await page.getByText('1, of them 1 bot').waitFor();
        await page.keyboard.press('j');
        await expect.poll(() => findSelected(page)).toBe(id);
        await page.keyboard.press('h');
        await page.getByText('1, of them 0 bot').waitFor();
        await page.keyboard.press('u');
        await page.getByText('1, of them 1 bot').waitFor();
      }
    });

    it('shows the findings of an open session as they form, and what followed when it ends', async () => {
      const { product, integrationId } = dashboard;
      const send = async (...facts: unknown[]) => expect((await product.ingest(integrationId, facts)).status).toBe(200);
      const startedAt = secondsAgo(60);
      const at = (second: number) => new Date(Date.parse(startedAt) + second * 1000).toISOString();
      await send(started('live', { startedAt }));
      const page = await dashboard.visit('/sessions/live');
      const findings = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Findings' }) });
      await findings.getByText('Nothing is scored yet.').waitFor();
      await page.getByText('Live', { exact: true }).waitFor();
      const moments = [at(12), at(12.2)];
      const rules = [
        finding('page-jumps', { group: 'flow', state: 'notFound', measured: 0, weight: 0.3 }),
        finding('zero-pressure', { group: 'integrity', measured: 0.98765, moments, weight: 2.5 }),
        finding('uniform-typing', { group: 'typing', state: 'notMeasured', measured: null, expected: null }),
      ];
      const evidence = { evidence: rules, ruleSetVersion: '2026.1', detectionFlags: ['zero-pressure'] };
      await send(scored('live', 0.91, { scoredAt: at(30), ...evidence }));
      const found = findings.getByRole('listitem').filter({ hasText: 'Presses without pressure' });
      await found.getByText('The mouse button was pressed without pressure.').waitFor();
      const facts = async () =>
        (await found.locator('dl > div').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
      expect(await facts()).toEqual(['Measured 98.8 % of the presses', 'Usual below 0.5', 'Seen at 0:12']);
      await found.getByText('weight 2.5').waitFor();
      const timeline = page.getByRole('figure', { name: 'Timeline' });
      await expect.poll(() => timeline.locator('figcaption').textContent()).toMatch(/ Findings at 0:12\.$/);
      const moment = found.getByRole('button', { name: '0:12, show it on the timeline' });
      await moment.focus();
      await page.keyboard.press('Enter');
      await timeline.locator('[data-chosen]').waitFor();
      expect(await moment.getAttribute('aria-pressed')).toBe('true');
      await page.keyboard.press('Enter');
      await timeline.locator('[data-chosen]').waitFor({ state: 'detached' });
      await findings.getByText('Rules 2026.1', { exact: true }).waitFor();
      expect(await findings.getByText('The page jumps to what is pressed').isVisible()).toBe(false);
      await findings.getByText('Not found: 1').click();
      await findings.getByText('The page jumps to what is pressed').waitFor();
      // With those rules of today that the score does not name.
      await findings.getByText('Not measured: 25').click();
      await findings.getByText('Types at an even pace').waitFor();
      await page.getByText('91', { exact: true }).waitFor();
      await send(scored('live', 0.95, { scoredAt: at(40), ...evidence }), closed('live'));
      await findings.getByText('Scores: 91 at 0:30 → 95 at 0:40').waitFor();
      await page.getByText('Live', { exact: true }).waitFor({ state: 'detached' });
    });

    it('shows how the texts of a session came about when it ends, and why each has its score', async () => {
      const { product, integrationId } = dashboard;
      const send = async (...facts: unknown[]) => expect((await product.ingest(integrationId, facts)).status).toBe(200);
      await send(started('writes'));
      const page = await dashboard.visit('/sessions/writes');
      await page.getByText('Live', { exact: true }).waitFor();
      const texts = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Writing' }) });
      expect(await texts.count()).toBe(0);
      const fields = { documentId: 'essay', wordCount: 1_150, browsingSessionId: 'writes' };
      const text = writing('wri_essay', 0.45, { ...fields, evidence: writingEvidence() });
      await send(scored('writes', 0.1), text, closed('writes'));
      await texts.getByRole('heading', { name: 'essay · about 1,150 words' }).waitFor();
      const sources = texts.getByRole('list', { name: 'Where the characters came from' }).getByRole('listitem');
      expect(await sources.allInnerTexts()).toEqual([
        '49 % typed (500)',
        '49 % pasted (500)',
        '2 % brought back by undo or by the page (20)',
      ]);
      const reason = texts.getByRole('list', { name: 'Reasons' }).getByRole('listitem');
      expect(await reason.count()).toBe(1);
      expect((await reason.innerText()).replace(/\s+/g, ' ')).toBe(
        'Text was pasted Found weight 1 Text was pasted or dropped that was not seen to come from this page. Own notes come so too. Measured 50 % of the new text Usual below 20 % of the new text',
      );
      await texts.getByText('Not found, or not measured: 1').click();
      await texts.getByText('An even pace').waitFor();
    });

    it('keeps the notes and the confidence that somebody wrote, and shows who labelled', async () => {
      const { data } = (await dashboard.api('GET', '/v1/sessions?pageSize=3')).body;
      const { id } = data[2];
      const readLabel = async () => (await dashboard.api('GET', `/v1/sessions/${id}`)).body.data.label;
      const written = { confidence: 'low', notes: 'types like a person' };
      const page = await dashboard.visit('/sessions', { role: 'admin', provokes: /status of 400/ });
      const body = { verdict: 'human', ...written };
      expect((await dashboard.api('POST', `/v1/sessions/${id}/label`, body)).status).toBe(200);
      await page.reload();
      await settle(page);
      for (const key of 'jjjb') await page.keyboard.press(key);
      await expect.poll(readLabel).toMatchObject({ verdict: 'bot', ...written });
      await page.keyboard.press('k');
      await expect.poll(() => findSelected(page)).toBe(id);
      const panel = page.getByRole('complementary').filter({ hasText: written.notes });
      await panel.getByText(`Labelled bot by ${dashboard.demo.email}`).waitFor();
      await panel.getByText(/^Labelled bot .* low confidence$/).waitFor();

      await page.keyboard.press('u');
      await expect.poll(readLabel).toMatchObject({ verdict: 'human', ...written });
      await panel.getByText(`Labelled human by ${dashboard.demo.email}`).waitFor();

      // An undo leaves alone what somebody has written since.
      await page.keyboard.press('b');
      await expect.poll(readLabel).toMatchObject({ verdict: 'bot' });
      await dashboard.api('POST', `/v1/sessions/${id}/label`, { verdict: 'human', notes: 'asked them' });
      await page.keyboard.press('u');
      await page.getByText('somebody has labelled the session since').waitFor();
      await page.getByRole('button', { name: 'Discard' }).click();
      expect(await readLabel()).toMatchObject({ verdict: 'human', notes: 'asked them' });
      await page.getByText('“asked them”').first().waitFor();
      await page.getByText(/^Labelled human by aik_v1_/).waitFor();
      const { labeledAt } = await readLabel();
      const input = { sessionId: id, labeledAt };
      expect((await dashboard.change(page.context(), 'sessions.removeLabel', input)).status()).toBe(200);
    });

    it('shows the shortcuts at ?', async () => {
      const page = await dashboard.visit('/sessions');
      await page.keyboard.press('?');
      const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
      await dialog.getByText('Label as bot, go on').waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await page.keyboard.press('g');
      await page.keyboard.press('u');
      await page.waitForURL(`${dashboard.base}/users`);
    });
  });

  describe('the list of sessions', () => {
    it('keeps its filters in the URL, where they survive a reload', async () => {
      const page = await dashboard.visit('/sessions');
      await page.getByLabel('Risk', { exact: true }).selectOption('bot');
      await page.getByLabel('Device', { exact: true }).selectOption('desktop');
      await page.getByRole('button', { name: /^Risk: Bot/ }).waitFor();
      await page.getByLabel('Score from, 0 to 100').fill('80');
      await page.keyboard.press('Enter');
      const expectFiltered = async () => {
        await page.waitForURL(/\/sessions\?riskLevel=bot&deviceType=desktop&minBotScore=0\.8$/);
        const wanted = await dashboard.api('GET', `/v1/sessions${new URL(page.url()).search}`);
        const ids = wanted.body.data.map(({ id }: { id: string }) => id);
        expect(ids.length).toBeGreaterThan(0);
        await expect.poll(() => listRows(page)).toEqual(ids);
      };
      await page.getByRole('button', { name: /^Score from: 80/ }).waitFor();
      await expectFiltered();
      await page.reload();
      await settle(page);
      await expectFiltered();
      expect(await page.getByLabel('Risk', { exact: true }).inputValue()).toBe('bot');
      expect(await page.getByLabel('Score from, 0 to 100').inputValue()).toBe('80');
      await page.getByRole('button', { name: 'Clear all' }).click();
      await expect.poll(() => new URL(page.url()).search).toBe('');
      await page.getByText(/^50 of /).waitFor();
      await page.goBack();
      await expectFiltered();
    });

    it('keeps a score filter that is only looked at, and the focus in its field', async () => {
      const page = await dashboard.visit('/sessions?minBotScore=0.695');
      const field = page.getByLabel('Score from, 0 to 100');
      await field.focus();
      await page.keyboard.press('Tab');
      // A filter that is set afterwards builds on this one.
      await page.getByLabel('Risk', { exact: true }).selectOption('bot');
      await page.waitForURL(/\/sessions\?minBotScore=0\.695&riskLevel=bot$/);
      await field.fill('40');
      await page.keyboard.press('Enter');
      await page.waitForURL(/minBotScore=0\.4&/);
      await settle(page);
      expect(await field.evaluate((element) => element === document.activeElement)).toBe(true);
    });

    it('does not set a score filter again from which the reader went back', async () => {
      const page = await dashboard.visit('/sessions');
      const field = page.getByLabel('Score from, 0 to 100');
      await field.fill('40');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/sessions\?minBotScore=0\.4$/);
      await settle(page);
      await page.goBack();
      await page.waitForURL(/\/sessions$/);
      await expect.poll(() => field.inputValue()).toBe('');
      await field.blur();
      await page.getByLabel('Risk', { exact: true }).selectOption('bot');
      await page.waitForURL(/\/sessions\?riskLevel=bot$/);
    });

    it('keeps every filter when they are changed faster than the page renders', async () => {
      const page = await dashboard.visit('/sessions');
      const filters: [label: string, value: string][] = [
        ['Risk', 'bot'],
        ['Device', 'desktop'],
        ['Status', 'Scored'],
        ['Review', 'none'],
      ];
      for (const pauseMs of QUICK_PAUSES_MS) {
        await page.evaluate(changeFilters, { filters, pauseMs });
        await expect
          .poll(() => new URL(page.url()).search)
          .toBe('?riskLevel=bot&deviceType=desktop&status=Scored&label=none');
        await page.getByRole('button', { name: /^Review: / }).waitFor();
        await page.getByRole('button', { name: 'Clear all' }).click();
        await page.getByText(/^50 of /).waitFor();
      }
    });

    it('loads the next page at its end, without gaps or repeats', async () => {
      const page = await dashboard.visit('/sessions');
      const seen = await listRows(page);
      await page.getByRole('button', { name: 'Load more' }).click();
      await page.getByText(/^100 of /).waitFor();
      const rows = await listRows(page);
      expect(rows.slice(0, 50)).toEqual(seen);
      const { body } = await dashboard.api('GET', '/v1/sessions?pageSize=100');
      expect(rows).toEqual(body.data.map(({ id }: { id: string }) => id));
    });

    it('says when nothing matches, and filters by an exact text', async () => {
      const page = await dashboard.visit('/sessions?userId=nobody');
      await page.getByText('No session matches').waitFor();
      const { data } = (await dashboard.api('GET', '/v1/sessions?pageSize=100')).body;
      const { courseId } = data.find((session: { courseId: string | null }) => session.courseId);
      await page.getByRole('button', { name: /^User id: nobody/ }).click();
      await page.getByLabel('Filter by').selectOption({ label: 'Course id' });
      await page.getByRole('searchbox', { name: 'Exact text' }).fill(courseId);
      await page.keyboard.press('Enter');
      await page.waitForURL(`${dashboard.base}/sessions?courseId=${courseId}`);
      await page.getByRole('button', { name: `Course id: ${courseId} remove` }).waitFor();
    });
  });

  describe('risk thresholds', () => {
    it('shows how many sessions would change class before saving, and the API applies them at once', async () => {
      const { sessionId, botScore } = await findMedium();
      const { totalOf } = await countByScore();
      const page = await dashboard.visit('/settings?tab=thresholds');
      await page.getByText('Move a cut point to see how many sessions change class.').waitFor();
      // Low enough that the session is classified as bot.
      const botAt = Math.floor(botScore * 100);
      await page.getByLabel('Bot from', { exact: true }).and(page.getByRole('spinbutton')).fill(String(botAt));
      const moved = totalOf(botAt / 100, 0.7);
      await page.getByText(new RegExp(`^${moved} sessions? changes? class:$`)).waitFor();
      await page.getByText(`${moved} from medium to bot`).waitFor();
      expect(await readLevel(sessionId)).toBe('medium');
      await page.getByRole('button', { name: 'Save thresholds' }).click();
      await page.getByText(`Medium from 40, bot from ${botAt}`, { exact: true }).waitFor();
      expect(await readLevel(sessionId)).toBe('bot');
      await page.getByText('Move a cut point to see how many sessions change class.').waitFor();
      // Also from another page.
      const undo = page.getByRole('button', { name: 'Undo' });
      await undo.hover();
      await page.keyboard.press('g');
      await page.keyboard.press('s');
      await page.waitForURL(/\/sessions$/);
      await undo.click();
      await page.getByText('Medium from 40, bot from 70', { exact: true }).waitFor();
      expect(await readLevel(sessionId)).toBe('medium');
    });

    it('keep what somebody else saved meanwhile, also after an undo', async () => {
      const page = await dashboard.visit('/settings?tab=thresholds');
      await page.getByLabel('Medium from', { exact: true }).and(page.getByRole('spinbutton')).fill('45');
      const put = (thresholds: object) => dashboard.api('PUT', '/v1/settings/risk-thresholds', thresholds);
      expect((await put({ mediumAt: 40, botAt: 80 })).status).toBe(200);
      await page.getByRole('button', { name: 'Save thresholds' }).click();
      await page.getByText('Medium from 45, bot from 80', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByText('Medium from 40, bot from 80', { exact: true }).waitFor();
      await page.getByLabel('Medium from', { exact: true }).and(page.getByRole('spinbutton')).fill('45');
      // The page reads them before it saves, and again after that. The second answer comes late: it says nothing of what is saved meanwhile.
      const reads = '**/api/trpc/riskThresholds.get?*';
      const [isRead, late] = [createGate(), createGate()];
      let count = 0;
      await intercept(page, reads, async (route) => {
        if (++count !== 2) return route.continue();
        const response = await route.fetch();
        isRead.open();
        await late.opened;
        await route.fulfill({ response });
      });
      await page.getByRole('button', { name: 'Save thresholds' }).click();
      await isRead.opened;
      expect((await put({ mediumAt: 50, botAt: 80 })).status).toBe(200);
      await page.getByRole('button', { name: 'Undo' }).click();
      late.open();
      await page.getByText('Somebody has moved the cut point since, so it stays').waitFor();
      await page.unroute(reads);
      const { body } = await dashboard.api('GET', '/v1/settings/risk-thresholds');
      expect(body.data).toMatchObject({ mediumAt: 50, botAt: 80 });
      expect((await put({ mediumAt: 40, botAt: 70 })).status).toBe(200);
    });

    it('move by their handles, by pointer or keys, and never closer than the gap', async () => {
      const page = await dashboard.visit('/settings?tab=thresholds');
      const handle = page.getByRole('slider', { name: 'Bot from' });
      await handle.focus();
      await page.keyboard.press('ArrowLeft');
      await expect.poll(() => handle.getAttribute('aria-valuenow')).toBe('69');
      await page.keyboard.press('Home');
      await expect.poll(() => handle.getAttribute('aria-valuenow')).toBe('45');
      const spin = page.getByLabel('Bot from', { exact: true }).and(page.getByRole('spinbutton'));
      await spin.fill('42');
      await page.getByRole('alert').getByText('At least 5 above medium').waitFor();
      expect(await page.getByRole('button', { name: 'Save thresholds' }).isDisabled()).toBe(true);
      await page.getByRole('button', { name: 'Reset' }).click();
      await expect.poll(() => handle.getAttribute('aria-valuenow')).toBe('70');
    });
  });
}

const readLevel = async (id: string) => (await dashboard.api('GET', `/v1/sessions/${id}`)).body.data.riskLevel;

async function findMedium(): Promise<{ sessionId: string; botScore: number }> {
  const { body } = await dashboard.api('GET', '/v1/sessions?riskLevel=medium&minBotScore=0.46&pageSize=1');
  return { sessionId: body.data[0].id, botScore: body.data[0].botScore };
}

/** Counts sessions with a score in [from, below) by reading all of them. */
async function countByScore() {
  const scores: number[] = [];
  for (let cursor = ''; ; ) {
    const { data, pagination } = (await dashboard.api('GET', `/v1/sessions?pageSize=100${cursor}`)).body;
    scores.push(...data.map(({ botScore }: { botScore: number }) => botScore));
    if (!pagination.hasMore) break;
    cursor = `&cursor=${pagination.nextCursor}`;
  }
  return { totalOf: (from: number, below: number) => scores.filter((score) => score >= from && score < below).length };
}
