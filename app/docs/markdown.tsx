import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import Link from 'next/link';
import { Fragment, type ReactNode } from 'react';
import { CopyButton } from '../dashboard/components/copying';
import { Code } from '../dashboard/components/states';

// Markdown as React elements. The library only reads it, so no HTML is ever inserted: React escapes every text.

/** Where a link leads; null shows its words alone. */
type FindTarget = (href: string) => string | null;

export interface Heading {
  id: string;
  text: string;
  depth: number;
}

/** A document that was read: its tokens, and its headings with the ids that links name. */
export interface ParsedMarkdown {
  tokens: Token[];
  headings: Map<Token, Heading>;
}

/** Reads Markdown. Headings get the ids that GitHub gives them. */
export function parseMarkdown(text: string): ParsedMarkdown {
  const tokens: Token[] = lexer(text);
  const headings = new Map<Token, Heading>();
  const taken = new Map<string, number>();
  for (const token of tokens) {
    if (token.type !== 'heading') continue;
    const words = readWords(token.tokens ?? []);
    const slug = words
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    const count = taken.get(slug) ?? 0;
    taken.set(slug, count + 1);
    headings.set(token, { id: count === 0 ? slug : `${slug}-${count}`, text: words, depth: token.depth as number });
  }
  return { tokens, headings };
}

const readWords = (tokens: Token[]): string =>
  (tokens as Tokens.Generic[]).map(({ tokens: inner, text }) => (inner ? readWords(inner) : (text ?? ''))).join('');

/** Shows a document. */
export function Markdown({ parsed, findTarget }: { parsed: ParsedMarkdown; findTarget: FindTarget }) {
  const context: Context = { headings: parsed.headings, findTarget };
  return showAll(parsed.tokens, context);
}

interface Context {
  headings: Map<Token, Heading>;
  findTarget: FindTarget;
}

const showAll = (tokens: Token[] | undefined, context: Context): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: the tokens of a document never change their order
  tokens?.map((token, index) => <Fragment key={index}>{show(token as MarkedToken, context)}</Fragment>);

const HEADING_CLASSES = [
  'mb-4 font-semibold text-xl',
  'mt-10 mb-3 scroll-mt-4 border-b pb-1 font-semibold text-lg',
  'mt-6 mb-2 scroll-mt-4 font-semibold text-base',
];
const CELL = 'border-b px-2 py-1.5 align-top first:pl-0';

function show(token: MarkedToken, context: Context): ReactNode {
  const inner = () => showAll((token as Tokens.Generic).tokens, context);
  switch (token.type) {
    case 'heading': {
      const depth = Math.min(token.depth, HEADING_CLASSES.length);
      const Tag = `h${depth}` as 'h1' | 'h2' | 'h3';
      return (
        <Tag id={context.headings.get(token)?.id} className={HEADING_CLASSES[depth - 1]}>
          {inner()}
        </Tag>
      );
    }
    case 'paragraph':
      return <p className="my-3">{inner()}</p>;
    case 'text':
      return token.tokens ? inner() : token.text;
    case 'escape':
      return token.text;
    case 'strong':
      return <strong className="font-semibold">{inner()}</strong>;
    case 'em':
      return <em>{inner()}</em>;
    case 'del':
      return <del>{inner()}</del>;
    case 'codespan':
      return <code className="break-words rounded bg-sunken px-1 py-0.5 font-mono text-xs">{token.text}</code>;
    case 'code':
      return (
        <div className="my-4">
          <Code>{token.text}</Code>
          <div className="mt-1 flex justify-end">
            <CopyButton text={token.text} />
          </div>
        </div>
      );
    case 'link':
      return showLink(token, context);
    case 'list':
      return showList(token, context);
    case 'table':
      return showTable(token, context);
    case 'blockquote':
      return <blockquote className="my-3 border-line-strong border-l-2 pl-4 text-muted">{inner()}</blockquote>;
    case 'hr':
      return <hr className="my-6" />;
    case 'br':
      return <br />;
    case 'image':
      return token.text;
    case 'html':
      // Comments say how a document is tested and made. Anything else shows as it is written.
      return token.text.trimStart().startsWith('<!--') ? null : token.text;
    default:
      return null;
  }
}

function showLink({ href, tokens }: Tokens.Link, context: Context): ReactNode {
  const target = context.findTarget(href);
  const words = showAll(tokens, context);
  if (target === null) return words;
  const className = 'text-accent underline underline-offset-2';
  return target.startsWith('/docs/') ? (
    <Link href={target} prefetch={false} className={className}>
      {words}
    </Link>
  ) : (
    <a href={target} rel="noreferrer" className={className}>
      {words}
    </a>
  );
}

function showList({ ordered, start, items }: Tokens.List, context: Context): ReactNode {
  const shown = items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the tokens of a document never change their order
    <li key={index} className="my-1 [&>p]:my-1">
      {showAll(item.tokens, context)}
    </li>
  ));
  return ordered ? (
    <ol start={Number(start) || 1} className="my-3 list-decimal pl-6">
      {shown}
    </ol>
  ) : (
    <ul className="my-3 list-disc pl-6">{shown}</ul>
  );
}

function showTable({ header, rows }: Tokens.Table, context: Context): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
    <div tabIndex={0} className="my-4 overflow-x-auto">
      <table className="w-full border-separate border-spacing-0 text-left text-sm">
        <thead>
          <tr>
            {header.map((cell, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the tokens of a document never change their order
              <th key={index} scope="col" className={`${CELL} font-medium text-muted text-xs`}>
                {showAll(cell.tokens, context)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the tokens of a document never change their order
            <tr key={at}>
              {row.map((cell, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the tokens of a document never change their order
                <td key={index} className={CELL}>
                  {showAll(cell.tokens, context)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
