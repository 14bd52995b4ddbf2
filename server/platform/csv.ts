// CSV as RFC 4180 has it, in UTF-8.

/** The value of a field. The items of a list are joined. */
export type Cell = string | number | boolean | null | readonly string[];

/** Excel would otherwise read names in the code page of the machine. */
export const BYTE_ORDER_MARK = '\uFEFF';
const LINE_END = '\r\n';
const NEEDS_QUOTES = /[",\r\n]/;
/**
 * Spreadsheets take text that begins like this for a formula, also in full width, and a formula can send data away or run
 * programs. Names and addresses come from visitors.
 */
const BEGINS_FORMULA = /^[\s\uFEFF]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/;

/** Writes a cell. Text that a spreadsheet would take for a formula gets an apostrophe, which spreadsheets hide. */
export function writeCsvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number' || typeof cell === 'boolean') return String(cell);
  const text = typeof cell === 'string' ? cell : cell.join('; ');
  const safe = BEGINS_FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Writes a line of cells. */
export const writeCsvLine = (cells: readonly Cell[]) => cells.map(writeCsvCell).join(',') + LINE_END;
