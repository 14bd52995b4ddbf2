import { BYTE_ORDER_MARK, writeCsvLine } from '../platform/csv';
import type { FileWriter } from './file-writer';

// The file has the list alone, so that programs read it without rules of ours.

export const csvWriter: FileWriter = {
  begin: ({ columns }) => BYTE_ORDER_MARK + writeCsvLine(columns.map(({ key }) => key)),
  writeRows: (_head, rows) => rows.map(writeCsvLine).join(''),
  end: () => '',
};
