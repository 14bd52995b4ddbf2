import { describe, expect, it } from 'vitest';
import {
  describeSending,
  describeUnsaved,
  forgetUnsaved,
  MAX_UNSAVED,
  readAllUnsaved,
  readUnsaved,
  type UnsavedVerdict,
  writeUnsaved,
} from '../../app/dashboard/[integrationId]/sessions/unsaved-verdicts';
import { REASONS } from '../../app/dashboard/[integrationId]/sessions/verdict-words';
import { VERDICTS } from '../../contract/sessions';
import { VERDICT_REASONS } from '../../contract/verdicts';

/** A Storage in memory. */
function createStorage(): Storage {
  const items = new Map<string, string>();
  return {
    get length() {
      return items.size;
    },
    key: (index) => [...items.keys()][index] ?? null,
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
    clear: () => items.clear(),
  };
}

const verdict = (sessionId: string): UnsavedVerdict => ({
  ...{ id: `id-${sessionId}`, sessionId, sessionName: 'Ada', seenLabeledAt: null, state: 'SignedOut', message: null },
  change: { kind: 'set', input: { sessionId, verdict: 'bot' } },
});
const owner = { staffId: 'stf_1', integrationId: 'int_1' };

describe('unsaved verdicts', () => {
  it('belong to an account and an integration', () => {
    const storage = createStorage();
    writeUnsaved(storage, owner, [verdict('s')]);
    expect(readUnsaved(storage, owner)).toEqual([verdict('s')]);
    expect(readUnsaved(storage, { ...owner, staffId: 'stf_2' })).toEqual([]);
    expect(readUnsaved(storage, { ...owner, integrationId: 'int_2' })).toEqual([]);
  });

  it('leave nothing behind when they are sent, and are forgotten at sign-out, with nothing else of the tab', () => {
    const storage = createStorage();
    storage.setItem('other', 'kept');
    writeUnsaved(storage, owner, [verdict('s')]);
    writeUnsaved(storage, owner, []);
    expect(storage.length).toBe(1);
    writeUnsaved(storage, owner, [verdict('s')]);
    writeUnsaved(storage, { ...owner, integrationId: 'int_2' }, [verdict('t')]);
    expect(readAllUnsaved(storage).map(({ sessionId }) => sessionId)).toEqual(['s', 't']);
    writeUnsaved(storage, { ...owner, staffId: 'stf_2' }, [verdict('u')]);
    forgetUnsaved(storage, owner.staffId);
    expect([storage.length, storage.getItem('other')]).toEqual([2, 'kept']);
    // Another account's, which has not signed out.
    expect(readAllUnsaved(storage).map(({ sessionId }) => sessionId)).toEqual(['u']);
  });

  it('are bounded, and nothing where the storage holds nonsense or refuses', () => {
    const storage = createStorage();
    for (const nonsense of ['{', '{}', 'null', '3']) {
      storage.setItem('unsaved-verdicts:stf_1:int_1', nonsense);
      expect(readUnsaved(storage, owner)).toEqual([]);
    }
    writeUnsaved(
      storage,
      owner,
      Array.from({ length: MAX_UNSAVED + 1 }, (_, n) => verdict(`s${n}`)),
    );
    expect(readUnsaved(storage, owner)).toHaveLength(MAX_UNSAVED);
    const full = {
      ...createStorage(),
      setItem: () => {
        throw new Error('QuotaExceededError');
      },
    };
    expect(() => writeUnsaved(full, owner, [verdict('s')])).not.toThrow();
  });

  it('are described by what was decided and the name of the session', () => {
    expect(describeUnsaved(verdict('s'))).toBe('Bot, Ada');
    const change = { kind: 'remove', input: { sessionId: 's', labeledAt: '' } } as const;
    expect(describeUnsaved({ ...verdict('s'), change })).toBe('Remove the label, Ada');
  });
});

describe('the sign-in', () => {
  const failed = { ...verdict('t'), state: 'Failed' } as const;

  it('says of what it will send that it sends it, and of nothing else', () => {
    expect(describeSending([verdict('s')])).toBe('It is sent when the same account signs in again.');
    expect(describeSending([verdict('s'), { ...verdict('t'), state: 'Sending' }])).toBe(
      'They are sent when the same account signs in again.',
    );
    expect(describeSending([failed])).toBe('It can be sent again when the same account has signed in.');
    expect(describeSending([verdict('s'), failed, { ...verdict('u'), state: 'LabeledSince' }])).toBe(
      '1 of them is sent when the same account signs in again, the others can be sent again then.',
    );
  });
});

describe('the reasons', () => {
  it('are each offered for a verdict, at most nine for the number keys', () => {
    const offered = new Set(VERDICTS.flatMap((one) => [...REASONS[one]]));
    expect([...offered].sort()).toEqual([...VERDICT_REASONS].sort());
    for (const one of VERDICTS) expect(new Set(REASONS[one]).size).toBe(REASONS[one].length);
    expect(Math.max(...VERDICTS.map((one) => REASONS[one].length))).toBeLessThan(10);
  });
});
