import { describe, expect, it } from 'vitest';
import type { VerdictReason } from '../../../contract/verdicts';
import { intercept, settle } from '../../support/dashboard';
import { createGate } from '../../support/gate';
import {
  caseOf,
  type Entry,
  expectCase,
  furnish,
  openQueueDatabase,
  openReview,
  press,
  readLabels,
  readVerdicts,
} from './queue-desk';
import { registerFewSessionTests } from './queue-of-few';
import { dashboard } from './shared-dashboard';

/** What a reviewer does with the session at a place, decided in advance. */
function planAct(n: number): 'bot' | 'human' | 'skip' | 'why' | 'undo' {
  if (n % 20 === 7) return 'skip';
  if (n % 40 === 11) return 'undo';
  if (n % 20 === 3) return 'why';
  return n % 9 === 0 ? 'bot' : 'human';
}

/** The review page: the queue, its keys, several at once, the sample, and the neighbours of a session's page. */
export function registerQueueTests(): void {
  describe('the review queue', () => {
    openQueueDatabase();

    it('is reviewed by keyboard alone: 60 sessions, and each verdict, reason and entry of the history is what was meant', async () => {
      const count = 60;
      const id = await furnish(count);
      const page = await openReview(id);
      await page.getByText(`1 of ${count}`, { exact: true }).waitFor();
      const skipped: number[] = [];
      const expected = new Map<string, { label: number | null; history: Entry[] }>();
      const bot: Entry = { label: 1, reasons: [], isUndo: false };
      const human: Entry = { label: -1, reasons: [], isUndo: false };
      for (let n = 0; n < count; n++) {
        const sessionId = `q-${n}`;
        await expectCase(page, sessionId);
        const act = planAct(n);
        if (act === 'skip') {
          await page.keyboard.press('s');
          skipped.push(n);
        } else if (act === 'undo') {
          await page.keyboard.press('b');
          await expectCase(page, `q-${n + 1}`);
          await page.keyboard.press('u');
          await expectCase(page, sessionId);
          await page.keyboard.press('h');
          expected.set(sessionId, { label: -1, history: [bot, { label: null, reasons: [], isUndo: true }, human] });
        } else if (act === 'why') {
          // The reasons follow when the next session is shown already. Each is a separate entry.
          await press(page, 'b');
          await expectCase(page, `q-${n + 1}`);
          await press(page, '14');
          const chosen: VerdictReason[] = ['AutomatedInput', 'TooFast'];
          const given = [chosen.slice(0, 1), chosen].map((reasons) => ({ ...bot, reasons }));
          expected.set(sessionId, { label: 1, history: [bot, ...given] });
        } else {
          await page.keyboard.press(act[0]!);
          expected.set(sessionId, { label: act === 'bot' ? 1 : -1, history: [act === 'bot' ? bot : human] });
        }
      }
      // The skipped ones come back. The first two are skipped again.
      for (const [index, n] of skipped.entries()) {
        await expectCase(page, `q-${n}`);
        await page.keyboard.press(index < 2 ? 's' : 'b');
        expected.set(`q-${n}`, index < 2 ? { label: null, history: [] } : { label: 1, history: [bot] });
      }
      const bots = [...expected.values()].filter(({ label }) => label === 1).length;
      const humans = [...expected.values()].filter(({ label }) => label === -1).length;
      expect(bots + humans).toBe(count - 2);
      await page.getByText(`${count - 2} reviewed: ${bots} bot, ${humans} human, 2 skipped`).waitFor();
      const { email } = dashboard.demo;
      const wanted = [...expected].map(([sessionId, one]) => [
        sessionId,
        { ...one, by: one.label === null ? null : email },
      ]);
      await expect.poll(async () => Object.fromEntries(await readVerdicts(id))).toEqual(Object.fromEntries(wanted));
    });

    it('keeps a label that is given while the session is read after an undo', async () => {
      const id = await furnish(2);
      const page = await openReview(id);
      await page.keyboard.press('h');
      await expectCase(page, 'q-1');
      await expect.poll(() => readLabels(id, 'q-0')).toEqual([-1]);
      await settle(page);
      const [read, answer, label] = [createGate(), createGate(), createGate()];
      await intercept(page, '**/api/trpc/sessions.get?*', async (route) => {
        const response = await route.fetch();
        read.open();
        await answer.opened;
        // The page may not wait for it any more.
        await route.fulfill({ response }).catch(() => {});
      });
      await intercept(page, '**/api/trpc/sessions.setVerdict*', (route) => label.opened.then(() => route.continue()));
      await page.keyboard.press('u');
      await read.opened;
      await press(page, 'bk');
      await expectCase(page, 'q-0');
      const bot = caseOf(page, 'q-0').getByRole('button', { name: 'Bot', exact: true });
      expect(await bot.getAttribute('aria-pressed')).toBe('true');
      answer.open();
      await page.waitForTimeout(200);
      expect(await bot.getAttribute('aria-pressed')).toBe('true');
      label.open();
      await expect.poll(() => readLabels(id, 'q-0')).toEqual([1]);
    });

    it('does not count a verdict that was undone while the page asked for the latest ones', async () => {
      const id = await furnish(1);
      const page = await openReview(id);
      await page.keyboard.press('h');
      await expect.poll(() => readLabels(id, 'q-0')).toEqual([-1]);
      const [told, answer] = [createGate(), createGate()];
      let answered = '';
      await intercept(page, '**/api/trpc/review.listVerdicts?*', async (route) => {
        const response = await route.fetch();
        answered ||= await response.text();
        told.open();
        await answer.opened;
        await route.fulfill({ response });
      });
      await told.opened;
      expect(answered).toContain('q-0');
      await page.keyboard.press('u');
      await expect.poll(() => readLabels(id, 'q-0')).toEqual([null]);
      const response = page.waitForResponse('**/api/trpc/review.listVerdicts?*');
      answer.open();
      await (await response).finished();
      await expectCase(page, 'q-0');
      await settle(page);
      expect(await page.getByText('0 reviewed', { exact: true }).count()).toBe(1);
      await page.unrouteAll({ behavior: 'wait' });
    });

    it('is the one that was chosen last, however late the answer to an earlier choice comes', async () => {
      const id = await furnish(1);
      const page = await openReview(id);
      const answer = createGate();
      const isWeek = (url: string) => decodeURIComponent(url).includes('"7d"');
      await intercept(page, '**/api/trpc/review.listQueue?*', async (route) => {
        const response = await route.fetch();
        if (isWeek(route.request().url())) await answer.opened;
        await route.fulfill({ response });
      });
      const late = page.waitForResponse((response) => isWeek(response.url()));
      await page.getByRole('button', { name: 'Last 7 days' }).click();
      await page.getByRole('button', { name: 'Today' }).click();
      await page.waitForURL(/window=today/);
      answer.open();
      await (await late).finished();
      await settle(page);
      await page.waitForTimeout(200);
      expect(new URL(page.url()).searchParams.get('window')).toBe('today');
      expect(await page.getByRole('button', { name: 'Today' }).getAttribute('aria-pressed')).toBe('true');
    });

    registerFewSessionTests();
  });
}
