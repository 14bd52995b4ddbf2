/**
 * For paths outside every other part of the product. Next's own page brings a style element, which the
 * Content-Security-Policy refuses.
 */
export default function NotFound() {
  return (
    <main className="mx-auto max-w-xl px-4 py-16 text-base">
      <h1 className="mb-2 font-semibold text-xl">Not found</h1>
      <a className="text-accent underline underline-offset-2" href="/">
        To the start
      </a>
    </main>
  );
}
