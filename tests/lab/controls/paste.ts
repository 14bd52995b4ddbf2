import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineControl } from '../people/control';
import { MouseAndKeyboard } from '../people/mouse-and-keyboard';

/** Somebody who has written the text in another program, and pastes it. */
class Paster extends MouseAndKeyboard {
  protected override async write(text: string): Promise<void> {
    const { screen, visit } = this.desk;
    const draft = join(visit.profile, 'draft.txt');
    writeFileSync(draft, text);
    // It answers for the clipboard until the screen closes.
    screen.open('xclip', ['-quiet', '-selection', 'clipboard', '-i', draft]);
    await this.person.rest(this.person.chance.between(500, 1_200));
    if (visit.seed % 2 === 0) await this.person.tap('v', 'Control_L');
    else await this.person.tap('Insert', 'Shift_L');
    await this.person.rest(800);
  }
}

export const subjects = [
  defineControl({ name: 'paste', family: 'paste', needs: ['xclip'], manner: (desk) => new Paster(desk) }),
];
