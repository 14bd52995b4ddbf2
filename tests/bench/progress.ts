import type { OnProgress } from './history';

const WIDTH = 30;

/**
 * Shows the progress of long work on stderr: a bar on a terminal, otherwise a line for each step and each tenth of it.
 */
export function createProgress(name: string): OnProgress {
  let shown = '';
  return (what, done, total) => {
    const share = Math.min(done / total, 1);
    if (process.stderr.isTTY) {
      const bar = '█'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH, '░');
      process.stderr.write(`\r\x1b[K${name}: ${bar} ${what}${done < total ? '' : '\n'}`);
      return;
    }
    const line = `${name}: ${what}, ${Math.floor(share * 10) * 10}%\n`;
    if (line !== shown) process.stderr.write(line);
    shown = line;
  };
}
