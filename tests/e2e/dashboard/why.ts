import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Finding, SessionEvidence } from '../../../contract/evidence';
import { SCORE_BASE } from '../../../server/detection/log-odds';
import { RULES } from '../../../server/detection/rules/table';
import { settle } from '../../support/dashboard';
import { scoredSession } from '../../support/facts';
import { dashboard } from './shared-dashboard';

/** What is typed into the demo page. */
const ANSWER = 'Chlorophyll absorbs red and blue light.';
const READ = 'recordings.get';

/** A session of the demo that a program made, with a recording. */
let recorded: { id: string; createdAt: string; evidence: SessionEvidence };

const readEvidence = async (id: string): Promise<SessionEvidence> =>
  (await dashboard.api('GET', `/v1/sessions/${id}/evidence`)).body.data;
const findSlider = (page: Page) => page.getByRole('slider', { name: 'Time in the recording' });
const readNumber = async (slider: Locator, name: string) => Number(await slider.getAttribute(name));
const readTime = (slider: Locator) => readNumber(slider, 'aria-valuenow');
const findSection = (page: Page, title: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
/** Scrolls to the recording until its player is there: what still loads above pushes it out of view. */
async function scrollToPlayer(page: Page): Promise<void> {
  await expect
    .poll(async () => {
      await findSection(page, 'Recording').scrollIntoViewIfNeeded();
      return findSlider(page).isVisible();
    })
    .toBe(true);
}

/** Findings and recording of a session, which explain its score. */
export function registerWhyTests(): void {
  describe('why a session has its score', () => {
    beforeAll(async () => {
      const context = (await dashboard.open({ role: 'admin' })).context();
      const { data } = (await dashboard.api('GET', '/v1/sessions?riskLevel=bot&pageSize=50')).body;
      for (const { id, createdAt } of data) {
        const { recording } = (await (await dashboard.ask(context, READ, { sessionId: id })).json()).result.data;
        const hasPath = recording?.documents.some(({ path }: { path: number[] }) => path.length > 30);
        const evidence = await readEvidence(id);
        const hasMoments = evidence.findings.some(({ state, moments }) => state === 'found' && moments.length > 1);
        recorded = { id, createdAt, evidence };
        if (hasPath && hasMoments) return;
      }
      throw new Error('no session of the demo has a recording');
    });

    it('shows every rule in one of three states, what is usual, and how the weights make the score', async () => {
      const page = await dashboard.visit(`/sessions/${recorded.id}`);
      const findings = findSection(page, 'Findings');
      const { botScore, findings: all } = recorded.evidence;
      const inState = (state: Finding['state']) => all.filter((one) => one.state === state);
      expect(await findings.getByRole('list', { name: 'Found' }).getByRole('listitem').count()).toBe(
        inState('found').length,
      );
      expect(inState('found').length + inState('notFound').length + inState('notMeasured').length).toBe(RULES.length);
      for (const state of ['Not found', 'Not measured'] as const) {
        const count = inState(state === 'Not found' ? 'notFound' : 'notMeasured').length;
        const fold = findings.getByText(`${state}: ${count}`, { exact: true });
        await fold.focus();
        await page.keyboard.press('Enter');
        await findings.getByRole('list', { name: state }).waitFor();
      }
      const unmeasured = findings.getByRole('list', { name: 'Not measured' }).getByRole('listitem');
      for (const text of await unmeasured.allInnerTexts()) expect(text).toMatch(/\. It needs /);
      expect(await findings.locator('[data-range]').count()).toBeGreaterThan(5);
      const sum = (await findings.locator('[data-sum]').innerText()).replaceAll('−', '-');
      const [, start, weights, total] = /^Start (\S+), .+ \+(\S+): together (\S+)$/.exec(sum)!;
      expect(Number(start)).toBe(SCORE_BASE);
      const shown = all.reduce((added, { weight }) => added + weight, 0);
      expect(Number(weights)).toBeCloseTo(shown, 1);
      expect(Number(total)).toBeCloseTo(SCORE_BASE + shown, 1);
      const outcome = await findings.locator('figcaption').innerText();
      expect(outcome).toContain(`score ${Math.floor(botScore! * 100)}`);
    });

    it('moves the recording to a moment of a finding, by pointer and by keyboard', async () => {
      const page = await dashboard.visit(`/sessions/${recorded.id}`);
      const { flag, moments } = recorded.evidence.findings.find(
        (one) => one.state === 'found' && one.moments.length > 1,
      )!;
      const found = findSection(page, 'Findings')
        .locator('li')
        .filter({ has: page.locator(`[title="${flag}"]`) });
      const buttons = found.getByRole('button', { name: 'show it on the timeline' });
      const toMs = (moment: string) => Date.parse(moment) - Date.parse(recorded.createdAt);
      await buttons.first().click();
      const slider = findSlider(page);
      // Moments of one second are one button, which stands for the last of them.
      const times = moments.map(toMs);
      await expect.poll(async () => times.includes(await readTime(slider))).toBe(true);
      const first = await readTime(slider);
      expect(await findSection(page, 'Recording').locator(`[data-moment="${first}"]`).count()).toBeGreaterThan(0);
      expect(await slider.getAttribute('aria-valuetext')).toMatch(/^\d+:\d\d of \d+:\d\d, /);
      if ((await buttons.count()) > 1) {
        await buttons.nth(1).focus();
        await page.keyboard.press('Enter');
        await expect.poll(() => readTime(slider)).toBeGreaterThan(first);
        expect(times).toContain(await readTime(slider));
      }
    });

    it('moves through the recording by keys, plays and pauses', async () => {
      const page = await dashboard.visit(`/sessions/${recorded.id}`);
      await scrollToPlayer(page);
      const slider = findSlider(page);
      await slider.focus();
      const [least, most] = await Promise.all(
        ['aria-valuemin', 'aria-valuemax'].map((name) => readNumber(slider, name)),
      );
      await page.keyboard.press('Home');
      expect(await readTime(slider)).toBe(least);
      await page.keyboard.press('ArrowRight');
      expect(await readTime(slider)).toBe(least! + 1_000);
      await page.keyboard.press('End');
      expect(await readTime(slider)).toBe(most);
      await page.keyboard.press('PageDown');
      expect(await readTime(slider)).toBe(Math.max(least!, most! - 10_000));
      await page.keyboard.press('Home');
      await page.keyboard.press(' ');
      await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
      await expect.poll(() => readTime(slider)).toBeGreaterThan(least! + 1_000);
      await page.getByRole('button', { name: 'Pause', exact: true }).click();
      await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
      const box = (await slider.boundingBox())!;
      const pointers = new Set<string | null>();
      for (const part of [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]) {
        await page.mouse.click(box.x + box.width * part, box.y + 20);
        const expected = least! + (most! - least!) * part;
        expect(Math.abs((await readTime(slider)) - expected)).toBeLessThan((most! - least!) / 50);
        pointers.add(await page.locator('[data-stage] svg').getAttribute('data-pointer'));
      }
      expect(pointers.size).toBeGreaterThan(2);
    });

    it('shows the recording of a visitor while the session is open, and nothing of what they typed', async () => {
      const page = await dashboard.open({ role: 'admin' });
      const visitor = await page.context().newPage();
      try {
        await visitor.goto(`${dashboard.product.url}/demo`);
        await visitor.mouse.move(200, 200, { steps: 5 });
        const answer = visitor.getByLabel('Why do leaves look green?');
        await answer.click();
        await answer.pressSequentially(ANSWER.slice(0, 12));
        const findLive = async () => {
          const { data } = (await dashboard.api('GET', '/v1/sessions?status=Active&pageSize=20')).body;
          return data.find(({ id }: { id: string }) => /^ses_/.test(id))?.id ?? null;
        };
        await expect.poll(findLive).not.toBeNull();
        const id = await findLive();
        await page.goto(`${dashboard.base}/sessions/${id}`);
        await page.getByText('Live', { exact: true }).waitFor();
        await scrollToPlayer(page);
        const slider = findSlider(page);
        const before = await readNumber(slider, 'aria-valuemax');
        await answer.pressSequentially(ANSWER.slice(12));
        await expect.poll(() => readNumber(slider, 'aria-valuemax')).toBeGreaterThan(before);
        const read = async () => (await dashboard.ask(page.context(), READ, { sessionId: id })).text();
        const countKeys = async () => {
          const { documents } = JSON.parse(await read()).result.data.recording;
          return documents.reduce((sum: number, { keys }: { keys: number[] }) => sum + keys.length / 3, 0);
        };
        await expect.poll(countKeys).toBeGreaterThanOrEqual(ANSWER.length);
        const text = await read();
        for (const word of ANSWER.replace('.', '').split(' ')) expect(text).not.toContain(word);
        // Its only texts are addresses of pages, and what names its state.
        const texts = new Set<string>();
        JSON.parse(text, (name, value) => {
          if (typeof value === 'string') texts.add(Number.isNaN(Number(name)) ? name : 'url');
          return value;
        });
        expect([...texts].sort()).toEqual(['keptUntil', 'state', 'url']);
        expect(JSON.parse(text).result.data.recording.urls).toEqual([`${dashboard.product.url}/demo`]);
      } finally {
        await visitor.close();
      }
    });

    it('says that there is no recording of a session from a pipeline, and that no findings are stored', async () => {
      const id = 'without-pixel';
      await dashboard.product.ingest(dashboard.integrationId, scoredSession(0.9, id).facts);
      const page = await dashboard.visit(`/sessions/${id}`);
      await findSection(page, 'Recording').getByText('There is no recording').waitFor();
      await findSection(page, 'Findings').getByText('No findings are stored with this score').waitFor();
      expect(await findSlider(page).count()).toBe(0);
    });

    it.each(['light', 'dark'] as const)('fits into a phone, %s', async (theme) => {
      const page = await dashboard.visit(`/sessions/${recorded.id}`, { role: 'viewer', theme, width: 390 });
      await scrollToPlayer(page);
      await settle(page);
      const [wide, high] = await page.evaluate(() => {
        const panel = document.querySelector('[data-recording]')!;
        return [document.documentElement.scrollWidth, panel.scrollHeight - panel.clientHeight];
      });
      expect([wide, high]).toEqual([390, 0]);
    });
  });
}
