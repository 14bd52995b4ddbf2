import { EXPORT_FORMATS, EXPORTS } from '../../contract/exports';
import { pageQuery } from '../../contract/pagination';
import type { FileFormats } from './list-files';

const DESCRIPTION = `What a walk of the list gives, with its filters and in its order, as one file that is written while you read.
\`ndjson\` has an item of the list in each line. \`csv\` has a line with the names of the columns, then a line for each item; fields of
objects have names with dots, texts of a list are joined with \`; \`, other lists and free-form objects are JSON, null is empty, and text
that a spreadsheet would take for a formula gets an apostrophe in front. A file that breaks off is incomplete: the connection ends
without the end of the body. It counts as one request; two files of an integration are written at a time.`;

const FORMAT_PARAMETER = {
  in: 'query',
  name: 'format',
  schema: { type: 'string', enum: EXPORT_FORMATS, default: 'ndjson', description: 'How the file is written.' },
};

interface ListOperation {
  description?: string;
  parameters?: { name: string }[];
}

/** Describes the operations of exports, by path: those of their lists without paging. */
export const describeExports = (paths: Record<string, { get?: object } | undefined>) =>
  Object.fromEntries(
    EXPORTS.map(({ listPath, path, operationId, summary }) => {
      const { description, parameters = [], ...list } = structuredClone(paths[listPath]!.get!) as ListOperation;
      const filters = parameters.filter(({ name }) => !Object.hasOwn(pageQuery, name));
      const get = {
        ...{ ...list, operationId, summary, tags: ['Exports'] },
        description: `${description}\n\n${DESCRIPTION}`,
        parameters: [...filters, FORMAT_PARAMETER],
      };
      return [path, { get }];
    }),
  );

/** Describes the content of an export. */
export const describeFile = (formats: FileFormats, item: unknown) =>
  Object.fromEntries(
    Object.values(formats).map(({ contentType, head, writeRow }) => {
      const example = head.trimStart() + writeRow(item);
      return [contentType.split(';')[0], { schema: { type: 'string' }, example }];
    }),
  );
