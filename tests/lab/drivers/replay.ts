import { setTimeout as sleep } from 'node:timers/promises';
import { driveDevtools } from '../driving/devtools';
import { createReplay } from '../driving/replay';
import { TASKS } from '../subject';

// The honest miss: the motion and typing of our model of a person, sent through the DevTools protocol. Everything is
// hidden that we know how to hide.

export const subjects = [
  driveDevtools({
    ...{ name: 'replayed-person', family: 'replay', isHeadful: true, thinkMs: 700 },
    hands: (page, { geometry, task, seed }) => {
      // Another person each time: repeated input is another thing to find.
      const person = createReplay(page, 1_000 * seed + TASKS.indexOf(task));
      const findBox = (target: string) => geometry.read()!.boxes[target]!;
      const show = async (target: string) => {
        for (let turns = 0; turns < 60; turns++) {
          const { y, height } = findBox(target);
          const isAbove = y < 20;
          if (!isAbove && y + Math.min(height, 60) < geometry.read()!.window.innerHeight - 20) break;
          await person.turnWheel(isAbove ? -120 : 120);
          await sleep(250);
        }
        await sleep(300);
      };
      const click = async (target: string) => {
        await show(target);
        await person.click(findBox(target));
      };
      return {
        click,
        type: (target, text) => click(target).then(() => person.type(text)),
        scroll: (byPx) => person.turnWheel(byPx),
      };
    },
  }),
];
