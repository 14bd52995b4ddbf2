// The pixel's entry: reads the tag, waits for consent and for the page to be shown, and takes the page's commands.
import { type BeaconUser, EventCode } from '../contract/beacon';
import { cleanAddress } from './addresses';
import { PageCause } from './codes';
import { readGpuName } from './environment';
import { listenToEvents } from './events';
import { createListen, guard, note, startDebugging } from './guard';
import { createSender, type Sender } from './sending';
import { findDevice, forgetDevice } from './session';

/** An enum, because the bundler writes its values in place. */
enum Limit {
  hiddenMs = 1_800_000,
  gpuMs = 5_000,
  addresses = 1_000,
  textLength = 256,
  urlLength = 2_048,
}

type Command = [name: string, value?: unknown];

const page = window as unknown as {
  botPixel?: Command[] | { push(...commands: Command[]): void; isLoaded?: true };
  navigation?: EventTarget;
  requestIdleCallback?: (run: () => void, options: { timeout: number }) => void;
};

guard(() => {
  const script = (document.currentScript ?? document.querySelector('script[data-site]')) as HTMLScriptElement;
  const { dataset, src } = script;
  const queue = page.botPixel;
  if (!dataset.site || (queue && 'isLoaded' in queue) || !cleanAddress(location.href)) return;
  if (dataset.debug !== undefined) startDebugging();

  const ignoresControl = dataset.gpc === 'ignore';
  const isRefused = !ignoresControl && (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl === true;
  let isAllowed = dataset.consent !== 'wait';
  let user = readUser((name) => dataset[`user${name[0]!.toUpperCase()}${name.slice(1)}`] ?? dataset[name]);
  let sender: Sender | undefined;

  const start = guard((cause: PageCause = PageCause.load) => {
    const isHeld = (document as { prerendering?: boolean }).prerendering;
    if (isRefused || !isAllowed || isHeld || sender) return;
    if (dataset.device === 'off') forgetDevice();
    const fixed = {
      k: dataset.site!,
      i: dataset.device === 'off' ? undefined : findDevice(),
      g: ignoresControl ? (1 as const) : undefined,
    };
    const host = dataset.host ?? new URL(src).origin;
    sender = collect(new URL(`${host.replace(/\/$/, '')}/collect`, location.href).href, fixed, cause);
    sender.setUser(user);
  });

  const commands: Record<string, (value: unknown) => void> = {
    identify(value) {
      user = readUser((name) => (value as Record<string, unknown>)[name]);
      sender?.setUser(user);
    },
    end() {
      user = undefined;
      sender?.end();
    },
    consent(value) {
      isAllowed = value === true;
      if (!isAllowed) {
        sender?.stop();
        sender = undefined;
        forgetDevice();
      }
      start();
    },
    // `writing` is reserved, and like any unknown name does nothing yet.
  };
  const push = (...pushed: Command[]) => pushed.forEach(guard(([name, value]) => commands[name]?.(value)));
  page.botPixel = { push, isLoaded: true };
  if (Array.isArray(queue)) push(...queue);

  document.addEventListener('prerenderingchange', () => start(PageCause.activated));
  start();
  note(sender ? 'started' : 'waiting');
})();

/** Reads what the page says of its visitor. Without an id it says nothing. */
function readUser(read: (name: string) => unknown): BeaconUser | undefined {
  const user: Record<string, string> = {};
  for (const name of ['id', 'name', 'email', 'url', 'hash', 'context']) {
    const text = String(read(name) ?? '').slice(0, name === 'url' ? Limit.urlLength : Limit.textLength);
    if (text) user[name] = text;
  }
  return user.id ? (user as unknown as BeaconUser) : undefined;
}

/** Starts to collect. Before this nothing is read or stored. */
function collect(collectUrl: string, fixed: { k: string; i?: string; g?: 1 }, firstCause: PageCause): Sender {
  const abort = new AbortController();
  const listen = createListen(abort.signal);
  const addresses: string[] = [];
  let [href, address] = ['', ''];
  let hiddenMs = Infinity;
  let hiddenTimer: number | undefined;
  let isGone = false;

  function reportPage(cause: PageCause, timeMs: number): void {
    href = location.href;
    address = cleanAddress(href);
    if (!addresses.includes(address) && addresses.length < Limit.addresses) addresses.push(address);
    const index = addresses.indexOf(address);
    if (index >= 0) sender.add([timeMs, EventCode.Page, index, cause]);
  }
  /** Applications change the address without a new page. Not all browsers tell, so it is compared too. */
  function compareAddress(): void {
    if (location.href === href) return;
    href = location.href;
    if (cleanAddress(href) !== address) reportPage(PageCause.history, performance.now());
  }
  function report(code: EventCode, timeMs: number, ...fields: number[]): void {
    if (code !== EventCode.Move) compareAddress();
    sender.add([timeMs, code, ...fields]);
  }

  const settleEvents = listenToEvents(listen, report);
  const sender = createSender({
    collectUrl,
    fixed,
    addresses,
    settle() {
      compareAddress();
      settleEvents();
    },
    openPage: (timeMs) => reportPage(PageCause.load, timeMs),
    onStop: () => abort.abort(),
  });

  const endIfAway = guard(() => {
    if (Date.now() - hiddenMs >= Limit.hiddenMs) sender.end();
  });
  listen('popstate', compareAddress);
  listen('hashchange', compareAddress);
  if (page.navigation) listen('currententrychange' as 'popstate', compareAddress, page.navigation);
  listen('resize', () => sender.noteEnvironment());
  listen('visibilitychange' as 'popstate', ({ timeStamp }) => {
    const { hidden } = document;
    clearTimeout(hiddenTimer);
    // A page that is left is hidden too, after it has said so.
    if (isGone) return;
    if (hidden) {
      hiddenMs = Date.now();
      hiddenTimer = window.setTimeout(endIfAway, Limit.hiddenMs);
    } else {
      endIfAway();
      hiddenMs = Infinity;
      sender.noteEnvironment();
    }
    report(EventCode.Visibility, timeStamp, Number(hidden));
    if (hidden) sender.leave();
  });
  listen('pagehide', ({ timeStamp, persisted }) => {
    hiddenMs = Date.now();
    isGone = true;
    report(EventCode.Leave, timeStamp, Number(persisted));
    sender.leave();
  });
  listen('pageshow', ({ timeStamp, persisted }) => {
    if (!persisted) return;
    isGone = false;
    endIfAway();
    hiddenMs = Infinity;
    sender.noteEnvironment(true);
    reportPage(PageCause.restored, timeStamp);
  });

  sender.noteEnvironment(firstCause === PageCause.activated);
  reportPage(firstCause, performance.now());
  const readGpu = guard(() => sender.readGpu(readGpuName));
  // Some browsers have no idle callbacks.
  (page.requestIdleCallback ?? window.setTimeout)(readGpu, { timeout: Limit.gpuMs } as never);
  return sender;
}
