import type { Metadata } from 'next';
import Link from 'next/link';
import { notFound } from 'next/navigation';
import { joinClasses } from '../../dashboard/components/classes';
import { getStaff, requireStaff } from '../../dashboard/staff-session';
import { findDocument, findLinkTarget, listDocuments, readDocumentText } from '../documents';
import { type Heading, Markdown, parseMarkdown } from '../markdown';

type Props = { params: Promise<{ name: string }> };

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: findDocument((await params).name)?.title };
}

/** A document, with a list of the others. */
export default async function DocumentPage({ params }: Props) {
  const { name } = await params;
  const document = findDocument(name);
  if (!document) notFound();
  const staff = document.isPublic ? await getStaff() : await requireStaff(`/docs/${name}`);
  const isStaff = staff !== null;
  const parsed = parseMarkdown(await readDocumentText(document));
  const sections = [...parsed.headings.values()].filter(({ depth }) => depth === 2);
  return (
    <div className="mx-auto max-w-6xl gap-10 px-4 py-6 lg:grid lg:grid-cols-[14rem_minmax(0,1fr)]">
      <Contents name={name} isStaff={isStaff} sections={sections} />
      <main className="min-w-0 max-w-3xl text-base leading-6">
        <Markdown parsed={parsed} findTarget={(href) => findLinkTarget(href, document, isStaff)} />
      </main>
    </div>
  );
}

const LINK = 'block truncate rounded px-2 py-1 hover:bg-sunken hover:text-ink';

function Contents({ name, isStaff, sections }: { name: string; isStaff: boolean; sections: Heading[] }) {
  return (
    <nav
      aria-label="Documents"
      className="mb-8 text-muted lg:sticky lg:top-6 lg:max-h-[calc(100dvh-3rem)] lg:self-start lg:overflow-y-auto"
    >
      <p className="mb-2 px-2 font-semibold text-ink">Bot Detection</p>
      <ul className="flex flex-wrap gap-px lg:block lg:space-y-px">
        {isStaff && (
          <li>
            <Link href="/dashboard" prefetch={false} className={LINK}>
              Dashboard
            </Link>
          </li>
        )}
        {listDocuments(isStaff).map((document) => {
          const isCurrent = document.name === name;
          return (
            <li key={document.name}>
              <Link
                href={`/docs/${document.name}`}
                prefetch={false}
                aria-current={isCurrent ? 'page' : undefined}
                className={joinClasses(LINK, isCurrent && 'bg-sunken font-medium text-ink')}
              >
                {document.title}
              </Link>
              {isCurrent && sections.length > 0 && (
                <ul className="my-1 ml-2 border-line border-l pl-1 text-xs max-lg:hidden">
                  {sections.map(({ id, text }) => (
                    <li key={id}>
                      <a href={`#${id}`} className={LINK}>
                        {text}
                      </a>
                    </li>
                  ))}
                </ul>
              )}
            </li>
          );
        })}
        <li>
          <a href="/swagger" className={LINK}>
            Try the API
          </a>
        </li>
      </ul>
    </nav>
  );
}
