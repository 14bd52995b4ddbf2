import postgres from 'postgres';
import { beforeAll, describe, expect, it } from 'vitest';
import { beginWindow } from '../../support/clock-window';
import { settle } from '../../support/dashboard';
import { closed, correlated, scoredSession, started } from '../../support/facts';
import { dashboard, settings } from './shared-dashboard';

const NOON = '2026-07-01T12:00:00.000Z';

/** The one time zone of the dashboard, and lists that say what is new and count what they link to. */
export function registerTimeTests(): void {
  const at = () => new URL(dashboard.page.url()).searchParams;

  describe('the time zone', () => {
    it('is UTC until somebody chooses the zone of this computer, and then holds for every time', async () => {
      const id = 'session-at-noon';
      await dashboard.product.ingest(dashboard.integrationId, [started(id, { startedAt: new Date().toISOString() })]);
      const page = await dashboard.visit('/sessions');
      await page.getByText('Times in UTC').waitFor();
      // As if the computer were in Berlin.
      const url = dashboard.product.url;
      await page.context().addCookies([{ name: 'time-zone', value: 'Europe/Berlin', url }]);
      await page.reload();
      await settle(page);
      await page.getByText('Times in Europe/Berlin').waitFor();
      const time = page.locator('tbody time').first();
      expect(await time.getAttribute('title')).toMatch(/^\d+ \w{3} \d{4}, \d\d:\d\d:\d\d UTC\+[12]$/);
      await page.getByRole('button', { name: /account$/ }).click();
      await page.getByRole('group', { name: 'Times are shown in' }).getByRole('button', { name: 'UTC' }).click();
      await page.getByText('Times in UTC').waitFor();
      expect(await time.getAttribute('title')).toMatch(/ UTC$/);
      await page.reload();
      await page.getByText('Times in UTC').waitFor();
    });
  });

  describe('a range of days', () => {
    it('is one that can be shown in every zone, whatever a link says or somebody types', async () => {
      const page = await dashboard.visit('/users');
      const url = dashboard.product.url;
      await page.context().addCookies([{ name: 'time-zone', value: 'Asia/Kolkata', url }]);
      await dashboard.visit('/sessions?endDate=9999-12-31', { role: 'admin', provokes: /status of 400/ });
      await page.getByRole('button', { name: 'To: 9999-12-31' }).waitFor();
      await page.getByLabel(/^To \(day/).fill('9999-12-31');
      await page.getByRole('button', { name: 'To: 9998-12-30' }).waitFor();
      await settle(page);
      expect(await page.getByLabel(/^To \(day/).inputValue()).toBe('9999-12-31');
      await page.getByLabel(/^To \(day/).blur();
      expect(await page.getByLabel(/^To \(day/).inputValue()).toBe('9998-12-30');
      expect(await page.getByRole('main').getByRole('alert').count()).toBe(0);
      await page.context().addCookies([{ name: 'time-zone', value: 'UTC', url }]);
    });
  });

  describe('the range that is selected on the chart', () => {
    it('is not taken for another one when the browser goes to another period', async () => {
      const page = await dashboard.visit('/overview?period=24h&groupBy=hour');
      await page.getByLabel('Size of a bucket').selectOption('day');
      await page.waitForURL(/groupBy=day/);
      await settle(page);
      await page.goBack();
      await page.waitForURL(/groupBy=hour/);
      await settle(page);
      await page.getByRole('group', { name: 'Select a range of time' }).focus();
      for (const keys of ['ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'Shift+ArrowLeft']) await page.keyboard.press(keys);
      const link = page.getByRole('link', { name: 'See them' });
      await link.waitFor();
      const chosen = await link.getAttribute('href');
      // Users and devices are counted of the whole window alone.
      const summary = page.getByRole('figure', { name: 'Sessions over time' }).locator('figcaption');
      expect(await summary.textContent()).toMatch(/^[\d,]+ sessions?, [\d,]+ of them bots, from [^;]+ to [^;]+\.$/);
      await page.goForward();
      await page.waitForURL(/groupBy=day/);
      await settle(page);
      // The window begins with a whole bucket, so it is longer than the 24 hours of the counters.
      await page.getByText(/ bots, since \d+ \w+$/).waitFor();
      expect(await link.count()).toBe(0);
      expect(await summary.textContent()).toMatch(/, since \d+ \w+; bots on [\d,]+ devices?, [\d,]+ users?\.$/);
      await page.goBack();
      await page.waitForURL(/groupBy=hour/);
      await link.waitFor();
      expect(await link.getAttribute('href')).toBe(chosen);
    });
  });

  it('below the timeline are different ones, however short the session was', async () => {
    const [startedAt, closedAt] = ['2026-07-01T12:00:00.000Z', '2026-07-01T12:00:00.400Z'];
    const facts = [started('short', { startedAt }), closed('short', { closedAt }), started('empty', { startedAt })];
    expect((await dashboard.product.ingest(dashboard.integrationId, facts)).status).toBe(200);
    const readTimes = async (id: string) => {
      const page = await dashboard.visit(`/sessions/${id}`);
      return page
        .getByRole('figure', { name: 'Timeline' })
        .getByText(/^\d+(:\d\d|(\.\d+)? s)$/)
        .allTextContents();
    };
    expect(await readTimes('short')).toEqual(['0 s', '0.1 s', '0.2 s', '0.3 s', '0.4 s']);
    expect(await readTimes('empty')).toEqual(['0 s']);
  });

  describe('a list of sessions', () => {
    beforeAll(() => dashboard.product.ingest(dashboard.integrationId, [started('long-ago', { startedAt: NOON })]));

    it('is limited to today or the last days by one choice, which a link keeps', async () => {
      const sql = postgres(settings.DATABASE_URL!, { max: 1 });
      await beginWindow({ sql }, 86_400_000, 30_000);
      await sql.end();
      // The newest 50 may all be of today.
      const page = await dashboard.visit('/sessions?sort=oldest');
      const choice = page.getByRole('combobox', { name: 'Began' });
      await choice.selectOption('Today');
      await page.waitForURL(/range=today/);
      await settle(page);
      await page.getByRole('button', { name: 'Began: Today' }).or(page.getByText('Time: Today')).first().waitFor();
      await page.reload();
      await settle(page);
      expect(await choice.inputValue()).toBe('today');
      const midnight = `${new Date().toISOString().slice(0, 10)}T00:00`;
      const times = await page
        .locator('tbody time')
        .evaluateAll((all) => all.map((one) => one.getAttribute('datetime')));
      expect(times.length).toBeGreaterThan(0);
      expect(times.filter((time) => time! < midnight)).toEqual([]);
      await choice.selectOption('Days …');
      expect([at().get('range'), at().get('startDate')]).toEqual([null, midnight.slice(0, 10)]);
      const [year, month, day] = midnight.slice(0, 10).split('-');
      // A day without its month is no day. The field stays, with the focus.
      const from = page.getByLabel('From (day, UTC)');
      await from.focus();
      await page.keyboard.press('Backspace');
      await page.keyboard.type(month!, { delay: 100 });
      expect(await from.evaluate((field) => field === document.activeElement)).toBe(true);
      expect(await from.inputValue()).toBe(midnight.slice(0, 10));
      const to = page.getByLabel('To (day, UTC)');
      await to.focus();
      await page.keyboard.type(`${month}${day}${year}`, { delay: 100 });
      await page.waitForURL(new RegExp(`endDate=${year}-${month}-${day}`));
      expect(await to.inputValue()).toBe(`${year}-${month}-${day}`);
    });

    it('says how many sessions are new without moving a row, and shows them when asked', async () => {
      const page = await dashboard.open({ role: 'admin' });
      await page.clock.install();
      await page.goto(`${dashboard.base}/sessions`);
      await settle(page);
      // Its text says how long ago it was.
      const readFirst = () => page.locator('tbody tr a').first().getAttribute('href');
      const before = await readFirst();
      const fresh = Array.from({ length: 3 }, () => scoredSession(0.1));
      await dashboard.product.ingest(
        dashboard.integrationId,
        fresh
          .flatMap(({ sessionId, facts }) => [
            ...facts.map((fact) =>
              fact.kind === 'sessionStarted' ? started(sessionId, { startedAt: new Date().toISOString() }) : fact,
            ),
            correlated(sessionId, 'newcomer', { user: { id: 'newcomer', name: 'New Comer' } }),
          ])
          .filter((fact) => fact.kind !== 'sessionClosed'),
      );
      await page.clock.fastForward(16_000);
      const news = page.getByRole('button', { name: '3 new' });
      await news.waitFor();
      expect(await readFirst()).toBe(before);
      await news.click();
      await page.locator('tbody tr').first().getByText('New Comer').waitFor();
      await news.waitFor({ state: 'hidden' });
    });

    it('counts what has come since, and so do the scores of the overview', async () => {
      const page = await dashboard.open({ role: 'admin' });
      await page.clock.install();
      const { ingest } = dashboard.product;
      for (const [path, words] of [
        ['/sessions', /^(50 of )(\d+)( sessions)$/],
        ['/overview', /^(Bot )(\d+)()$/],
      ] as const) {
        await page.goto(`${dashboard.base}${path}`);
        await settle(page);
        const [, before, count, after] = words.exec(await page.getByText(words).first().innerText())!;
        await ingest(dashboard.integrationId, scoredSession(0.95).facts);
        await page.clock.fastForward(16_000);
        await page
          .getByText(`${before}${Number(count) + 1}${after}`, { exact: true })
          .first()
          .waitFor();
      }
    });

    it('is as long as the number that links to it says', async () => {
      const page = await dashboard.visit('/overview');
      for (const name of ['Sessions', 'Bot sessions']) {
        const stat = page.locator('dl > div').filter({ has: page.getByText(name, { exact: true }) });
        const number = (await stat.getByRole('link').first().textContent())!;
        await stat.getByRole('link').first().click();
        await page
          .getByText(new RegExp(`^(\\d+ of )?${number} sessions?$`))
          .first()
          .waitFor();
        await page.goBack();
        await settle(page);
      }
    });
  });
}
