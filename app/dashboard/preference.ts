const YEAR_SECONDS = 365 * 24 * 60 * 60;

/** Keeps a choice of this browser for a year, in a cookie, so that the server renders what was chosen. Null forgets it. */
export function savePreference(cookie: string, value: string | null, path = '/'): void {
  const maxAgeSeconds = value === null ? 0 : YEAR_SECONDS;
  // The Cookie Store API does not exist on http, and answers later: a reload at once would lose the choice.
  // biome-ignore lint/suspicious/noDocumentCookie: see above
  document.cookie = `${cookie}=${encodeURIComponent(value ?? '')}; path=${path}; max-age=${maxAgeSeconds}; samesite=lax`;
}
