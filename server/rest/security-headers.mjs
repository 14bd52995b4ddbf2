// All security headers. This is plain JavaScript because next.config.js reads it too, for what a platform serves itself.

/** The header of a request to a page with the nonce of its policy, for scripts that the page itself adds. */
export const NONCE_HEADER = 'x-nonce';

/** Set on every response. */
export const ANSWER_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
};

/** Set on everything that a browser may show as a page, in addition to its Content-Security-Policy. */
export const PAGE_HEADERS = {
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy':
    'camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=(), clipboard-write=(self)',
};

/** Set on every response if the public address is https. Valid for two years. */
const TRANSPORT_HEADERS = { 'strict-transport-security': 'max-age=63072000' };

const SECURE_HEADERS = { ...ANSWER_HEADERS, ...TRANSPORT_HEADERS };

/**
 * Lists the headers of every response of a server with this public address (null if it is unknown).
 * @param {string | null} publicUrl
 * @returns {Record<string, string>}
 */
export const listAnswerHeaders = (publicUrl) => (publicUrl?.startsWith('https:') ? SECURE_HEADERS : ANSWER_HEADERS);

/** Sources that no page of ours needs. */
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

/** The policy of `/swagger`, which consists of files only. */
export const SWAGGER_POLICY = writePolicy({
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'form-action': "'none'",
});

/**
 * Writes the policy of a page. Only scripts with the response's nonce run, and the scripts that they load. Style attributes
 * are allowed, because the server draws bars and charts with them; style elements need the nonce. In development, eval and
 * all inline styles are allowed, because the tools use them.
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
