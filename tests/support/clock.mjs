// Preloaded into a server (NODE_OPTIONS=--import): the server's clock runs ahead of the machine's by the milliseconds
// in CLOCK_FILE, which is read again at each SIGUSR2. Timers do not change, because a real clock step does not change
// them either.
import { readFileSync } from 'node:fs';

const RealDate = Date;
let aheadMs = 0;
const read = () => {
  aheadMs = Number(readFileSync(process.env.CLOCK_FILE, 'utf8'));
};
const now = () => RealDate.now() + aheadMs;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
read();
process.on('SIGUSR2', read);
