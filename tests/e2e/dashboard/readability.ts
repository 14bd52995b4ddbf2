import { describe, expect, it, onTestFinished } from 'vitest';
import { correlated, started } from '../../support/facts';
import { dashboard } from './shared-dashboard';

const ARABIC = 'محمد بن عبد الله بن عبد العزيز بن عبد الرحمن بن فيصل بن تركي آل سعود';

/** What people set in their browser or system in order to read a page. */
export function registerReadabilityTests(): void {
  it('text follows the font size of the browser, not only the space around it', async () => {
    const page = await dashboard.visit('/overview');
    const measure = () =>
      page.getByRole('main').evaluate((main) => {
        const texts = [...main.querySelectorAll('*')].filter((element) => element.textContent?.trim());
        return texts.map((element) => Number.parseFloat(getComputedStyle(element).fontSize));
      });
    const before = await measure();
    // The next visit loads another page.
    await page.evaluate(() => document.documentElement.style.setProperty('font-size', '32px'));
    expect(await measure()).toEqual(before.map((size) => size * 2));
  });

  it.each(['/overview', '/settings?tab=integration', '/settings?tab=staff'])(
    '%s fits a phone whose font is large',
    async (path) => {
      const page = await dashboard.visit(path, { role: 'admin', width: 390 });
      const room = await page.evaluate(() => {
        const root = document.documentElement;
        root.style.setProperty('font-size', '24px');
        return root.clientWidth - root.scrollWidth;
      });
      expect(room).toBe(0);
    },
  );

  it('a name from right to left that is cut shows its beginning', async () => {
    const user = { id: 'right-to-left', name: ARABIC };
    const facts = [started('right-to-left'), correlated('right-to-left', user.id, { user })];
    expect((await dashboard.product.ingest(dashboard.integrationId, facts)).status).toBe(200);
    const page = await dashboard.visit(`/sessions?userId=${user.id}`, { role: 'admin', width: 390 });
    const name = page.getByRole('table').getByText(ARABIC);
    const { box, whole, first } = await name.evaluate((element) => {
      const measure = (length: number) => {
        const range = document.createRange();
        range.setStart(element.firstChild!, 0);
        range.setEnd(element.firstChild!, length);
        const { left, right } = range.getBoundingClientRect();
        return { left: Math.round(left), right: Math.round(right) };
      };
      const { left, right } = element.closest('.truncate')!.getBoundingClientRect();
      const whole = measure(element.textContent!.length);
      return { box: { left: Math.floor(left), right: Math.ceil(right) }, whole, first: measure(1) };
    });
    expect(whole.right - whole.left).toBeGreaterThan(box.right - box.left);
    expect(first.left).toBeGreaterThanOrEqual(box.left);
    expect(first.right).toBeLessThanOrEqual(box.right);
  });

  describe('with forced colors', () => {
    const visit = async (path: string) => {
      const page = await dashboard.visit(path);
      onTestFinished(() => page.emulateMedia({ forcedColors: null }));
      await page.emulateMedia({ forcedColors: 'active' });
      return page;
    };

    it.each([
      ['the page', '/users', 'nav [aria-current]', 'nav a:not([aria-current])'],
      ['the tab', '/settings?tab=findings', 'main nav [aria-current]', 'main nav a:not([aria-current])'],
      ['the period', '/overview', 'fieldset [aria-pressed=true]', 'fieldset [aria-pressed=false]'],
      ['the row', '/users', 'tr[aria-current]', 'tbody tr:not([aria-current])'],
    ])('%s that is shown has an outline', async (_, path, chosen, other) => {
      const page = await visit(path);
      if (chosen.startsWith('tr')) await page.keyboard.press('j');
      const readOutline = (selector: string) =>
        page
          .locator(selector)
          .first()
          .evaluate((element) => getComputedStyle(element).outlineStyle);
      await page.locator(chosen).first().waitFor();
      expect(await readOutline(chosen)).toBe('solid');
      expect(await readOutline(other)).toBe('none');
    });

    it('bars and the colours of a legend stay', async () => {
      const page = await visit('/overview');
      for (const drawn of ['Sessions over time', 'Risk classes']) {
        const figure = page.locator('section').filter({ has: page.getByRole('heading', { name: drawn }) });
        const color = await figure
          .locator('li :is(span, div):empty')
          .first()
          .evaluate((element) => getComputedStyle(element).forcedColorAdjust);
        expect(color).toBe('none');
      }
    });
  });
}
