import { readPassword } from './auth/password-input';
import { answerCommand, InterruptedError } from './commands';

// `npm run -s admin -- <noun> <verb> [--flags]`

const interrupted = new Promise<never>((_resolve, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => reject(new InterruptedError('interrupted')));
});
// A command waits for it, unless it ends before.
interrupted.catch(() => {});

const { code, stdout, stderr } = await answerCommand(process.argv.slice(2), {
  settings: process.env,
  readPassword: () => Promise.race([readPassword(process.stdin, process.stderr), interrupted]),
  interrupted,
});
const [stream, text] = code === 0 ? ([process.stdout, stdout] as const) : ([process.stderr, stderr] as const);
// Without a listener, Node would report the error a second time.
stream.on('error', () => {});
stream.write(text, (error) => {
  if (!error) process.exit(code);
  process.stderr.write(`the answer could not be written: ${error.message}\n`, () => process.exit(1));
});
