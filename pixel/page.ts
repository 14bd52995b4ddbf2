import { EventCode } from '../contract/beacon';
import { cleanAddress } from './addresses';
import { PageCause } from './codes';
import { readDocument } from './document';
import { listenToEvents } from './events';
import { createListen, readWallMs } from './guard';
import { addEvent, endSession, type FixedFields, leave, noteEnvironment, startSending } from './sending';

/** An enum, because the bundler writes its values in place. */
enum Limit {
  hiddenMs = 1_800_000,
}

/** Starts to collect on this page: its events, its addresses, and whether it is shown. Before this nothing is read or stored. */
export function collectPage(collectUrl: string, fixed: FixedFields, cause: PageCause): void {
  const abort = new AbortController();
  const listen = createListen(abort.signal);
  let href: string;
  let address: string;
  let hiddenMs = readDocument('hidden') ? readWallMs() : Infinity;
  let isGone: boolean | undefined;

  function reportPage(pageCause: PageCause, timeMs?: number): void {
    href = location.href;
    address = cleanAddress(href);
    addEvent([timeMs!, EventCode.Page, address, pageCause]);
  }
  /** Applications change the address without a new page. Not all browsers tell, so it is compared at each event too. */
  function compareAddress(timeMs?: number): void {
    if (location.href === href) return;
    href = location.href;
    if (cleanAddress(href) !== address) reportPage(PageCause.history, timeMs);
  }
  function report(code: EventCode, timeMs: number, ...fields: (number | string)[]): void {
    if (code !== EventCode.Move) compareAddress(timeMs);
    addEvent([timeMs, code, ...fields]);
  }
  /** The sender settles at least once a minute, also while the page is hidden. */
  function settle(): void {
    if (readWallMs() - hiddenMs >= Limit.hiddenMs) {
      hiddenMs = readWallMs();
      endSession();
    }
    compareAddress();
    settleEvents();
  }

  const settleEvents = listenToEvents(listen, report);
  listen('popstate', () => compareAddress());
  // A page can have a variable of this name. Without the Navigation API this listens to window, where it never happens.
  listen('currententrychange' as 'popstate', () => compareAddress(), window.navigation);
  listen('resize', () => noteEnvironment());
  listen('visibilitychange' as 'popstate', ({ timeStamp }) => {
    const hidden = readDocument('hidden');
    // A page that is left is hidden too, after it has said so.
    if (isGone) return;
    settle();
    hiddenMs = hidden ? readWallMs() : Infinity;
    report(EventCode.Visibility, timeStamp, hidden as never);
    if (hidden) leave(hidden);
    else noteEnvironment();
  });
  listen('pagehide', ({ timeStamp, persisted }) => {
    isGone = true;
    hiddenMs = readWallMs();
    report(EventCode.Leave, timeStamp, persisted as never);
    leave();
  });
  listen('pageshow', ({ timeStamp, persisted }) => {
    if (!persisted) return;
    isGone = undefined;
    // First, because the session may end as soon as the page settles.
    noteEnvironment(true);
    settle();
    hiddenMs = Infinity;
    reportPage(PageCause.restored, timeStamp);
  });

  startSending(collectUrl, fixed, settle, reportPage, abort);
  noteEnvironment(cause === PageCause.activated);
  reportPage(cause);
}
