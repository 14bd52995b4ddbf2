import type { Metadata } from 'next';
import Link from 'next/link';
import { DOCUMENTS } from '../../../docs/documents';
import { PageHeader, Section } from '../../components/page-header';
import { openPage, type PageProps } from '../../first-content';

export const metadata: Metadata = { title: 'Documents' };

interface Entry {
  href: string;
  title: string;
  about: string;
}

const API: Entry[] = [
  { href: '/swagger', title: 'Try the API', about: 'Every route, with a form that calls it. It asks for an API key.' },
  { href: '/openapi/v3.json', title: 'OpenAPI document', about: 'The same as a file, for generators of clients.' },
];

const listEntries = (isPublic: boolean): Entry[] =>
  DOCUMENTS.filter((document) => document.isPublic === isPublic).map(({ name, title, about }) => ({
    ...{ href: `/docs/${name}`, title, about },
  }));

/** What can be read about the product, and who may read it. */
export default async function DocumentsPage(props: PageProps) {
  await openPage(props, 'documents');
  return (
    <>
      <PageHeader title="Documents" about="Of this version of the product." />
      <div className="grid max-w-5xl items-start gap-4 lg:grid-cols-2">
        <div className="space-y-4">
          <Section title="For the customer’s developers">
            <EntryList
              entries={[...API, ...listEntries(true)]}
              note="Public: you can pass these addresses on to people without an account."
            />
          </Section>
        </div>
        <Section title="For staff">
          <EntryList
            entries={listEntries(false)}
            note="Only for people who are signed in: they say what is measured and what gets past it."
          />
        </Section>
      </div>
    </>
  );
}

function EntryList({ entries, note }: { entries: Entry[]; note: string }) {
  return (
    <>
      <p className="mb-3 text-muted">{note}</p>
      <ul className="space-y-3">
        {entries.map(({ href, title, about }) => (
          <li key={href}>
            {href.startsWith('/docs/') ? (
              <Link href={href} prefetch={false} className="font-medium text-accent underline underline-offset-2">
                {title}
              </Link>
            ) : (
              <a href={href} className="font-medium text-accent underline underline-offset-2">
                {title}
              </a>
            )}
            <p className="text-muted">{about}</p>
          </li>
        ))}
      </ul>
    </>
  );
}
