/** A server that is starting refuses its clients, and one that cannot end a transaction panics. That is no reason for its end. */
const IS_NO_REASON =
  /^(initdb: removing|child process exited|FATAL: {2}the database system is |PANIC: {2}cannot abort transaction )/;
const IS_COMPLAINT = /(FATAL|PANIC|error):/;
const IS_NEXT_MESSAGE = /^(LOG|WARNING|ERROR|FATAL|PANIC): /;

/** Finds the last error in the output of a Postgres program and returns it with its own detail and hint as one line. */
export function readComplaint(output: string): string {
  const lines = output.split('\n').map((line) => line.replace(/^.* \[\d+\] /, '').trim());
  const last = lines.findLastIndex((line) => IS_COMPLAINT.test(line) && !IS_NO_REASON.test(line));
  if (last < 0) return lines.findLast((line) => line && !IS_NO_REASON.test(line)) ?? 'unknown error';
  const [complaint, ...rest] = lines.slice(last);
  const next = rest.findIndex((line) => IS_NEXT_MESSAGE.test(line));
  const own = rest.slice(0, next < 0 ? undefined : next).filter((line) => /^(DETAIL|HINT):/.test(line));
  return [complaint, ...own].join(' ').replace(/ +/g, ' ');
}
