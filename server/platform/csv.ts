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
/**
 * A spreadsheet whose separator is no comma splits a cell within, because quotes count only at the start of a field. Each part of
 * the text is a cell then. What may stand before the sign excludes the separators, so that the search is linear.
 */
const BEGINS_FORMULA_WITHIN = /([;\t\r\n])((?:[^\S\t\r\n]|")*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g;

/** Writes a cell. Text that a spreadsheet would take for a formula gets an apostrophe, which spreadsheets hide. */
export function writeCsvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number' || typeof cell === 'boolean') return String(cell);
  const text = typeof cell === 'string' ? cell : cell.join('; ');
  const parted = text.replace(BEGINS_FORMULA_WITHIN, "$1'$2");
  const safe = BEGINS_FORMULA.test(text) ? `'${parted}` : parted;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Writes a line of cells. */
export const writeCsvLine = (cells: readonly Cell[]) => cells.map(writeCsvCell).join(',') + LINE_END;
