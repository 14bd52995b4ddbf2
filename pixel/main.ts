// The pixel's entry: reads the tag, waits for consent and for the page to be shown, and takes the page's commands.
import { cleanAddress } from './addresses';
import { PageCause } from './codes';
import { describeVariable, findElement, readDocument } from './document';
import { guard, startDebugging } from './guard';
import { collectPage } from './page';
import { endSession, setUser, stopSending } from './sending';
import { findDevice, forgetDevice, forgetSession } from './session';
import { readUser } from './visitor';
import { markWriting } from './writing';

type Command = [name: string, value?: unknown, document?: unknown];

declare global {
  interface Window {
    botPixel?: Command[] | { push(...commands: Command[]): void };
  }
}

guard(() => {
  const script: HTMLScriptElement = readDocument('currentScript') ?? findElement('script[data-site]');
  const { site: k, host = '', gpc, device, consent, debug } = script.dataset;
  const queue: Window['botPixel'] = describeVariable('botPixel')?.value || [];
  // What is there twice does not start again: the object of a pixel has no `map`.
  if (!k || !(queue as Command[]).map || !cleanAddress(location.href)) return;
  if (debug != null) startDebugging();

  const g = gpc === 'ignore' ? 1 : undefined;
  const isRefused = !g && (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl;
  let isAllowed = consent !== 'wait';
  let isRunning: boolean | undefined;

  const start = guard((cause: PageCause = PageCause.load) => {
    if (isRefused || !isAllowed || readDocument('prerendering') || isRunning) return;
    isRunning = true;
    const i = device === 'off' ? forgetDevice() : findDevice();
    const { href } = new URL(host.replace(/\/?$/, '/collect'), script.src);
    collectPage(href, { k, i, g }, cause);
  });

  function take([name, value, document]: Command): void {
    if (name === 'identify') setUser(readUser((field) => (value as Record<string, unknown>)[field]));
    if (name === 'writing') markWriting(value, document);
    if (name === 'end') {
      endSession();
      setUser({});
    }
    if (name === 'consent') {
      isAllowed = value === true;
      if (isAllowed) start();
      else {
        stopSending();
        forgetSession();
        isRunning = forgetDevice();
      }
    }
  }

  const user = readUser((name) => script.getAttribute(`data-user-${name}`) ?? script.getAttribute(`data-${name}`));
  if (user.id) setUser(user);
  const push = (...commands: Command[]) => commands.forEach(guard(take));
  window.botPixel = { push };
  push(...(queue as Command[]));
  addEventListener('prerenderingchange', () => start(PageCause.activated), true);
  start();
})();
