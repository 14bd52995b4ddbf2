const LINKS = [
  { href: '/dashboard', name: 'Dashboard' },
  { href: '/docs/quickstart', name: 'Documents' },
  { href: '/swagger', name: 'Try the API' },
  { href: '/openapi/v3.json', name: 'OpenAPI document' },
  { href: '/health', name: 'Health' },
];

/** Shown to a person who opens the API's address in a browser. */
export default function Home() {
  return (
    <main className="mx-auto max-w-xl px-4 py-16 text-base">
      <h1 className="mb-2 font-semibold text-xl">Bot Detection API</h1>
      <p className="mb-6 text-muted">Scored browsing sessions over REST under /v1, and signed webhooks about them.</p>
      <ul className="space-y-2">
        {LINKS.map(({ href, name }) => (
          <li key={href}>
            <a className="text-accent underline underline-offset-2" href={href}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </main>
  );
}
