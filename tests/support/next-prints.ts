/** Sends requests about which Next prints errors of several lines. Answers their statuses and request ids. */
export async function makeNextPrint(url: string): Promise<{ status: number; requestId: string | null }[]> {
  const post = (headers: Record<string, string>, body: string) =>
    fetch(`${url}/sign-in`, { method: 'POST', headers: { origin: url, ...headers }, body });
  const answers = [
    await post({ 'next-action': `40${'a'.repeat(40)}`, 'content-type': 'text/plain' }, '[]'),
    await post({ 'content-type': 'multipart/form-data; boundary=x' }, 'not a part'),
  ];
  return answers.map(({ status, headers }) => ({ status, requestId: headers.get('x-request-id') }));
}

/** Reads a log. Throws unless each line is a JSON object. */
export const readRecords = (log: string): Record<string, unknown>[] =>
  log
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
