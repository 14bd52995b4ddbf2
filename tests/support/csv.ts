/** Reads CSV as RFC 4180 says. */
export function readCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  const cell = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/gy;
  for (let found = cell.exec(text); found; found = cell.exec(text)) {
    const [, value = '', end] = found;
    rows.at(-1)!.push(value.startsWith('"') ? value.slice(1, -1).replaceAll('""', '"') : value);
    if (end === '\r\n') rows.push([]);
  }
  return rows.slice(0, -1);
}

/** Texts that a spreadsheet may take for a formula, and others that are awkward in CSV. */
export const AWKWARD_TEXTS = [
  '=HYPERLINK("http://x","y")',
  '+1',
  '-1',
  '@SUM(A1)',
  '\tx',
  '\rx',
  '\n=1',
  '＝1',
  'a,"b"\r\nc',
  'Zoë 李',
];

/** Finds the cells that a spreadsheet takes for a formula. Numbers may be negative. */
export const findFormulas = (rows: string[][]) =>
  rows.flat().filter((cell) => /^[\s\uFEFF]*[=+\-@＝＋－＠]|^[\t\r\n]/.test(cell) && !/^-?\d/.test(cell));
