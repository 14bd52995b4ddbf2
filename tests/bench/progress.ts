import type { OnProgress } from './history';

const WIDTH = 30;

/** Shows long work on stderr: a bar where that is a terminal, else a line for each thing and each tenth of it. */
export function createProgress(name: string): OnProgress {
  let told = '';
  return (what, done, total) => {
    const share = Math.min(done / total, 1);
    if (process.stderr.isTTY) {
      const bar = '█'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH, '░');
      process.stderr.write(`\r\x1b[K${name}: ${bar} ${what}${done < total ? '' : '\n'}`);
      return;
    }
    const line = `${name}: ${what}, ${Math.floor(share * 10) * 10}%\n`;
    if (line !== told) process.stderr.write(line);
    told = line;
  };
}
