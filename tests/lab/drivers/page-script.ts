import { driveDevtools } from '../driving/devtools';

// A script in the page, such as an extension or a bookmark: it calls click() and sets values. The browser is ordinary;
// the DevTools protocol only puts the script into the page.

const SET = `(field, text) => {
  field.focus();
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value').set.call(field, text);
  field.dispatchEvent(new InputEvent('input', { bubbles: true, data: text, inputType: 'insertText' }));
  field.dispatchEvent(new Event('change', { bubbles: true }));
}`;

export const subjects = [
  driveDevtools({
    ...{ name: 'page-script', family: 'page-script', isHeadful: true, thinkMs: 400 },
    hands: ({ send }) => {
      const run = (expression: string) => send('Runtime.evaluate', { expression });
      const find = (target: string) => `document.querySelector(${JSON.stringify(target)})`;
      return {
        click: (target) => run(`${find(target)}.click()`),
        type: (target, text) => run(`(${SET})(${find(target)}, ${JSON.stringify(text)})`),
        scroll: (byPx) => run(`scrollBy(0, ${byPx})`),
      };
    },
  }),
];
