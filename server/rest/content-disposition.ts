import { cutText } from '../../contract/fields';

const MAX_LENGTH = 120;
/** What file systems and shells give a meaning to, and what hides or turns around the rest of a name. */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}/\\:*?"<>|]/gu;
/** What simple readers of the header could take for its end or for an escape, and what they cannot read. */
const NOT_PLAIN = /[^\x20-\x7e]|[;%]/g;
const LEADING_DOTS = /^\.+/;

/**
 * Writes `Content-Disposition: attachment` for a file (RFC 6266): an ASCII name for old clients, and the whole name in UTF-8
 * (RFC 8187). The name is text that somebody chose.
 */
export function writeContentDisposition(name: string, extension: string): string {
  const safe = cutText(name.replace(UNSAFE, '_'), MAX_LENGTH).trim().replace(LEADING_DOTS, '') || 'report';
  const ascii = safe.replace(NOT_PLAIN, '_');
  const encoded = encodeURIComponent(safe).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${ascii}.${extension}"; filename*=UTF-8''${encoded}.${extension}`;
}
