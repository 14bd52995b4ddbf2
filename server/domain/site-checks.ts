import type { SiteCheck, SiteState } from '../../contract/sites';
import type { Database } from '../../db/client';

interface CheckedSite {
  siteId: string;
  integrationId: string;
  revokedAt: string | null;
  allowedOrigins: string[];
  needsSignedUsers: boolean;
  mayIgnorePrivacyControl: boolean;
  firstReceivedAt: string | null;
  lastReceivedAt: string | null;
}

/**
 * Tells staff what happens to batches of a page with this origin and site key: the page itself never learns why nothing is
 * kept.
 */
export async function checkSite(
  db: Database,
  { siteKey, origin }: { siteKey: string; origin: string },
): Promise<SiteCheck> {
  const [site] = await db.query<CheckedSite>(READ, [siteKey]);
  if (!site) return { ...UNKNOWN, state: 'UnknownKey', message: 'No site has this key. Copy the tag again.' };
  const { siteId, integrationId, allowedOrigins, firstReceivedAt, lastReceivedAt } = site;
  return {
    ...judgeSite(site, origin),
    notes: listNotes(site),
    ...{ integrationId, siteId, allowedOrigins, firstReceivedAt, lastReceivedAt },
  };
}

const UNKNOWN = {
  notes: [],
  integrationId: null,
  siteId: null,
  allowedOrigins: [],
  firstReceivedAt: null,
  lastReceivedAt: null,
};

function judgeSite(site: CheckedSite, origin: string): { state: SiteState; message: string } {
  const { revokedAt, allowedOrigins, firstReceivedAt } = site;
  if (revokedAt !== null)
    return {
      state: 'Revoked',
      message: 'The site is revoked: nothing of its pages is kept. Use the key of another site.',
    };
  if (allowedOrigins.length === 0)
    return {
      state: 'NoOrigins',
      message: 'No origin is allowed, so nothing is collected. Add the origin of the pages.',
    };
  if (!allowedOrigins.includes(origin))
    return {
      state: 'OriginNotAllowed',
      message: `Nothing of pages at ${origin} is kept. Scheme, host and port must equal an allowed origin.`,
    };
  if (firstReceivedAt === null)
    return {
      state: 'NothingReceived',
      message: `Pages at ${origin} may send, but none has sent anything yet. Check that the page has the tag, and that its Content-Security-Policy names this host in script-src and connect-src.`,
    };
  return { state: 'Receiving', message: `Pages at ${origin} may send, and the site receives.` };
}

const listNotes = ({ mayIgnorePrivacyControl, needsSignedUsers }: CheckedSite) => [
  mayIgnorePrivacyControl
    ? 'Visitors with Global Privacy Control are collected only where the tag says data-gpc="ignore".'
    : 'Nothing of visitors with Global Privacy Control is kept.',
  ...(needsSignedUsers ? ['Users that a page names without a valid data-user-hash are ignored.'] : []),
];

/** The last batch is that of the newest session; once the session is closed and its batches are joined, its beginning. */
const READ = `
  select s.id as "siteId", s.integration_id as "integrationId", s.revoked_at as "revokedAt",
         i.allowed_origins as "allowedOrigins",
         i.identity_secret is not null and not i.accepts_unsigned_users as "needsSignedUsers",
         i.may_ignore_privacy_control as "mayIgnorePrivacyControl", s.first_batch_at as "firstReceivedAt",
         coalesce(newest.received_at, s.first_batch_at) as "lastReceivedAt"
    from sites s join integrations i on i.id = s.integration_id
    left join lateral (
         select coalesce((select max(b.received_at) from session_batches b
                           where b.day = c.day and b.session_key = c.key), c.created_at) as received_at
           from collected_sessions c where c.integration_id = s.integration_id and c.site_id = s.id
          order by c.created_at desc limit 1) newest on true
   where s.site_key = $1`;
