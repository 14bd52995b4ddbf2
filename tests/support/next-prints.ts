/** Sends requests about which Next prints a warning and an error of several lines. Returns their statuses. */
export async function makeNextPrint(url: string): Promise<number[]> {
  const action = { 'next-action': `40${'a'.repeat(40)}`, 'content-type': 'text/plain', origin: url };
  const answers = [
    await fetch(`${url}/sign-in`, { method: 'POST', headers: action, body: '[]' }),
    await fetch(`${url}/sign-in`, { headers: { rsc: '1', 'next-router-state-tree': 'no tree' } }),
  ];
  return answers.map(({ status }) => status);
}

/** Reads a log. Throws unless each line is a JSON object. */
export const readRecords = (log: string): Record<string, unknown>[] =>
  log
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
