import { readFile } from 'node:fs/promises';
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { intercept, settle } from '../../support/dashboard';
import { closed, correlated, report, scored, secondsAgo, started } from '../../support/facts';
import { createGate } from '../../support/gate';
import { dashboard } from './shared-dashboard';

const NOBODY = '=SUM(A1) Zoë Ångström';

const palette = (page: Page) => page.getByRole('dialog', { name: 'Search everything' });
const field = (page: Page) => page.getByRole('combobox', { name: 'Search everything' });
const options = (page: Page) => palette(page).getByRole('option');
/** Lists what the first cells of the rows link to, in order. */
const listIds = (page: Page, kind: string) =>
  page
    .locator(`tbody a[href*="/${kind}/"]`)
    .evaluateAll((links) =>
      links.map((link) => decodeURIComponent(new URL((link as HTMLAnchorElement).href).pathname.split('/').at(-1)!)),
    );
const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);
async function askAs(page: Page, procedure: string, input: unknown) {
  return (await (await dashboard.ask(page.context(), procedure, input)).json()).result.data;
}

/** The search of everything, the orders of lists, saved views, totals and files. */
export function registerSearchTests(): void {
  describe('finding things', () => {
    beforeAll(async () => {
      const { product, integrationId } = dashboard;
      const sent = await product.ingest(integrationId, [
        started('found-session', { deviceFingerprint: 'found-device', startedAt: secondsAgo(500) }),
        correlated('found-session', 'found user', {
          user: { id: 'found user', name: NOBODY, email: 'zoe@example.edu' },
        }),
        scored('found-session', 0.2),
        closed('found-session'),
      ]);
      expect(sent.status).toBe(200);
    });

    it('takes what is typed while it loads', async () => {
      const page = await dashboard.visit('/users');
      const chunks = createGate();
      await intercept(page, '**/_next/static/chunks/**', (route) => chunks.opened.then(() => route.continue()));
      await page.keyboard.press('/');
      await page.keyboard.type('zo');
      expect(await field(page).inputValue()).toBe('zo');
      expect(await options(page).count()).toBe(0);
      chunks.open();
      await options(page).first().waitFor();
      await page.keyboard.type('e');
      expect(await field(page).inputValue()).toBe('zoe');
      await options(page).filter({ hasText: NOBODY }).waitFor();
    });

    it('says so if it cannot be loaded, with what is typed on the page still there, and tries again', async ({
      onTestFinished,
    }) => {
      onTestFinished(() => dashboard.leave());
      const page = await dashboard.visit('/alerts/rules/new', { role: 'admin', provokes: /status of 404/ });
      await page.getByLabel('Name').fill('Half a rule');
      // As after an upgrade of the server: it has the files of the new version alone.
      const chunks = '**/_next/static/chunks/**';
      await intercept(page, chunks, (route) => route.fulfill({ status: 404 }));
      await page.keyboard.press('Control+k');
      await palette(page).getByText('The search could not be loaded.').waitFor();
      await page.unroute(chunks);
      await palette(page).getByRole('button', { name: 'Try again' }).click();
      await options(page).first().waitFor();
      await page.keyboard.press('Escape');
      expect(await page.getByLabel('Name').inputValue()).toBe('Half a rule');
    });

    it('opens on / and Ctrl+K, from the rail and on a phone, and closes on Escape with the focus where it was', async () => {
      const page = await dashboard.visit('/users');
      await page.keyboard.press('/');
      await field(page).waitFor();
      await expect.poll(() => field(page).evaluate((element) => element === document.activeElement)).toBe(true);
      await page.keyboard.press('Escape');
      await palette(page).waitFor({ state: 'detached' });
      const button = page.getByRole('button', { name: 'Search', exact: true });
      await button.click();
      await field(page).waitFor();
      await page.keyboard.press('Escape');
      await palette(page).waitFor({ state: 'detached' });
      await expect.poll(() => button.evaluate((element) => element === document.activeElement)).toBe(true);
      await page.goto(`${dashboard.base}/sessions`);
      await settle(page);
      // Also while somebody types.
      await page.getByRole('searchbox', { name: 'Exact text' }).focus();
      await page.keyboard.press('Control+k');
      await field(page).waitFor();
      await page.keyboard.press('Escape');
      await palette(page).waitFor({ state: 'detached' });
      await page.keyboard.press('Escape');
      await page.getByRole('heading', { name: 'Sessions' }).click();
      await page.keyboard.press('?');
      const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
      await help.getByText('Search everything', { exact: true }).waitFor();
      await page.keyboard.press('Escape');
      const phone = await dashboard.visit('/users', { role: 'viewer', width: 390, height: 800 });
      await phone.getByRole('button', { name: 'Search everything' }).click();
      await field(phone).fill('settings');
      await options(phone).first().waitFor();
      const { width } = (await palette(phone).boundingBox())!;
      expect(width).toBeLessThanOrEqual(390);
    });

    it('finds a user by a word without its accents, a session, a device and a page, each with its second line', async () => {
      const page = await dashboard.visit('/overview');
      const find = async (query: string, title: string, second: string | RegExp, leadsTo: string) => {
        await page.keyboard.press('/');
        await field(page).fill(query);
        const option = options(page).filter({ hasText: title }).first();
        await option.filter({ hasText: second }).waitFor();
        await option.click();
        await page.waitForURL(`${dashboard.base}/${leadsTo}`);
        await settle(page);
      };
      await find('angstrom', NOBODY, 'zoe@example.edu', 'users/found%20user');
      await find('found-se', 'found-session', NOBODY, 'sessions/found-session');
      await find('found-de', 'found-device', NOBODY, 'sessions?fingerprint=found-device');
      await find('risk thr', 'Risk thresholds settings', 'Settings', 'settings?tab=thresholds');
      const [course] = (await dashboard.api('GET', '/v1/courses?pageSize=1')).body.data;
      await find(course.id, course.name, /·|https?:/, `courses/${course.id}`);
    });

    it('leads to a report also if the list does not show it yet, and says of a link that it is gone', async () => {
      const [one, ...later] = Array.from({ length: 51 }, (_, n) =>
        report(`found-report-${n}`, { reportName: n === 0 ? 'Cellar' : 'Pile', completedAt: secondsAgo(9_000 - n) }),
      );
      expect((await dashboard.product.ingest(dashboard.integrationId, [one, ...later])).status).toBe(200);
      const page = await dashboard.visit('/overview', { role: 'viewer', provokes: /status of 404/ });
      await page.keyboard.press('/');
      await field(page).fill('cellar');
      await options(page).filter({ hasText: 'Cellar' }).click();
      await page.waitForURL(`${dashboard.base}/reports?selected=found-report-0`);
      const panel = page.getByRole('complementary', { name: 'Cellar' });
      await panel.getByRole('link', { name: /^Download Cellar/ }).waitFor();
      expect(await page.locator('tr[data-row="found-report-0"]').count()).toBe(0);
      await page.goto(`${dashboard.base}/reports?selected=gone`);
      await page.getByRole('complementary', { name: 'Report' }).getByText('Report not found').waitFor();
    });

    it('offers what the role may do', async () => {
      const acts = ['New webhook', 'New alert rule', 'Request a report'];
      for (const [role, offered] of [
        ['viewer', []],
        ['analyst', ['New webhook', 'Request a report']],
        ['admin', acts],
      ] as const) {
        const page = await dashboard.visit('/users', { role });
        await page.keyboard.press('/');
        await options(page).filter({ hasText: 'Bot sessions' }).waitFor();
        const texts = await options(page).allInnerTexts();
        expect([role, acts.filter((act) => texts.some((text) => text.startsWith(act)))]).toEqual([role, offered]);
      }
    });

    it('opens nothing by an Enter before the results if the search fails', async () => {
      const page = await dashboard.visit('/overview', { role: 'admin', provokes: /status of 503/ });
      const isEntered = createGate();
      await intercept(page, '**/api/trpc/search.find*', (route) =>
        isEntered.opened.then(() => route.fulfill({ status: 503, body: '{}' })),
      );
      await page.keyboard.press('Control+k');
      await field(page).waitFor();
      await page.keyboard.type('al');
      await page.keyboard.press('Enter');
      isEntered.open();
      await palette(page).getByText('The search failed.').waitFor();
      expect(page.url()).toBe(`${dashboard.base}/overview`);
      // What is shown can be opened.
      await page.keyboard.press('Enter');
      await page.waitForURL(`${dashboard.base}/alerts`);
    });

    it('is worked by keyboard: arrows move, Enter opens, also before the results have come', async () => {
      const page = await dashboard.visit('/overview');
      await page.keyboard.press('/');
      await field(page).fill('web');
      await options(page).nth(1).waitFor();
      const active = () => field(page).getAttribute('aria-activedescendant');
      const chosen = async () => palette(page).locator('[role=option][aria-selected=true]').getAttribute('id');
      expect(await active()).toBe(await chosen());
      const first = await active();
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate<AxeResults>("axe.run('dialog')");
      expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
      await page.keyboard.press('ArrowDown');
      await expect.poll(active).not.toBe(first);
      expect(await active()).toBe(await chosen());
      await page.keyboard.press('ArrowUp');
      await expect.poll(active).toBe(first);
      expect(await field(page).getAttribute('aria-expanded')).toBe('true');
      expect(await field(page).getAttribute('aria-controls')).toBe(
        await palette(page).getByRole('listbox').getAttribute('id'),
      );
      await field(page).fill('found-session');
      await page.keyboard.press('Enter');
      await page.waitForURL(`${dashboard.base}/sessions/found-session`);
      await page.keyboard.press('/');
      await field(page).fill('nothing is called so');
      await palette(page).getByText('Nothing was found.').waitFor();
      // What was asked is stored nowhere.
      const stored = await page.evaluate(() =>
        JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
      );
      expect(stored).not.toContain('found');
    });

    it('sorts by a click on a column, in the address, and says so to screen readers', async () => {
      const page = await dashboard.visit('/sessions');
      const header = (name: string) => page.getByRole('columnheader', { name });
      expect(await header('Began').getAttribute('aria-sort')).toBe('descending');
      await header('Began').getByRole('button').click();
      await page.waitForURL(/\?sort=oldest$/);
      await expect.poll(() => header('Began').getAttribute('aria-sort')).toBe('ascending');
      const oldest = idsOf((await askAs(page, 'sessions.listSorted', { sort: 'oldest' })).data);
      await expect.poll(() => listIds(page, 'sessions')).toEqual(oldest);
      await page.reload();
      await settle(page);
      expect(await listIds(page, 'sessions')).toEqual(oldest);
      await header('Score').getByRole('button').click();
      await page.waitForURL(/\?sort=highestScore$/);
      await page.getByText('Highest scores among the newest 5,000.').waitFor();
      const top = (await askAs(page, 'sessions.listSorted', { sort: 'highestScore' })).data;
      await expect.poll(() => listIds(page, 'sessions')).toEqual(idsOf(top));
      expect(top[0].botScore).toBeGreaterThanOrEqual(top.at(-1).botScore);
      for (const [list, name, sort] of [
        ['users', 'Last seen', 'lastSeen'],
        ['users', 'Highest', 'highestScore'],
        ['users', 'Name', 'name'],
        ['courses', 'Sessions', 'sessions'],
      ] as const) {
        await dashboard.visit(`/${list}`);
        await header(name).getByRole('button').click();
        await page.waitForURL(new RegExp(`\\?sort=${sort}$`));
        const rows = (await askAs(page, `${list}.listSorted`, { sort })).data;
        await expect.poll(() => listIds(page, list)).toEqual(idsOf(rows));
      }
      await dashboard.visit('/anomalies');
      await header('Detected').getByRole('button').click();
      await page.waitForURL(/\?sort=oldest$/);
    });

    it('saves a list under a name for all staff, who find it on the list and in the search; viewers cannot', async () => {
      const page = await dashboard.visit('/sessions?riskLevel=bot&sort=oldest&selected=x', {
        ...{ role: 'analyst', provokes: /status of 404/ },
      });
      const save = async (name: string) => {
        await page.getByRole('button', { name: /^Views/ }).click();
        await page.getByRole('button', { name: 'Save this view …' }).click();
        const dialog = page.getByRole('dialog', { name: 'Save this view' });
        await dialog.getByLabel('Name').fill(name);
        await dialog.getByRole('button', { name: 'Save' }).click();
        return dialog;
      };
      await page.keyboard.press('Escape');
      await save('Old bots');
      const views = page.getByRole('list', { name: 'Saved views' });
      await views.getByRole('link', { name: 'Old bots' }).and(page.locator('[aria-current=true]')).waitFor();

      await dashboard.visit('/sessions?label=none', { role: 'viewer' });
      await views.getByRole('link', { name: 'Old bots' }).click();
      await page.waitForURL(`${dashboard.base}/sessions?riskLevel=bot&sort=oldest`);
      await page.getByRole('button', { name: /^Risk: Bot/ }).waitFor();
      await page.getByRole('button', { name: /^Views/ }).click();
      expect(await page.getByRole('button', { name: 'Analysts and admins save views' }).isDisabled()).toBe(true);
      expect(await page.getByRole('button', { name: 'Delete view Old bots' }).count()).toBe(0);
      await page.goto(`${dashboard.base}/overview`);
      await settle(page);
      await page.keyboard.press('/');
      await field(page).fill('old bo');
      await options(page).filter({ hasText: 'View of sessions' }).click();
      await page.waitForURL(`${dashboard.base}/sessions?riskLevel=bot&sort=oldest`);

      await dashboard.visit('/sessions?riskLevel=human', { role: 'analyst', provokes: /status of 400/ });
      const refused = await save('Old bots');
      await refused.getByText('this page has a view of that name').waitFor();
      await refused.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: /^Views/ }).click();
      await page.getByRole('button', { name: 'Delete view Old bots' }).click();
      await views.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Undo' }).click();
      await views.waitFor();
      await page.getByRole('button', { name: /^Views/ }).click();
      await page.getByRole('button', { name: 'Delete view Old bots' }).click();
      await views.waitFor({ state: 'detached' });
      for (const query of [
        'https://evil.example.com',
        'riskLevel=bot&next=//evil.example.com',
        'riskLevel=<script>',
        'cursor=x',
      ]) {
        const answer = await dashboard.change(page.context(), 'savedViews.create', {
          page: 'sessions',
          name: 'x',
          query,
        });
        expect([query, answer.status()]).toEqual([query, 400]);
      }
      const elsewhere = await dashboard.change(page.context(), 'savedViews.create', {
        page: '//evil',
        name: 'x',
        query: '',
      });
      expect(elsewhere.status()).toBe(400);
    });

    it('says how many a list has, and downloads exactly them', async () => {
      const page = await dashboard.visit('/sessions?riskLevel=bot');
      const { count, isExact } = await askAs(page, 'sessions.count', { riskLevel: 'bot' });
      expect([count > 50, isExact]).toEqual([true, true]);
      await page.getByText(`${count} sessions`, { exact: true }).waitFor();
      await page.getByText(`50 of ${count} sessions`).waitFor();
      const download = async () => {
        const readDay = () => new Date().toISOString().slice(0, 10);
        const before = readDay();
        const downloading = page.waitForEvent('download');
        await page.getByRole('button', { name: 'CSV' }).click();
        const file = await downloading;
        const name = /^\w+ (\d{4}-\d\d-\d\d)\.csv$/.exec(file.suggestedFilename());
        // A day may begin in between.
        expect([before, readDay()]).toContain(name?.[1]);
        return (await readFile(await file.path(), 'utf8')).trim().split('\r\n').slice(1);
      };
      expect(await download()).toHaveLength(count);
      await dashboard.visit('/sessions?deviceType=desktop');
      await page.getByText('more than 50 sessions', { exact: true }).waitFor();
      await dashboard.visit('/sessions?userId=found%20user');
      await page.getByText('1 session', { exact: true }).first().waitFor();
      const [line, ...others] = await download();
      expect([line, others]).toEqual([expect.stringContaining(`,'${NOBODY},`), []]);
      await dashboard.visit('/users?sort=name');
      const users = (await askAs(page, 'users.count', undefined)).count;
      await page.getByText(`${users} users`, { exact: true }).first().waitFor();
      expect(await download()).toHaveLength(users);
      await dashboard.visit('/settings?tab=audit');
      expect((await download()).length).toBeGreaterThan(0);
    });
  });
}
