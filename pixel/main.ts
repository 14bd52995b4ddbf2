// The pixel's entry: reads the tag, waits for consent and for the page to be shown, and takes the page's commands.
import type { BeaconUser } from '../contract/beacon';
import { cleanAddress } from './addresses';
import { PageCause } from './codes';
import { guard, startDebugging } from './guard';
import { collectPage } from './page';
import { endSession, setUser, stopSending } from './sending';
import { findDevice, forgetDevice, forgetSession } from './session';

type Command = [name: string, value?: unknown];

declare global {
  interface Window {
    botPixel?: Command[] | { push(...commands: Command[]): void };
  }
}

guard(() => {
  const script = (document.currentScript ?? document.querySelector('script[data-site]')) as HTMLScriptElement;
  const { site: k, host = '', gpc, device, consent, debug } = script.dataset;
  const queue = window.botPixel;
  if (!k || (queue && !Array.isArray(queue)) || !cleanAddress(location.href)) return;
  if (debug !== undefined) startDebugging();

  const g = gpc === 'ignore' ? 1 : undefined;
  const isRefused = !g && (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl;
  let isAllowed = consent !== 'wait';
  let isRunning = false;

  const start = guard((cause: PageCause = PageCause.load) => {
    if (isRefused || !isAllowed || (document as { prerendering?: boolean }).prerendering || isRunning) return;
    isRunning = true;
    const i = device === 'off' ? forgetDevice() : findDevice();
    const { href } = new URL(`${host.replace(/\/$/, '')}/collect`, script.src);
    collectPage(href, { k, i, g }, cause);
  });

  function take([name, value]: Command): void {
    if (name === 'identify') setUser(readUser((field) => (value as Record<string, unknown>)[field]));
    if (name === 'end') endSession();
    if (name === 'consent') {
      isAllowed = value === true;
      if (!isAllowed && !isRefused) {
        isRunning = false;
        stopSending();
        forgetSession();
        forgetDevice();
      }
      start();
    }
    // `writing` is reserved. Like any unknown name it does nothing yet.
  }

  setUser(readUser((name) => script.getAttribute(`data-user-${name}`) ?? script.getAttribute(`data-${name}`)));
  const push = (...commands: Command[]) => commands.forEach(guard(take));
  window.botPixel = { push };
  push(...(queue ?? []));
  document.addEventListener('prerenderingchange', () => start(PageCause.activated));
  start();
})();

/** An enum, because the bundler writes its values in place. */
enum Limit {
  length = 256,
}

/**
 * Reads what the page says of its visitor. Without an id it says nothing. What is too long is left out, because half an id
 * would be another one. The collector ignores what is malformed.
 */
function readUser(read: (name: string) => unknown): BeaconUser | undefined {
  const user: Partial<BeaconUser> = {};
  for (const name of 'id,name,email,url,hash,context'.split(',') as (keyof BeaconUser)[]) {
    const text = `${read(name) ?? ''}`;
    if (text && !text[Limit.length]) user[name] = text;
  }
  return user.id ? (user as BeaconUser) : undefined;
}
