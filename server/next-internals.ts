// Everything that reaches into the inside of Next. `tests/domain/library-internals.test.ts` fails when an upgrade moves it.

/**
 * Keeps Next from reading `.env` files into the environment. The server has read its settings before, so the pages would have other
 * ones.
 */
export function ignoreEnvFiles(): void {
  process.env.__NEXT_PROCESSED_ENV = 'true';
}

/**
 * Whether Next can read a `Next-Router-State-Tree`, by the function with which it reads one itself. Loaded with the first such header:
 * Next, which is loaded last, has loaded it by then.
 */
export async function isRouterState(header: string): Promise<boolean> {
  const { parseAndValidateFlightRouterState } = await import(
    'next/dist/server/app-render/parse-and-validate-flight-router-state.js'
  );
  try {
    parseAndValidateFlightRouterState(header);
    return true;
  } catch {
    return false;
  }
}
