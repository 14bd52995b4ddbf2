'use client';
import { useState } from 'react';
import { CopyButton } from '../../components/copying';
import { Select } from '../../components/field';
import { Code } from '../../components/states';

// The central part of the receivers in docs/webhooks.md.
const SNIPPETS = {
  'Node.js': `const hex = createHmac('sha256', secret).update(\`\${timestamp}.\`).update(body).digest('hex');
const [expected, given] = [Buffer.from(\`sha256=\${hex}\`), Buffer.from(signature)];
const isGenuine = given.length === expected.length && timingSafeEqual(given, expected);`,
  Python: `signed = timestamp.encode() + b"." + body
expected = "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
is_genuine = hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace"))`,
};
type Language = keyof typeof SNIPPETS;

/** Shows how a receiver verifies that a delivery is genuine. */
export function VerifySignature() {
  const [language, setLanguage] = useState<Language>('Node.js');
  const snippet = SNIPPETS[language];
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="font-medium text-ink">Three lines verify a delivery</p>
        <div className="flex gap-2">
          <Select
            aria-label="Language"
            className="w-auto"
            value={language}
            onChange={(event) => setLanguage(event.target.value as Language)}
          >
            {Object.keys(SNIPPETS).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </Select>
          <CopyButton text={snippet} />
        </div>
      </div>
      <Code>{snippet}</Code>
      <p className="text-muted">
        <code className="font-mono text-xs">timestamp</code> and <code className="font-mono text-xs">signature</code>{' '}
        are the headers X-Webhook-Timestamp and X-Webhook-Signature; <code className="font-mono text-xs">body</code> is
        the raw bytes, before any parsing. Refuse a timestamp more than 300 seconds off, and answer any 2xx within 30
        seconds.
      </p>
    </div>
  );
}
