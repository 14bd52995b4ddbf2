import { beforeAll, describe, expect, it } from 'vitest';
import { answerOutage, intercept, settle, waitForAnswers } from '../../support/dashboard';
import { closed, scored, secondsAgo, started } from '../../support/facts';
import { createGate } from '../../support/gate';
import {
  caseOf,
  chooseThree,
  expectCase,
  furnish,
  openReview,
  press,
  readLabels,
  readQueue,
  readVerdicts,
  sql,
} from './queue-desk';
import { dashboard } from './shared-dashboard';

export function registerFewSessionTests(): void {
  describe('of a few sessions', () => {
    let id: string;
    beforeAll(async () => {
      id = await furnish(24);
    });

    it('shows a case with why, and goes on by b, h, s, j, k and u; what was skipped comes back and is counted', async () => {
      const page = await openReview(id);
      await expectCase(page, 'q-0');
      await caseOf(page, 'q-0').getByText('Presses without pressure').first().waitFor();
      await page.getByRole('list', { name: 'Queue' }).getByText('Learner 3', { exact: true }).waitFor();
      await press(page, 'bs');
      await expectCase(page, 'q-2');
      await page.getByText('1 reviewed · 1 skipped', { exact: true }).waitFor();
      await press(page, 'jk');
      await expectCase(page, 'q-2');
      await expect.poll(() => readLabels(id, 'q-0', 'q-1', 'q-2')).toEqual([1, null, null]);
      await page.keyboard.press('u');
      await expectCase(page, 'q-0');
      await expect.poll(() => readLabels(id, 'q-0')).toEqual([null]);
      await page.getByText('1 of 24', { exact: true }).waitFor();
    });

    it('labels one session for a key or a button that is held, however long, and moves on while j is held', async () => {
      const held = await furnish(6);
      const page = await openReview(held);
      /** Holds a key: the browser repeats it. */
      const hold = async (key: string) => {
        for (let n = 0; n < 4; n++) await page.keyboard.down(key);
        await page.keyboard.up(key);
      };
      await hold('b');
      await expectCase(page, 'q-1');
      await hold('s');
      await expectCase(page, 'q-2');
      await hold('j');
      await expectCase(page, 'q-5');
      await hold('k');
      await expectCase(page, 'q-1');
      await page.getByText('1 reviewed · 1 skipped', { exact: true }).waitFor();
      // A narrow window, and one that is enlarged, has the keys as buttons.
      await page.setViewportSize({ width: 640, height: 400 });
      await page.getByRole('toolbar', { name: 'Review' }).getByRole('button', { name: 'Human' }).focus();
      await hold('Enter');
      await expectCase(page, 'q-2');
      await page.getByText('2 reviewed', { exact: true }).waitFor();
      await expect
        .poll(() => readLabels(held, ...Array.from({ length: 6 }, (_, n) => `q-${n}`)))
        .toEqual([1, -1, null, null, null, null]);
    });

    it('goes on after a reload where it was', async () => {
      const page = await openReview(id);
      await press(page, 'hss');
      await expectCase(page, 'q-3');
      await expect.poll(() => readLabels(id, 'q-0')).toEqual([-1]);
      await waitForAnswers(page);
      await page.reload();
      await settle(page);
      await expectCase(page, 'q-3');
      await page.getByText('4 of 24', { exact: true }).waitFor();
      await page.getByText('1 reviewed · 2 skipped', { exact: true }).waitFor();
      // Another queue has what is left.
      await page.getByRole('button', { name: 'Open a new queue' }).click();
      await page.getByText('1 of 23', { exact: true }).waitFor();
      await expectCase(page, 'q-1');
    });

    it('goes on after the browser has gone back to it', async () => {
      const page = await openReview(id);
      const [first, second, third] = await readQueue(page, id);
      await press(page, 'hs');
      await expectCase(page, third);
      await page.keyboard.press('o');
      await page.waitForURL(new RegExp(`/sessions/${third}\\?from=review`));
      await page.goBack();
      await expectCase(page, third);
      await page.getByText('1 reviewed · 1 skipped', { exact: true }).waitFor();
      await expect.poll(() => readLabels(id, first, second, third)).toEqual([-1, null, null]);
    });

    it('does not wait where the cases of one call end, even if no call is answered', async () => {
      const page = await openReview(id);
      const first = await page.locator('article').getAttribute('data-session');
      await expect
        .poll(() =>
          page.evaluate(
            () =>
              performance.getEntriesByType('resource').filter(({ name }) => name.includes('review.listCases')).length,
          ),
        )
        .toBeGreaterThan(0);
      await page.waitForLoadState('networkidle');
      await intercept(page, '**/api/trpc/review.listCases**', () => {});
      const seen: string[] = [];
      for (let n = 0; n < 15; n++) {
        await page.keyboard.press('j');
        // Read in the frame after the key: nothing else may be shown in between.
        seen.push(await page.evaluate(() => document.querySelector('article')?.getAttribute('data-session') ?? 'none'));
      }
      expect(seen).toHaveLength(new Set(seen).size);
      expect(seen).not.toContain('none');
      expect(seen).not.toContain(first);
    });

    it('marks what a colleague labels meanwhile, passes it over, and never replaces their verdict', async () => {
      const page = await openReview(id, '', { role: 'admin', provokes: /status of 400/ });
      const [first, second, third] = await readQueue(page, id);
      const minted = await dashboard.change(page.context(), 'apiKeys.mint', {}, id);
      const { key } = (await minted.json()).result.data;
      /** Labels as somebody else. */
      const label = async (sessionId: string, verdict: string) => {
        const path = `/v1/sessions/${sessionId}/label`;
        expect((await dashboard.product.call('POST', path, { key, body: { verdict } })).status).toBe(200);
      };
      await label(second, 'human');
      await page.getByRole('list', { name: 'Queue' }).getByText('Labelled by somebody else').waitFor();
      await label(first, 'human');
      // Before the page knows of it.
      await page.keyboard.press('b');
      await expectCase(page, third);
      const tray = page.getByRole('region', { name: 'Verdicts that are not saved' });
      await tray.getByText('somebody has labelled the session since').waitFor();
      await tray.getByRole('button', { name: 'Discard' }).click();
      expect(await readLabels(id, first, second)).toEqual([-1, -1]);
      await page.getByText('2 labelled by somebody else').waitFor();
    });

    it('labels several with a reason after a question, and undoes the whole', async () => {
      const page = await openReview(id);
      const boxes = page.getByRole('checkbox', { name: /^Choose session/ });
      await boxes.nth(0).check();
      await boxes.nth(3).click({ modifiers: ['Shift'] });
      await page.keyboard.press('x');
      await page.getByText('3 sessions chosen').waitFor();
      await page.getByRole('button', { name: 'Label as bot …' }).click();
      const dialog = page.getByRole('alertdialog', { name: 'Label 3 sessions as bot?' });
      await dialog.getByRole('button', { name: 'Too fast' }).click();
      await dialog.getByLabel('Notes').fill('one wave');
      await page.keyboard.press('Escape');
      await dialog.getByRole('alert').getByText('Not closed: what you have typed is not saved.').waitFor();
      expect(await dialog.getByLabel('Notes').inputValue()).toBe('one wave');
      const before = await readVerdicts(id);
      await dialog.getByRole('button', { name: 'Label 3 as bot' }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByText('Labelled bot: 3 sessions').waitFor();
      const changed = async () => {
        const after = await readVerdicts(id);
        return [...after].filter(([one, { history }]) => history.length > before.get(one)!.history.length);
      };
      const labeled = await changed();
      expect(labeled.map(([, { label, history }]) => [label, history.at(-1)])).toEqual(
        Array.from({ length: 3 }, () => [1, { label: 1, reasons: ['TooFast'], isUndo: false }]),
      );
      await page.getByText('3 reviewed', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Undo' }).last().click();
      await page.getByText('Undone: 3 sessions').waitFor();
      expect((await changed()).map(([, { label }]) => label)).toEqual([null, null, null]);
      await page.getByText('0 reviewed', { exact: true }).waitFor();
    });

    it('keeps the verdict on a session whose label is not removed, because the tab can keep no further change', async () => {
      const few = await furnish(2);
      const page = await openReview(few);
      await expectCase(page, 'q-0');
      await page.keyboard.press('b');
      await expectCase(page, 'q-1');
      await expect.poll(() => readLabels(few, 'q-0')).toEqual([1]);
      const me = await dashboard.ask(page.context(), 'staff.me', undefined, few);
      const { id: staffId } = (await me.json()).result.data;
      await page.evaluate((key) => {
        const change = { kind: 'remove', input: { sessionId: 'other', labeledAt: '2026-01-01T00:00:00.000Z' } };
        const entry = { sessionName: 'Other', change, seenLabeledAt: null, state: 'Failed', message: 'No answer' };
        const entries = Array.from({ length: 50 }, (_, n) => ({ ...entry, id: `id-${n}`, sessionId: `other-${n}` }));
        sessionStorage.setItem(key, JSON.stringify(entries));
      }, `unsaved-verdicts:${staffId}:${few}`);
      await page.reload();
      await settle(page);
      await page.keyboard.press('k');
      await caseOf(page, 'q-0').getByRole('button', { name: 'Remove label' }).click();
      await page.getByText('50 verdicts are not saved. Send or discard them first.').waitFor();
      await page.getByText('1 reviewed', { exact: true }).waitFor();
      await dashboard.leave();
    });

    it('labels several again, and says that this replaces their labels, with all that they said', async () => {
      const page = await openReview(id);
      const ids = (await readQueue(page, id)).slice(0, 3);
      for (const verdict of ['bot', 'human']) {
        await chooseThree(page);
        await page.getByRole('button', { name: `Label as ${verdict} …` }).click();
        const dialog = page.getByRole('alertdialog', { name: `Label 3 sessions as ${verdict}?` });
        if (verdict === 'human') await dialog.getByText('3 sessions of them have a label').waitFor();
        else await dialog.getByLabel('Notes').fill('a bot');
        await dialog.getByRole('button', { name: `Label 3 as ${verdict}` }).click();
        await page.getByText(`Labelled ${verdict}: 3 sessions`).waitFor();
      }
      expect(await readLabels(id, ...ids)).toEqual([-1, -1, -1]);
      const notes =
        await sql`select label_notes as notes from sessions where integration_id = ${id} and id in ${sql(ids)}`;
      expect([...notes]).toEqual(Array(3).fill({ notes: null }));
    });

    it('labels several again that were opened before, are being labelled one by one, or were undone together', async () => {
      const few = await furnish(4);
      const page = await openReview(few);
      const first = createGate();
      await intercept(page, '**/api/trpc/sessions.setVerdict*', async (route) => {
        const response = await route.fetch();
        await first.opened;
        await route.fulfill({ response });
      });
      // The page keeps what it has read of each, also when it shows another one.
      for (const [place, key] of ['b', 'j', 'j'].entries()) {
        await expectCase(page, `q-${place}`);
        await page.keyboard.press(key);
      }
      await expect.poll(() => readLabels(few, 'q-0')).toEqual([1]);
      const labelTogether = async (verdict: string) => {
        await chooseThree(page);
        await page.getByRole('button', { name: `Label as ${verdict} …` }).click();
        await page.getByRole('button', { name: `Label 3 as ${verdict}` }).click();
        first.open();
        await page.getByText(`Labelled ${verdict}: 3 sessions`).waitFor();
      };
      await labelTogether('human');
      await labelTogether('bot');
      await page.getByRole('button', { name: 'Undo' }).last().click();
      await page.getByText('Undone: 3 sessions').waitFor();
      await expect.poll(() => readLabels(few, 'q-0', 'q-1', 'q-2')).toEqual([-1, -1, -1]);
      await labelTogether('bot');
      await expect.poll(() => readLabels(few, 'q-0', 'q-1', 'q-2')).toEqual([1, 1, 1]);
    });

    it('undoes by u what was done last: labels of several together, then the one before', async () => {
      const few = await furnish(5);
      const page = await openReview(few);
      await expectCase(page, 'q-0');
      await page.keyboard.press('b');
      await expectCase(page, 'q-1');
      await press(page, 'xjx');
      await page.getByRole('button', { name: 'Label as human …' }).click();
      await page.getByRole('button', { name: 'Label 2 as human' }).click();
      await page.getByText('Labelled human: 2 sessions').waitFor();
      await expect.poll(() => readLabels(few, 'q-0', 'q-1', 'q-2')).toEqual([1, -1, -1]);
      await page.keyboard.press('u');
      await page.getByText('Undone: 2 sessions').waitFor();
      expect(await readLabels(few, 'q-0', 'q-1', 'q-2')).toEqual([1, null, null]);
      await page.keyboard.press('u');
      await expect.poll(() => readLabels(few, 'q-0', 'q-1', 'q-2')).toEqual([null, null, null]);
    });

    it('is asked for by its kind and time alone, however many sessions the one before has', async () => {
      const page = await openReview(id);
      const asked = page.waitForRequest('**/api/trpc/review.listQueue*');
      await page.getByRole('button', { name: 'Open a new queue' }).click();
      const input = new URL((await asked).url()).searchParams.get('input') ?? '';
      expect(Object.keys(JSON.parse(input)).sort()).toEqual(['queue', 'timeZone', 'window']);
    });

    it('can be asked for again if it could not be read, also in a tab that has none yet', async () => {
      const page = await dashboard.open({ role: 'admin', provokes: /ERR_FAILED/ });
      const path = '**/api/trpc/review.listQueue*';
      await page.route(path, (route) => route.abort());
      await page.goto(`${dashboard.product.url}/dashboard/${id}/review?opened=2026-01-01T00:00:00.000Z`);
      await settle(page);
      const again = page.getByRole('button', { name: 'Try again' });
      await again.waitFor();
      await page.unroute(path);
      await again.click();
      await page.locator('article').waitFor();
    });

    it('labels several from the list of sessions, too', async () => {
      const page = await dashboard.open({ role: 'admin' });
      await page.goto(`${dashboard.product.url}/dashboard/${id}/sessions?label=none`);
      await settle(page);
      await press(page, 'jxjx');
      await page.getByText('2 sessions chosen').waitFor();
      await page.getByRole('button', { name: 'Label as human …' }).click();
      await page.getByRole('button', { name: 'Label 2 as human' }).click();
      await page.getByText('Labelled human: 2 sessions').waitFor();
      await page.getByRole('button', { name: 'Undo' }).last().click();
      await page.getByText('Undone: 2 sessions').waitFor();
    });

    it.each(['the notification', 'the key u'])(
      'undoes several with %s at the second try, if the first one failed',
      async (by) => {
        const page = await dashboard.open({ role: 'admin', provokes: /status of 503/ });
        await page.goto(`${dashboard.product.url}/dashboard/${id}/sessions?label=none`);
        await settle(page);
        await press(page, 'jxjx');
        await page.getByRole('button', { name: 'Label as human …' }).click();
        await page.getByRole('button', { name: 'Label 2 as human' }).click();
        await page.getByText('Labelled human: 2 sessions').waitFor();
        let tries = 0;
        await intercept(page, '**/api/trpc/review.undoVerdicts*', (route) =>
          tries++ === 0 ? answerOutage(route) : route.continue(),
        );
        await page.getByRole('button', { name: 'Undo' }).last().click();
        await page.getByText('Not undone. The service is temporarily unavailable').waitFor();
        if (by === 'the key u') await page.keyboard.press('u');
        else await page.getByRole('button', { name: 'Undo' }).last().click();
        await page.getByText('Undone: 2 sessions').waitFor();
        await page.unrouteAll({ behavior: 'wait' });
      },
    );

    it('goes to the next and previous session of the queue, and of a list, on their pages', async () => {
      const page = await openReview(id);
      const first = await page.locator('article').getAttribute('data-session');
      await page.keyboard.press('o');
      await page.waitForURL(new RegExp(`/sessions/${first}\\?from=review`));
      const place = page.getByRole('navigation', { name: 'Sessions of the list' });
      await place.getByText(/^1 of \d+$/).waitFor();
      await page.keyboard.press(']');
      await place.getByText(/^2 of \d+$/).waitFor();
      await page.getByRole('link', { name: 'Previous session' }).click();
      await page.waitForURL(new RegExp(`/sessions/${first}\\?`));
      await place.getByText(/^1 of \d+$/).waitFor();
      // Many keyboards have these signs behind AltGr, which Windows tells as Ctrl and Alt, or Option.
      for (const [sign, at] of [
        ['Control+Alt+]', 2],
        ['Alt+[', 1],
      ] as const) {
        await page.keyboard.press(sign);
        await place.getByText(new RegExp(`^${at} of \\d+$`)).waitFor();
      }
      await page.getByRole('link', { name: 'Back to the review' }).click();
      await expectCase(page, first!);

      await page.goto(`${dashboard.product.url}/dashboard/${dashboard.integrationId}/sessions?riskLevel=human`);
      await settle(page);
      const rows = await page
        .locator('tbody a[href*="/sessions/"]')
        .evaluateAll((links) => links.map((link) => new URL((link as HTMLAnchorElement).href).pathname));
      // The last row of the first page: the next session is one that the list has not loaded.
      await page.goto(
        `${dashboard.product.url}${rows.at(-1)}?${new URLSearchParams({ from: 'sessions?riskLevel=human' })}`,
      );
      await settle(page);
      await place.getByText(new RegExp(`^${rows.length}`)).waitFor();
      await page.getByRole('link', { name: 'Next session' }).click();
      await place.getByText(new RegExp(`^${rows.length + 1}`)).waitFor();
      expect(rows).not.toContain(new URL(page.url()).pathname);
      await page.keyboard.press('[');
      await page.waitForURL(({ pathname }) => pathname === rows.at(-1));
    });

    it('goes to the next session of a list of live ones also when the session ends meanwhile', async () => {
      const live = ['live-1', 'live-2'].map((sessionId, n) => started(sessionId, { startedAt: secondsAgo(60 + n) }));
      expect((await dashboard.product.ingest(id, live)).status).toBe(200);
      const page = await dashboard.open({ role: 'admin' });
      const from = new URLSearchParams({ from: 'sessions?status=Active' });
      await page.goto(`${dashboard.product.url}/dashboard/${id}/sessions/live-1?${from}`);
      const list = page.getByRole('navigation', { name: 'Sessions of the list' });
      await list.getByText('1 of 2').waitFor();
      expect((await dashboard.product.ingest(id, [closed('live-1'), scored('live-1', 0.1)])).status).toBe(200);
      await page.getByText('Scored', { exact: true }).first().waitFor();
      // Then everything else is read once more.
      await page.waitForLoadState('networkidle');
      await page.keyboard.press(']');
      await page.waitForURL(({ pathname }) => pathname.endsWith('/live-2'));
    });

    it('is the case alone on a phone, with buttons', async () => {
      const page = await openReview(id, '', { role: 'admin', width: 390, height: 800 });
      expect(await page.getByRole('list', { name: 'Queue' }).isVisible()).toBe(false);
      const first = await page.locator('article').getAttribute('data-session');
      const bar = page.getByRole('toolbar', { name: 'Review' });
      await bar.getByRole('button', { name: 'Next' }).click();
      await caseOf(page, first!).waitFor({ state: 'detached' });
      await bar.getByRole('button', { name: 'Previous' }).click();
      await expectCase(page, first!);
      // Each case begins at its top.
      await page.mouse.wheel(0, 600);
      await expect.poll(() => page.evaluate(() => window.scrollY)).toBeGreaterThan(400);
      await bar.getByRole('button', { name: 'Bot' }).click();
      await expect.poll(() => readLabels(id, first!)).toEqual([1]);
      const top = () => page.locator('article').evaluate((article) => article.getBoundingClientRect().top);
      await expect.poll(top).toBeGreaterThanOrEqual(0);
    });

    it('hides the score of the random sample until the verdict is given', async () => {
      const drawn = ['q-20', 'q-17'];
      for (const [position, sessionId] of drawn.entries())
        await sql`insert into review_sample (integration_id, day, position, session_id)
                    values (${id}, current_date, ${position}, ${sessionId}) on conflict do nothing`;
      const page = await openReview(id, '?queue=sample');
      const shown = caseOf(page, 'q-20');
      await shown.getByText('The score is hidden, so that the verdict does not depend on it.').waitFor();
      expect(await shown.getByText('of 100').count()).toBe(0);
      expect(await shown.getByText('Presses without pressure').count()).toBe(0);
      // Nor in what the page was sent.
      expect(await page.content()).not.toMatch(/(?<!\d)0\.79/);
      await page.keyboard.press('o');
      await page.getByText('Its page shows the score. Give your verdict first.').waitFor();
      await page.keyboard.press('h');
      await expectCase(page, 'q-17');
      await page.keyboard.press('k');
      await shown.getByText('of 100').waitFor();
      await shown.getByText('Presses without pressure').first().waitFor();
      await press(page, 'u');
      await shown.getByText('The score is hidden').waitFor();
      await expect.poll(() => readLabels(id, 'q-20')).toEqual([null]);
      // From the page of one with a verdict nobody comes to that of one without.
      await press(page, 'hko');
      await page.getByRole('navigation', { name: 'Sessions of the list' }).getByText('1 of 1').waitFor();
    });
  });
}
