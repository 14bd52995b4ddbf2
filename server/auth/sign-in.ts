import { eq } from 'drizzle-orm';
import type { SignInInput, Staff } from '../../contract/staff';
import { staff } from '../../db/schema';
import { verifyPassword } from './passwords';
import { type AuthContext, openStaffSession } from './sessions';
import { countTry, forgiveTry, listTryBuckets, type Throttled } from './tries';

export type SignIn =
  | { outcome: 'signed-in'; staff: Staff; token: string }
  /** Unknown address, wrong password or disabled account. The answer does not reveal which. */
  | { outcome: 'refused' }
  | Throttled;

/**
 * Signs in with email and password. Attempts are counted in the database before the password is checked, so that
 * parallel guesses at several processes count, too. A success takes back the account's attempts.
 */
export async function signIn(context: AuthContext, input: SignInInput, clientAddress: string): Promise<SignIn> {
  const { db } = context;
  const email = input.email.trim().toLowerCase();
  const buckets = listTryBuckets('account', email, clientAddress);
  const throttled = await countTry(db, buckets);
  if (throttled) return throttled;
  const [found] = await db.orm.select().from(staff).where(eq(staff.email, email));
  const isRight = await verifyPassword(input.password, found?.passwordHash ?? null);
  const token = found && isRight && !found.disabled ? await openStaffSession(context, found) : null;
  if (!found || token === null) return { outcome: 'refused' };
  await forgiveTry(db, buckets);
  const { id, name, role } = found;
  return { outcome: 'signed-in', staff: { id, email, name, role }, token };
}
