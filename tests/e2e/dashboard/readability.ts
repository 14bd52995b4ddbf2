import { expect, it } from 'vitest';
import { dashboard } from './shared-dashboard';

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
}
