import { readPassword } from './auth/password-input';
import { answerCommand } from './commands';

// `npm run -s admin -- <noun> <verb> [--flags]`

const { code, stdout, stderr } = await answerCommand(process.argv.slice(2), {
  settings: process.env,
  readPassword: () => readPassword(process.stdin, process.stderr),
});
const [stream, text] = code === 0 ? ([process.stdout, stdout] as const) : ([process.stderr, stderr] as const);
stream.write(text, () => process.exit(code));
