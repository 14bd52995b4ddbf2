import postgres from 'postgres';

/**
 * Whether the migrated database at this address has secrets that only its APP_SECRET can read, or hashes with which it refuses facts about
 * erased users.
 */
export async function hasSealedSecrets(url: string): Promise<boolean> {
  const sql = postgres(url, { max: 1, onnotice: () => {}, connect_timeout: 10 });
  try {
    const [found] = await sql<{ isSealed: boolean }[]>`
      select exists (select from webhook_subscriptions)
          or exists (select from integrations where identity_secret is not null)
          or exists (select from user_erasures where user_hash is not null) as "isSealed"`;
    return found!.isSealed;
  } finally {
    await sql.end({ timeout: 5 });
  }
}
