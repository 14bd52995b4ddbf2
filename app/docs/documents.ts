import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';

/** A Markdown document that the product shows. */
export interface ShippedDocument {
  /** The last part of its address, `/docs/quickstart`. */
  name: string;
  /** From the root of the project, where the image has it too. */
  file: string;
  title: string;
  about: string;
  /** What customers read is for everybody, like the API document. The rest is for signed-in staff. */
  isPublic: boolean;
}

const forCustomers = { isPublic: true };
const forStaff = { isPublic: false };

/** All documents that the product shows, in the order of their list. Those for operators and engineers stay in the project. */
export const DOCUMENTS: readonly ShippedDocument[] = [
  {
    ...{ name: 'quickstart', file: 'docs/quickstart.md', title: 'Quickstart', ...forCustomers },
    about: 'The first calls of the API, in curl, TypeScript and Python.',
  },
  {
    ...{ name: 'webhooks', file: 'docs/webhooks.md', title: 'Receiving webhooks', ...forCustomers },
    about: 'Events, signatures, a receiver in Node and Python, and what happens when it fails.',
  },
  {
    ...{ name: 'typescript', file: 'clients/typescript/README.md', title: 'TypeScript client', ...forCustomers },
    about: 'Calls, lists, errors, exports, and receivers for Express, Fastify and Next.',
  },
  {
    ...{ name: 'python', file: 'clients/python/README.md', title: 'Python client', ...forCustomers },
    about: 'The same in Python, synchronous and asynchronous, and receivers for Flask and FastAPI.',
  },
  {
    ...{ name: 'mcp', file: 'clients/mcp/README.md', title: 'AI assistants', ...forCustomers },
    about: 'An MCP server, with which an assistant reads the API.',
  },
  {
    ...{ name: 'pixel', file: 'docs/pixel.md', title: 'The pixel', ...forCustomers },
    about: 'The tag for your pages: identity, consent, and what it collects.',
  },
  {
    ...{ name: 'privacy', file: 'docs/privacy.md', title: 'Privacy', ...forCustomers },
    about: 'What is collected, why, for how long, and what never.',
  },
  {
    ...{ name: 'changelog', file: 'CHANGELOG.md', title: 'Changelog', ...forCustomers },
    about: 'What is new in each version.',
  },
  {
    ...{ name: 'detection', file: 'docs/detection.md', title: 'Detection', ...forStaff },
    about: 'How a score is made, each rule, and what the laboratory measured.',
  },
  {
    ...{ name: 'findings', file: 'docs/findings.md', title: 'Findings', ...forStaff },
    about: 'What each anomaly means, and how users are inferred.',
  },
  {
    ...{ name: 'writing', file: 'docs/writing.md', title: 'Writing', ...forStaff },
    about: 'How texts are judged, and what that does not show.',
  },
  {
    ...{ name: 'alert-rules', file: 'docs/alert-rules.md', title: 'Alert rules', ...forStaff },
    about: 'What a rule counts, and when it fires.',
  },
  {
    ...{ name: 'error-rates', file: 'docs/error-rates.md', title: 'Error rates', ...forStaff },
    about: 'How often the classes are wrong, from a random sample, with intervals.',
  },
  {
    ...{ name: 'reports', file: 'docs/reports.md', title: 'Reports', ...forStaff },
    about: 'Templates, formats and schedules.',
  },
  {
    ...{ name: 'glossary', file: 'docs/glossary.md', title: 'Glossary', ...forStaff },
    about: 'The words of the product.',
  },
];

export const findDocument = (name: string) => DOCUMENTS.find((document) => document.name === name);

/** Lists the documents that a reader may open. */
export const listDocuments = (isStaff: boolean) => DOCUMENTS.filter(({ isPublic }) => isPublic || isStaff);

/** Reads the text of a document. */
export const readDocumentText = ({ file }: ShippedDocument): Promise<string> =>
  readFile(join(/* turbopackIgnore: true */ process.cwd(), file), 'utf8');

/**
 * Finds where a link of a document leads in the product: to another document, to its own headings, or elsewhere on the web.
 * Null for a file that the product does not show, or not to this reader.
 */
export function findLinkTarget(href: string, from: ShippedDocument, isStaff: boolean): string | null {
  if (/^https?:\/\//.test(href) || href.startsWith('#')) return href;
  const [path = '', heading] = href.split('#');
  const file = posix.join(posix.dirname(from.file), path);
  if (file === 'docs/openapi.json') return '/openapi/v3.json';
  const found = listDocuments(isStaff).find((document) => document.file === file);
  return found ? `/docs/${found.name}${heading ? `#${heading}` : ''}` : null;
}
