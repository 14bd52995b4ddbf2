import { type Desk, defineControl, look } from '../people/control';
import { MouseAndKeyboard } from '../people/mouse-and-keyboard';
import type { Step } from '../subject';

// People who do little, or do it later.

/** Reads and scrolls, but chooses and writes nothing. */
class Reader extends MouseAndKeyboard {
  override async arrive({ target }: Extract<Step, { do: 'arrive' }>): Promise<void> {
    if (this.desk.visit.geometry.read() === null || target === '#begin') await super.arrive({ do: 'arrive', target });
  }
  override async click(): Promise<void> {
    const { person } = this;
    await person.rest(person.chance.between(600, 1_500));
    if (look(this.desk).scrollHeight > look(this.desk).window.innerHeight) await this.scrollOnce(1);
  }
  override async type(): Promise<void> {
    await this.person.drift();
  }
}

/** Leaves for another tab in the middle of the visit, and comes back. */
class Returner extends MouseAndKeyboard {
  #hasLeft = false;
  override async click(step: Extract<Step, { do: 'click' }>): Promise<void> {
    if (!this.#hasLeft) await this.#leave();
    await super.click(step);
  }
  async #leave(): Promise<void> {
    const { person } = this;
    this.#hasLeft = true;
    await person.tap('t', 'Control_L');
    await person.rest(person.chance.between(2_000, 4_500));
    await person.tap('w', 'Control_L');
    await this.geometry.waitFor(({ hasFocus }) => hasFocus);
    await person.rest(person.chance.between(500, 1_200));
  }
}

export const subjects = [
  defineControl({ name: 'reader', family: 'onlooker', manner: (desk: Desk) => new Reader(desk) }),
  defineControl({ name: 'other-tab', family: 'onlooker', manner: (desk: Desk) => new Returner(desk) }),
];
