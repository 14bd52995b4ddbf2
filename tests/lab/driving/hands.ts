import { setTimeout as sleep } from 'node:timers/promises';
import type { Step } from '../subject';

/** How a driver does each deed with its tool. */
export interface Hands {
  click(target: string): Promise<unknown>;
  type(target: string, text: string): Promise<unknown>;
  scroll(byPx: number): Promise<unknown>;
  /** Waits until the page shows this. */
  arrive(target: string): Promise<unknown>;
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
