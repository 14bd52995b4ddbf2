// The one table of security headers. Plain JavaScript: next.config.js reads it too, for what a platform serves by itself.

/** On every answer, whoever gives it. */
export const ANSWER_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
};

/** On what a browser may show as a page, besides its Content-Security-Policy. */
export const PAGE_HEADERS = {
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy':
    'camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=(), clipboard-write=(self)',
};

/** On every answer where the public address is https: for two years. */
const TRANSPORT_HEADERS = { 'strict-transport-security': 'max-age=63072000' };

/**
 * The headers of every answer of a server with this public address (null: unknown).
 * @param {string | null} publicUrl
 * @returns {Record<string, string>}
 */
export const listAnswerHeaders = (publicUrl) =>
  publicUrl?.startsWith('https:') ? { ...ANSWER_HEADERS, ...TRANSPORT_HEADERS } : ANSWER_HEADERS;

/** What no page of ours needs. */
const CLOSED = {
  'default-src': "'none'",
  'base-uri': "'none'",
  'frame-ancestors': "'none'",
  'object-src': "'none'",
};

/** @param {Record<string, string>} directives */
const writePolicy = (directives) =>
  Object.entries({ ...CLOSED, ...directives })
    .map(([name, sources]) => `${name} ${sources}`)
    .join('; ');

/** The policy of `/swagger`, which is made of files alone. */
export const SWAGGER_POLICY = writePolicy({
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'form-action': "'none'",
});

/**
 * The policy of a page: scripts run that carry the answer's nonce, and what these load. Style attributes are allowed,
 * since the server draws bars and charts with them; style elements are not. In development the tools evaluate code and
 * insert styles.
 * @param {string} nonce
 * @param {boolean} isDevelopment
 */
export const writePagePolicy = (nonce, isDevelopment) =>
  writePolicy({
    'script-src': `'self' 'nonce-${nonce}' 'strict-dynamic'${isDevelopment ? " 'unsafe-eval'" : ''}`,
    'style-src': isDevelopment ? "'self' 'unsafe-inline'" : `'self' 'nonce-${nonce}'`,
    'style-src-attr': "'unsafe-inline'",
    'img-src': "'self' data:",
    'font-src': "'self'",
    'connect-src': "'self'",
    'manifest-src': "'self'",
    'form-action': "'self'",
  });
