import { setTimeout as sleep } from 'node:timers/promises';
import { WAIT_LIMIT_MS } from '../../support/limits.mjs';
import type { Step } from '../subject';

/** How a driver does each deed with its tool. */
export interface Hands {
  click(target: string): Promise<unknown>;
  type(target: string, text: string): Promise<unknown>;
  scroll(byPx: number): Promise<unknown>;
  /** Waits until the page shows this. */
  arrive(target: string): Promise<unknown>;
}

const LOOK_MS = 100;

/** Waits for what a tool cannot wait for: looks until it is there. */
export async function lookAgain(isThere: () => Promise<boolean | undefined>): Promise<void> {
  const untilMs = Date.now() + WAIT_LIMIT_MS;
  while (!(await isThere().catch(() => false))) {
    if (Date.now() > untilMs) throw new Error('what the visit waits for did not come');
    await sleep(LOOK_MS);
  }
}

/** Takes the steps one after the other. A program that thinks waits `thinkMs` before each deed. */
export async function takeSteps(steps: readonly Step[], hands: Hands, thinkMs = 0): Promise<void> {
  for (const step of steps) {
    if (step.do === 'read') await sleep(step.forMs);
    else if (step.do === 'arrive') await hands.arrive(step.target);
    else {
      await sleep(thinkMs);
      if (step.do === 'click') await hands.click(step.target);
      else if (step.do === 'type') await hands.type(step.target, step.text);
      else await hands.scroll(step.byPx);
    }
  }
}
