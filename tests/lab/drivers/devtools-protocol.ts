import { setTimeout as sleep } from 'node:timers/promises';
import { type DevtoolsPage, driveDevtools } from '../driving/devtools';

// An agent in a person's own browser: it looks at a picture of the page, thinks, and presses near the middle of a target.

async function click(page: DevtoolsPage, target: string): Promise<void> {
  await page.send('Page.captureScreenshot', { format: 'jpeg' });
  const box = await page.show(target);
  const x = Math.round(box.x + box.width / 2 + 4 - 8 * Math.random());
  const y = Math.round(box.y + box.height / 2 + 2 - 4 * Math.random());
  await page.mouse('mouseMoved', x, y);
  await sleep(30);
  await page.mouse('mousePressed', x, y, { button: 'left', buttons: 1, clickCount: 1 });
  await sleep(15);
  await page.mouse('mouseReleased', x, y, { button: 'left', clickCount: 1 });
}

async function pressKeys(page: DevtoolsPage, text: string): Promise<void> {
  for (const key of text) {
    const upper = key.toUpperCase();
    const code = key === ' ' ? 'Space' : /[A-Z]/.test(upper) ? `Key${upper}` : '';
    const more = { key, code, windowsVirtualKeyCode: upper.charCodeAt(0) };
    await page.send('Input.dispatchKeyEvent', { type: 'keyDown', text: key, ...more });
    await page.send('Input.dispatchKeyEvent', { type: 'keyUp', ...more });
  }
}

const drive = (name: string, write: (page: DevtoolsPage, text: string) => Promise<void>) => {
  const hands = (page: DevtoolsPage) => ({
    click: (target: string) => click(page, target),
    type: (target: string, text: string) => click(page, target).then(() => write(page, text)),
  });
  return driveDevtools({ name, isHeadful: true, thinkMs: 1_500, hands });
};
const insert = (page: DevtoolsPage, text: string) => page.send('Input.insertText', { text });
export const subjects = [drive('devtools-insert', insert), drive('devtools-keys', pressKeys)];
