import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { describe, expect, it, onTestFinished } from 'vitest';
import { intercept, type Look, settle } from '../../support/dashboard';
import { anomaly, correlated, secondsAgo, started } from '../../support/facts';
import { createGate } from '../../support/gate';
import { dashboard, settings } from './shared-dashboard';

const ingest = async (facts: object[]) => {
  const sent = await dashboard.product.ingest(dashboard.integrationId, facts as never);
  expect(sent.status).toBe(200);
};

/** Anomalies, alerts and reports: in sentences, with names, and with who did what when. */
export function registerIncidentTests(): void {
  describe('incidents', () => {
    it('of ours are sentences with links; they are acknowledged, resolved and opened again', async () => {
      const [user, id] = [`user-${randomUUID()}`, randomUUID()];
      const session = (n: number, country: string) => [
        started(`${id}-${n}`, { country, startedAt: secondsAgo(9_000 - 3_600 * n) }),
        correlated(`${id}-${n}`, user, { user: { id: user, name: 'Grace Hopper' } }),
      ];
      await ingest([
        ...[...session(1, 'GB'), ...session(2, 'AU')],
        anomaly(`ano-${id}`, {
          ...{ sessionId: `${id}-2`, userId: user, detectedAt: secondsAgo(10) },
          metadata: { otherSessionId: `${id}-1`, distanceKm: 16_900, minutesBetween: 60, speedKmh: 16_900 },
        }),
      ]);
      const page = await dashboard.visit(`/anomalies?userId=${user}`, { role: 'analyst' });
      const row = page.getByRole('row').filter({ hasText: 'Grace Hopper began a session in United Kingdom' });
      await row.getByText('Open').waitFor();
      await page.keyboard.press('j');
      const panel = page.getByRole('complementary', { name: 'Places too far apart' });
      const sentence = panel.getByText(/^Grace Hopper began/);
      expect(await sentence.textContent()).toBe(
        'Grace Hopper began a session in United Kingdom and, 60 minutes later, one in Australia, at least 16,900 km away. That is 16,900 km/h.',
      );
      const hrefs = await sentence.getByRole('link').evaluateAll((links) => links.map((a) => a.getAttribute('href')));
      const { pathname: base } = new URL(dashboard.base);
      expect(hrefs).toEqual([`${base}/users/${user}`, `${base}/sessions/${id}-1`, `${base}/sessions/${id}-2`]);
      await page.keyboard.press('a');
      await row.getByText('Acknowledged').waitFor();
      await panel.getByText(/, analyst@example.com$/).waitFor();
      await panel.getByRole('button', { name: 'Resolve' }).click();
      await row.getByText('Resolved').waitFor();
      // The key changes nothing any more, and does not say that it did.
      await row.click();
      await page.keyboard.press('a');
      await page.getByText('Already resolved').waitFor();
      await page.getByLabel('Status').selectOption('Open');
      await page.getByText('No anomaly matches').waitFor();
      await page.getByLabel('Status').selectOption('Resolved');
      await row.click();
      await panel.getByRole('button', { name: 'Open again' }).click();
      await page.getByText('Opened again').waitFor();
      await page.getByText('No anomaly matches').waitFor();
      // A link shows the anomaly, whatever the list shows.
      await page.goto(`${dashboard.base}/anomalies?status=Resolved&selected=ano-${id}`);
      await settle(page);
      await page.getByText(/^Grace Hopper began/).waitFor();
      const viewer = await dashboard.visit(`/anomalies?userId=${user}&selected=ano-${id}`, { role: 'viewer' });
      expect(await viewer.getByRole('button', { name: 'Acknowledge' }).isDisabled()).toBe(true);
    });

    it('are worked off one by one: the next one follows the one that has left the list', async () => {
      const [user, id] = [`user-${randomUUID()}`, randomUUID()];
      await ingest(
        [1, 2, 3, 4].map((n) => anomaly(`ano-${n}-${id}`, { userId: user, detectedAt: secondsAgo(100 + n) })),
      );
      const page = await dashboard.visit(`/anomalies?userId=${user}&status=Open`, { role: 'analyst' });
      const selected = () => new URL(page.url()).searchParams.get('selected');
      for (const key of 'jj') await page.keyboard.press(key);
      await expect.poll(selected).toBe(`ano-2-${id}`);
      const rows = page.locator('tbody tr');
      await page.keyboard.press('a');
      await expect.poll(() => rows.count()).toBe(3);
      await page.keyboard.press('j');
      await expect.poll(selected).toBe(`ano-3-${id}`);
      await page.keyboard.press('a');
      await expect.poll(() => rows.count()).toBe(2);
      await page.keyboard.press('k');
      await expect.poll(selected).toBe(`ano-1-${id}`);
    });

    describe.each(['anomalies', 'alerts'] as const)('that leave the filter while they are shown: %s', (kind) => {
      /** Shows an open one in the list of open ones, whose panel cannot read it until the gate is opened. */
      async function show(look: Look) {
        const id = randomUUID();
        const { integrationId } = dashboard;
        const sql = postgres(settings.DATABASE_URL!, { max: 1 });
        if (kind === 'anomalies') await ingest([anomaly(id, { detectedAt: secondsAgo(10) })]);
        else
          await sql`insert into alerts (integration_id, id, message, severity, triggered_at)
                    values (${integrationId}, ${id}, 'Too many', 'high', now())`;
        await sql.end();
        const page = await dashboard.visit(`/${kind}?status=Open&selected=${id}`, look);
        const row = page.locator(`tr[data-row="${id}"]`);
        await row.waitFor();
        const panel = (await page.getByRole('complementary').filter({ hasText: 'Acknowledge' }).elementHandle())!;
        const read = createGate();
        onTestFinished(read.open);
        await intercept(page, `**/api/trpc/${kind}.get?*`, (route) => read.opened.then(() => route.continue()));
        /** The same panel all the time: it was not closed and opened again. */
        const isOpen = () => panel.evaluate((element) => element.isConnected);
        return { id, page, row, panel, read, isOpen };
      }

      it('show at once that they are resolved, and keep the focus', async () => {
        const { page, row, panel, read, isOpen } = await show({ role: 'analyst' });
        await page.getByRole('button', { name: 'Resolve', exact: true }).focus();
        await page.keyboard.press('Enter');
        await row.waitFor({ state: 'detached' });
        expect(await isOpen()).toBe(true);
        expect(await panel.textContent()).toContain('StatusResolved');
        expect(await panel.evaluate((element) => element.contains(document.activeElement))).toBe(true);
        read.open();
        await page.unrouteAll({ behavior: 'wait' });
      });

      it('keep the focus when they are opened again', async () => {
        const { page, panel, read } = await show({ role: 'analyst' });
        read.open();
        await page.keyboard.press('r');
        await expect.poll(() => panel.textContent()).toContain('StatusResolved');
        await page.getByRole('button', { name: 'Open again' }).press('Enter');
        await expect.poll(() => panel.textContent()).toContain('StatusOpen');
        expect(await panel.evaluate((element) => element.contains(document.activeElement))).toBe(true);
        await page.unrouteAll({ behavior: 'wait' });
      });

      it('stay open until it is read that a colleague has resolved them', async () => {
        const { id, page, row, panel, read, isOpen } = await show({ role: 'analyst', provokes: /ERR_FAILED/ });
        expect((await dashboard.change(page.context(), `${kind}.resolve`, { id })).ok()).toBe(true);
        // After a change without an answer the page reads everything again.
        await intercept(page, `**/api/trpc/${kind}.acknowledge`, (route) => route.abort());
        await page.keyboard.press('a');
        await row.waitFor({ state: 'detached' });
        expect(await isOpen()).toBe(true);
        read.open();
        await expect.poll(() => panel.textContent()).toContain('StatusResolved');
        expect(await isOpen()).toBe(true);
        await page.unrouteAll({ behavior: 'wait' });
      });
    });

    it.each([
      ['alerts', 'Alert not found', ''],
      ['anomalies', 'Anomaly not found', ''],
      ['alerts', 'Alert rule not found', '?tab=rules'],
      ['webhooks', 'Webhook not found', ''],
    ])('that are gone say so where a link leads to them: %s, %s', async (kind, message, search) => {
      for (const width of [1_440, 390]) {
        const page = await dashboard.visit(`/${kind}${search ? `${search}&` : '?'}selected=gone`, {
          ...{ role: 'viewer', width, provokes: /status of 404/ },
        });
        const details = page.locator('aside, dialog').filter({ hasText: message });
        await details.getByRole('button', { name: 'Close' }).first().click();
        await details.waitFor({ state: 'detached' });
        expect(new URL(page.url()).search).toBe(search);
      }
    });

    it('of a customer are rows of names and values, however long', async () => {
      const [user, id] = [`user-${randomUUID()}`, randomUUID()];
      const metadata = {
        examRoom: 'B 12',
        seenAt: '2026-01-31T09:30:00.000Z',
        isProctored: false,
        note: 'x'.repeat(3_000),
      };
      await ingest([anomaly(`ano-${id}`, { anomalyType: 'SeatSwap', userId: user, metadata })]);
      for (const width of [1_440, 390]) {
        const page = await dashboard.visit(`/anomalies?userId=${user}&selected=ano-${id}`, { role: 'admin', width });
        const details = page.locator('aside, dialog').filter({ hasText: 'Reported with it' });
        await details.getByText('Exam room').waitFor();
        const text = (await details.textContent())!;
        for (const words of ['Exam roomB 12', 'Is proctoredno', 'Seen at']) expect(text).toContain(words);
        expect(text).not.toContain('{');
        const overflow = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
        expect(await page.evaluate(overflow)).toBe(0);
      }
    });

    it('that are reports say who asked, for what, and why one failed', async () => {
      const sql = postgres(settings.DATABASE_URL!, { max: 1 });
      const id = `rep_${randomUUID()}`;
      await sql`
        insert into report_jobs (integration_id, id, name, template, format, parameters, start_at, end_at, state, failure, requested_by,
                                 completed_at, expires_at)
        values (${dashboard.integrationId}, ${id}, 'Of the dean', 'sessions', 'csv', '{"riskLevel":"bot","days":7}',
                now() - interval '7 days', now(), 'Failed', 'It has more rows than a file may have.', 'dean@example.edu',
                now() - interval '3 minutes', now() + interval '1 day')`;
      const page = await dashboard.visit('/reports', { role: 'admin' });
      const row = page.getByRole('row').filter({ hasText: 'Of the dean' });
      await row.getByText('7 days, bot sessions only, asked for by dean@example.edu').waitFor();
      await row.getByText('Failed 3 min ago: It has more rows than a file may have.').waitFor();
      await sql`delete from report_jobs where id = ${id}`;
      await sql.end();
      // One of the demo, which is ready.
      const ready = page.getByRole('table', { name: 'Reports', exact: true }).locator('tbody tr').last();
      await ready.getByText(/^\d+ days?, .*asked for by /).waitFor();
      await ready.click();
      const panel = page.getByRole('complementary');
      for (const name of ['Asked for by', 'Range', 'Filters']) await panel.getByText(name, { exact: true }).waitFor();
    });
  });
}
