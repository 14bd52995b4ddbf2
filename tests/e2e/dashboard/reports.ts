import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { settle } from '../../support/dashboard';
import { report } from '../../support/facts';
import { dashboard, openSeparatePage } from './shared-dashboard';

/** Reports and their schedules. */
export function registerReportTests(): void {
  describe('a report', () => {
    it('is requested in the form, appears when it is ready, is downloaded and deleted', async () => {
      const page = await dashboard.visit('/reports', { role: 'analyst', provokes: /status of 404/ });
      await page.getByRole('button', { name: 'Request a report' }).click();
      const dialog = page.getByRole('dialog', { name: 'Request a report' });
      await dialog.getByLabel('Template').selectOption('Course integrity summary');
      await dialog.getByLabel('Course').fill('no such course');
      await dialog.getByRole('button', { name: 'Request report' }).click();
      await dialog.getByRole('alert').filter({ hasText: 'Course not found' }).waitFor();
      await dialog.getByLabel('Template').selectOption('Sessions');
      await dialog.getByLabel('Course').fill('');
      await dialog.getByLabel('Risk').selectOption('Bot');
      await dialog.getByLabel('Window').selectOption('30 days');
      await dialog.getByLabel('Name').fill('Bots for the dean');
      await dialog.getByRole('button', { name: 'Request report' }).click();
      await page.getByText('The report is being made.').waitFor();
      const row = page
        .getByRole('table', { name: 'Reports', exact: true })
        .locator('tbody tr', { hasText: 'Bots for the dean' });
      await row.getByText('Ready').waitFor();
      const downloading = page.waitForEvent('download');
      await row.getByRole('link', { name: 'Download Bots for the dean' }).click();
      const download = await downloading;
      expect(download.suggestedFilename()).toBe('Bots for the dean.csv');
      const file = await readFile(await download.path(), 'utf8');
      expect(file).toMatch(/^\uFEFFcreatedAt,sessionId,/);
      expect(file.trim().split('\r\n').length).toBeGreaterThan(10);
      await row.click();
      await page.getByRole('button', { name: 'Delete report' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Delete report' }).click();
      await row.waitFor({ state: 'detached' });
    });

    it('appears while the page is open, also if nobody asked for it there', async () => {
      // A clock that was moved stays moved in its context: a text of the next test could have been spoken meanwhile.
      const page = await openSeparatePage('viewer');
      await page.clock.install();
      await page.goto(`${dashboard.base}/reports`);
      await settle(page);
      const reportId = randomUUID();
      await dashboard.product.ingest(dashboard.integrationId, [report(reportId, { reportName: reportId })]);
      await page.clock.fastForward(16_000);
      await page.getByText(reportId).waitFor();
    });

    it('is only read by viewers', async () => {
      const page = await dashboard.visit('/reports', { role: 'viewer' });
      await page.getByText('only analysts and admins may request reports').waitFor();
      expect(await page.getByRole('button', { name: 'Request a report' }).isDisabled()).toBe(true);
      expect(await page.getByRole('button', { name: 'Schedule a report' }).isDisabled()).toBe(true);
    });
  });

  describe('a schedule', () => {
    it('is created by an admin, shows when it is due, and is deleted', async () => {
      const page = await dashboard.visit('/reports', { role: 'admin', provokes: /status of 400/ });
      await page.getByRole('button', { name: 'Schedule a report' }).click();
      const dialog = page.getByRole('dialog', { name: 'Schedule a report' });
      // A monthly list of all days.
      await dialog.getByLabel('Window').selectOption('31 days: no month is longer');
      await dialog.getByLabel('Template').selectOption('Weekly overview');
      await dialog.getByLabel('Format').selectOption('pdf');
      await dialog.getByLabel('Day', { exact: true }).selectOption('Tuesday');
      await dialog.getByLabel('Hour').selectOption('07:00');
      await dialog.getByLabel('Time zone').fill('Europe/Atlantis');
      await dialog.getByRole('button', { name: 'Create schedule' }).click();
      await dialog.getByRole('alert').filter({ hasText: 'must be a time zone' }).waitFor();
      await dialog.getByLabel('Time zone').fill('Europe/Paris');
      await dialog.getByRole('button', { name: 'Create schedule' }).click();
      const row = page.getByRole('table', { name: 'Schedules' }).locator('tbody tr', { hasText: 'Weekly overview' });
      await row.getByText('Tuesdays at 07:00, Europe/Paris').waitFor();
      await row.getByText('7 days, all sessions').waitFor();
      await row.getByRole('button', { name: 'Delete the schedule of Weekly overview' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Delete schedule' }).click();
      await page.getByText('No schedules').waitFor();
    });
  });
}
