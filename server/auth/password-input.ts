import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

interface Input extends NodeJS.ReadableStream {
  isTTY?: boolean;
}

/**
 * Reads a password, which on the command line every process of the machine could see. On a terminal, it asks and shows
 * nothing of what is typed; otherwise the first line of the input is the password. Returns null if there is none.
 */
export function readPassword(input: Input, terminal: NodeJS.WritableStream): Promise<string | null> {
  const isTerminal = input.isTTY === true;
  if (isTerminal) terminal.write('Password: ');
  const muted = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: muted, terminal: isTerminal });
  return new Promise((resolve) => {
    lines
      .once('line', (line) => {
        resolve(line === '' ? null : line);
        lines.close();
      })
      // Without a listener, Ctrl-C would leave the command waiting.
      .once('SIGINT', () => lines.close())
      .once('close', () => {
        if (isTerminal) terminal.write('\n');
        resolve(null);
      });
  });
}
