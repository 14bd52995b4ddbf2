import type { Step } from '../subject';
import { look } from './control';
import { MouseAndKeyboard } from './mouse-and-keyboard';

const MAX_TABS = 60;
/** The page tells within 100 ms where the focus is. */
const SETTLE_MS = 180;
const LINE_PX = 40;
const GROUP = /^#q\d+-/;
/** The laboratory's pages let several answers to this question be chosen, with squares that each take a Tab. */
const SQUARES = '#q2-';

type StepTo<Do extends Step['do']> = Extract<Step, { do: Do }>;

/** Takes the steps with the keyboard alone: Tab to the next control, arrows in a group of circles, Enter and Space. */
export class KeyboardOnly extends MouseAndKeyboard {
  override read({ forMs }: StepTo<'read'>): Promise<void> {
    return this.person.rest(forMs);
  }

  override async scroll({ byPx }: StepTo<'scroll'>): Promise<void> {
    for (let lines = Math.round(byPx / LINE_PX); lines > 0; lines--) await this.tap('Down');
  }

  override async click({ target }: StepTo<'click'>): Promise<void> {
    await this.focus(target);
    const value = look(this.desk).values[target];
    if (value === true) return;
    await this.tap(value === undefined ? 'Return' : 'space');
  }

  protected override async focus(target: string): Promise<void> {
    await this.arrive({ do: 'arrive', target });
    const group = target.startsWith(SQUARES) ? null : (GROUP.exec(target)?.[0] ?? null);
    for (let tabs = 0; tabs < MAX_TABS; tabs++) {
      const { focus } = look(this.desk);
      if (focus === target) return;
      const isInGroup = group !== null && focus?.startsWith(group) === true;
      await this.tap(isInGroup ? 'Down' : 'Tab');
    }
    throw new Error(`${target} did not get the focus`);
  }

  /** Presses a key and looks at what has changed. */
  protected async tap(key: string, ...held: string[]): Promise<void> {
    await this.person.tap(key, ...held);
    await this.person.rest(SETTLE_MS + this.person.chance.logNormal(120, 0.5));
  }
}
