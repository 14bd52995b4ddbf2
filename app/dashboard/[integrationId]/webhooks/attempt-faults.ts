/** What went wrong in an attempt, and what to do about it: each a sentence. */
export interface AttemptFault {
  what: string;
  act: string;
}

const TRY_LATER = 'It is retried on schedule.';
const SHOW_CERTIFICATE = 'Install a certificate of a public authority for the host in the URL.';

/** The codes of attempts (`toErrorCode` of the server) and what they mean. `date` is what follows the code. */
type Fault = AttemptFault | ((date: string | null) => AttemptFault);
const FAULTS = new Map<string, Fault>(
  Object.entries({
    ECONNREFUSED: {
      what: 'The receiver’s host refused the connection: nothing listens at that port.',
      act: 'Start the receiver, or correct the port in the URL.',
    },
    ECONNRESET: {
      what: 'The connection was cut before an answer came.',
      act: 'Look at the log of the receiver, and of the proxy in front of it, for the time of this attempt.',
    },
    ENOTFOUND: {
      what: 'The host name in the URL does not exist.',
      act: 'Correct the URL, or add the name to the DNS.',
    },
    EAI_AGAIN: {
      what: 'The host name could not be looked up, because the DNS did not answer.',
      act: 'Check the name servers of the domain.',
    },
    EHOSTUNREACH: {
      what: 'There is no way to the receiver’s address.',
      act: 'Check the address in the DNS, and the receiver’s network and firewall.',
    },
    ERR_TIMEOUT_NAME: {
      what: 'The look-up of the host name did not end in time.',
      act: 'Check the name servers of the domain.',
    },
    ERR_TIMEOUT_CONNECTION: {
      what: 'No connection came about in time.',
      act: 'Check that the receiver runs, and that its firewall lets connections in.',
    },
    ERR_TIMEOUT_ANSWER: {
      what: 'The receiver took the request but did not answer in time.',
      act: 'Answer at once with a 2xx, and do the work afterwards.',
    },
    ERR_TIMEOUT_BODY: {
      what: 'The receiver began its answer but did not end it in time.',
      act: 'End the answer at once. An empty body is enough.',
    },
    CERT_HAS_EXPIRED: (date) => ({
      what: `The receiver’s certificate ${date ? `expired on ${showDay(date)}` : 'has expired'}.`,
      act: 'Renew it.',
    }),
    CERT_NOT_YET_VALID: (date) => ({
      what: `The receiver’s certificate is not valid ${date ? `before ${showDay(date)}` : 'yet'}.`,
      act: 'Install one that is valid now.',
    }),
    DEPTH_ZERO_SELF_SIGNED_CERT: { what: 'The receiver’s certificate is self-signed.', act: SHOW_CERTIFICATE },
    SELF_SIGNED_CERT_IN_CHAIN: {
      what: 'The receiver’s certificate is signed by a private authority.',
      act: SHOW_CERTIFICATE,
    },
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: {
      what: 'The receiver’s certificate cannot be traced to a public authority.',
      act: 'Let the receiver send the intermediate certificates too, or install a certificate of a public authority.',
    },
    ERR_TLS_CERT_ALTNAME_INVALID: {
      what: 'The receiver’s certificate is for another host name.',
      act: 'Install one for the host in the URL, or correct the URL.',
    },
    INVALID_PURPOSE: { what: 'The receiver’s certificate is not one for servers.', act: SHOW_CERTIFICATE },
    ERR_SSL_VERSION: {
      what: 'The receiver supports no TLS version that is still safe.',
      act: 'Enable TLS 1.2 or 1.3.',
    },
    ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: {
      what: 'The receiver speaks only HTTP/2.',
      act: 'Let it speak HTTP/1.1 too.',
    },
    ERR_SSL: {
      what: 'The TLS handshake failed.',
      act: 'Check that the receiver speaks TLS at the port in the URL, or use http:// if it does not.',
    },
    ERR_HTTP: {
      what: 'What came back is not a complete answer in HTTP.',
      act: 'Check that a web server listens at the port in the URL, and with https:// if it expects TLS.',
    },
    ERR_ENDLESS_ANSWER: {
      what: 'The answer was cut off because it did not end after 512 KiB.',
      act: 'Answer with a status and an empty body.',
    },
    ERR_FORBIDDEN_ADDRESS: {
      what: 'The host leads to a private or reserved address, so nothing was sent.',
      act: 'Give the receiver a public address.',
    },
    ERR_FORBIDDEN_URL: {
      what: 'The URL is not one that webhooks may be sent to, so nothing was sent.',
      act: 'Change the URL to a public address with port 80 or 443.',
    },
    ERR_NETWORK: {
      what: 'No connection came about, or it broke.',
      act: 'Check that the receiver can be reached from the internet.',
    },
    HTTP_3XX: {
      what: 'The receiver answered with a redirect, which is never followed.',
      act: 'Change the URL to where the redirect leads.',
    },
    HTTP_401: {
      what: 'The receiver refused the request as not genuine or not signed in (401).',
      act: 'Give it the present secret of this webhook, and let it ask for no other credentials.',
    },
    HTTP_403: {
      what: 'The receiver refused the request as forbidden (403).',
      act: 'Check its firewall, and that it has the present secret of this webhook.',
    },
    HTTP_404: { what: 'The receiver has nothing at this address (404).', act: 'Correct the path in the URL.' },
    HTTP_405: {
      what: 'The receiver accepts no POST at this address (405).',
      act: 'Correct the path in the URL, or let it accept POST.',
    },
    HTTP_408: {
      what: 'The receiver gave up waiting for the request (408).',
      act: 'Check the proxy in front of it, and that it reads the whole request.',
    },
    HTTP_410: {
      what: 'The receiver says that this address is gone (410).',
      act: 'Change the URL, or delete this webhook.',
    },
    HTTP_413: {
      what: 'The receiver finds the payload too large (413).',
      act: 'Let it, and the proxy in front of it, accept 64 KiB.',
    },
    HTTP_429: {
      what: 'The receiver asked for fewer requests (429).',
      act: `Raise its limit for these deliveries. ${TRY_LATER}`,
    },
    HTTP_4XX: {
      what: 'The receiver refused the request.',
      act: 'Its answer and its log say why.',
    },
    HTTP_502: {
      what: 'A proxy answered that it cannot reach the receiver (502).',
      act: `Start the receiver behind the proxy. ${TRY_LATER}`,
    },
    HTTP_503: {
      what: 'The receiver, or a proxy in front of it, is unavailable (503).',
      act: `Start the receiver, or wait until it is back. ${TRY_LATER}`,
    },
    HTTP_504: {
      what: 'A proxy answered that the receiver takes too long (504).',
      act: 'Answer at once with a 2xx, and do the work afterwards.',
    },
    HTTP_5XX: {
      what: 'The receiver failed while it handled the request.',
      act: `Look for the error in its log at the time of this attempt. ${TRY_LATER}`,
    },
    HTTP_OTHER: {
      what: 'The receiver answered with a status that means nothing to us.',
      act: 'Let it answer any 2xx.',
    },
  } satisfies Record<string, Fault>),
);

/** Codes that mean the same as another one. */
const SAME = new Map(
  Object.entries({
    EPIPE: 'ECONNRESET',
    UND_ERR_SOCKET: 'ECONNRESET',
    ENETUNREACH: 'EHOSTUNREACH',
    ETIMEDOUT: 'ERR_TIMEOUT_CONNECTION',
    EPROTO: 'ERR_SSL',
    UNABLE_TO_GET_ISSUER_CERT: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'ERR_SSL_VERSION',
    ERR_SSL_UNSUPPORTED_PROTOCOL: 'ERR_SSL_VERSION',
  }),
);

/** Families of codes, by how they begin. */
const FAMILIES: [start: string, code: string][] = [
  ['ERR_SSL_', 'ERR_SSL'],
  ['HPE_', 'ERR_HTTP'],
  ['UND_ERR_', 'ERR_HTTP'],
  ['HTTPParserError', 'ERR_HTTP'],
  ['HTTP_3', 'HTTP_3XX'],
  ['HTTP_4', 'HTTP_4XX'],
  ['HTTP_5', 'HTTP_5XX'],
  ['HTTP_', 'HTTP_OTHER'],
];

/** The codes of attempts that were made before codes were kept, by class. */
const BY_CLASS = new Map(
  Object.entries({
    '5xx': 'HTTP_5XX',
    '4xx': 'HTTP_4XX',
    Timeout: 'ERR_TIMEOUT_ANSWER',
    RateLimited: 'HTTP_429',
    BlockedSsrf: 'ERR_FORBIDDEN_ADDRESS',
  }),
);

/** Explains why an attempt failed; null if it did not. */
export function explainAttempt(attempt: {
  errorCode: string | null;
  failureClass: string | null;
}): AttemptFault | null {
  const { errorCode, failureClass } = attempt;
  if (failureClass === null) return null;
  const given = errorCode ?? BY_CLASS.get(failureClass) ?? failureClass.replace(/^HTTP/, 'HTTP_');
  const [code = '', date = null] = given.split(' ');
  const name = SAME.get(code) ?? code;
  const family = FAMILIES.find(([start]) => name.startsWith(start))?.[1];
  const fault = FAULTS.get(name) ?? FAULTS.get(family ?? '') ?? FAULTS.get('ERR_NETWORK')!;
  return typeof fault === 'function' ? fault(date) : fault;
}

/** Formats the day of an instant: `3 November 2026`. */
const showDay = (instant: string): string =>
  new Date(instant).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
