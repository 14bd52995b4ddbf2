import { describe, expect, it } from 'vitest';
import { TABLES, TENANT_TABLES } from '../support/tenant-tables';

/** Tables whose primary key does not begin with a tenant, and why. */
const OTHERS: Record<string, string> = {
  meta: 'one row for the whole database',
  integrations: 'the tenants themselves',
  api_keys: 'found by their hash before the tenant is known',
  sites: 'found by their key before the tenant is known',
  collected_sessions: 'found by a number, which is shorter in the tables of their batches',
  session_batches: 'found by the number of their session',
  session_traces: 'found by the number of their session',
  rate_windows: 'counted per bucket, which the tenants of a tier may share',
  lease_owners: 'processes, each of which works for all tenants',
  audit_entries: 'changes to accounts belong to no tenant, and entries are found by their time',
  staff: 'employees of the platform, who belong to no tenant',
  staff_sessions: 'found by the hash of their token',
  staff_invitations: 'found by the hash of their token',
  sign_in_windows: 'counted before sign-in',
};

describe('the tables', () => {
  it.each(TABLES.filter(({ name }) => !(name in OTHERS)))('keep the rows of $name by tenant', ({ primaryKey }) => {
    expect(primaryKey[0]).toBe('integration_id');
    expect(primaryKey.length).toBeGreaterThan(1);
  });

  it('have no other exception', () => {
    const exceptions = TABLES.filter(({ primaryKey }) => primaryKey[0] !== 'integration_id').map(({ name }) => name);
    expect(exceptions.sort()).toEqual(Object.keys(OTHERS).sort());
  });

  it('belong to tenants if they name an integration', () => {
    const without = TABLES.filter(({ name }) => !TENANT_TABLES.some((table) => table.name === name));
    expect(without.map(({ name }) => name).sort()).toEqual([
      ...[
        'lease_owners',
        'meta',
        'rate_windows',
        'session_batches',
        'session_traces',
        'sign_in_windows',
        'staff',
        'staff_invitations',
        'staff_sessions',
      ],
    ]);
    expect(TENANT_TABLES.length).toBeGreaterThan(10);
  });
});
