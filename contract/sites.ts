import { z } from 'zod';
import { idText, nameText, text, wireInstant, wireText } from './fields';
import { originInput, originsInput } from './integrations';

// Sites, origins and identity as staff and the operator manage them. No route of the public API shows these shapes.

/** A site: what the public key in a page's tag stands for. */
export const siteSchema = z.object({
  id: wireText('ste_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f'),
  siteKey: wireText('site_Zk3p9xQaZk3p9xQaZk3p9xQa').describe('Public: every page with the tag shows it.'),
  name: wireText('Campus LMS'),
  createdAt: wireInstant(),
  revokedAt: wireInstant().nullable(),
  firstReceivedAt: wireInstant().nullable().describe('When the first batch of a page was kept.'),
});
export type Site = z.infer<typeof siteSchema>;

export const siteNameInput = nameText(100).default('Site');
export const createSiteInput = z.object({ name: siteNameInput });
export const createdSiteSchema = siteSchema.pick({ id: true, siteKey: true });
export const siteIdInput = z.object({ id: idText() });
export const revokedSiteSchema = z.object({ id: z.string(), revokedAt: wireInstant() });

/** What holds for all sites of an integration. */
export const collectingSchema = z.object({
  allowedOrigins: z.array(z.string()).describe('Pages of other origins send nothing. Empty: nothing is collected.'),
  hasIdentitySecret: z
    .boolean()
    .describe('Users that a page names need a signature, unless unsigned ones are accepted.'),
  acceptsUnsignedUsers: z
    .boolean()
    .describe('With an identity secret, users that a page names without a signature count too, as unsigned ones.'),
  mayIgnorePrivacyControl: z.boolean().describe('A tag may ask to collect in spite of Global Privacy Control.'),
});
export type Collecting = z.infer<typeof collectingSchema>;
export const setOriginsInput = z.object({
  allowedOrigins: originsInput,
  replaced: originsInput.optional().describe('The origins that the new ones replace. Refused if others are stored.'),
});
export const allowedOriginsSchema = collectingSchema.pick({ allowedOrigins: true });
export const privacyControlInput = collectingSchema.pick({ mayIgnorePrivacyControl: true });
export const unsignedUsersInput = collectingSchema.pick({ acceptsUnsignedUsers: true });
export const identitySecretSchema = z.object({
  identitySecret: z.string().describe('Shown in this answer and never again.'),
});

/** What a page of an origin may expect, the first that applies. */
export const SITE_STATES = [
  'UnknownKey',
  'Revoked',
  'NoOrigins',
  'OriginNotAllowed',
  'NothingReceived',
  'Receiving',
] as const;
export type SiteState = (typeof SITE_STATES)[number];

/** The body of `POST /collect/check`: a site key, and the origin of a page as browsers write it. */
export const checkSiteInput = z.object({ siteKey: text(1, 256), origin: originInput });
export const siteCheckSchema = z.object({
  state: z.enum(SITE_STATES),
  message: z.string().describe('Why pages of that origin send nothing, or what arrived, in words.'),
  notes: z.array(z.string()).describe('What else keeps single visitors from being seen.'),
  integrationId: z.string().nullable(),
  siteId: z.string().nullable(),
  allowedOrigins: z.array(z.string()),
  firstReceivedAt: wireInstant().nullable(),
  lastReceivedAt: wireInstant().nullable(),
});
export type SiteCheck = z.infer<typeof siteCheckSchema>;
