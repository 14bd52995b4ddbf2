import type { RemoveLabelInput, SetVerdictInput, UndoVerdictInput } from '../../../../contract/sessions';

// Changes of labels that the server has not confirmed. The tab keeps them (sessionStorage), because a page can be left while one is
// sent, and a sign-in leaves the page. They belong to an account, an integration and a session.

export type VerdictChange =
  | { kind: 'set'; input: SetVerdictInput }
  | { kind: 'undo'; input: UndoVerdictInput }
  | { kind: 'remove'; input: RemoveLabelInput };

/** `LabeledSince`: another label than the one that the reviewer saw is there now, and stays. */
export type UnsavedState = 'Sending' | 'SignedOut' | 'LabeledSince' | 'Failed';

export interface UnsavedVerdict {
  id: string;
  sessionId: string;
  /** For people, as the reviewer saw it. */
  sessionName: string;
  change: VerdictChange;
  /** The label that the reviewer saw. */
  seenLabeledAt: string | null;
  state: UnsavedState;
  message: string | null;
}

export interface Owner {
  staffId: string;
  integrationId: string;
}

/** So many are kept at most. Then nothing more is labelled until they are sent or discarded. */
export const MAX_UNSAVED = 50;

/** Names a change. On plain http away from localhost, browsers have no `crypto.randomUUID`. */
export const createChangeId = () => crypto.getRandomValues(new Uint32Array(4)).join('-');

const PREFIX = 'unsaved-verdicts:';
const keyOf = ({ staffId, integrationId }: Owner) => `${PREFIX}${staffId}:${integrationId}`;

/** Reads what the tab keeps of an account in an integration, in the order in which it was decided. */
export function readUnsaved(storage: Pick<Storage, 'getItem'>, owner: Owner): UnsavedVerdict[] {
  return parse(storage.getItem(keyOf(owner)));
}

/** Keeps the list, or removes it if it is empty. A tab that may keep nothing still has it in memory. */
export function writeUnsaved(storage: Storage, owner: Owner, list: readonly UnsavedVerdict[]): void {
  try {
    if (list.length === 0) storage.removeItem(keyOf(owner));
    else storage.setItem(keyOf(owner), JSON.stringify(list));
  } catch {
    // Storage is full or forbidden.
  }
}

/** Reads what the tab keeps of all accounts and integrations. */
export function readAllUnsaved(storage: Storage): UnsavedVerdict[] {
  return listKeys(storage).flatMap((key) => parse(storage.getItem(key)));
}

/** Forgets what the tab keeps of a person who signs out. What it keeps of others stays theirs. */
export function forgetUnsaved(storage: Storage, staffId: string): void {
  for (const key of listKeys(storage)) if (key.startsWith(`${PREFIX}${staffId}:`)) storage.removeItem(key);
}

const listKeys = (storage: Storage) =>
  Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '').filter((key) =>
    key.startsWith(PREFIX),
  );

function parse(text: string | null): UnsavedVerdict[] {
  try {
    const list: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(list) ? list.slice(0, MAX_UNSAVED) : [];
  } catch {
    return [];
  }
}

/** Says in words what was to be changed: `Bot, Ada Lovelace`. */
export function describeUnsaved({ change, sessionName }: UnsavedVerdict): string {
  if (change.kind === 'set') return `${change.input.verdict === 'bot' ? 'Bot' : 'Human'}, ${sessionName}`;
  return `${change.kind === 'undo' ? 'Undo' : 'Remove the label'}, ${sessionName}`;
}

/** Whether the page sends a change by itself after the sign-in. */
export const isSentLater = ({ state }: UnsavedVerdict) => state === 'Sending' || state === 'SignedOut';

/** Says what becomes of the changes that the tab keeps, at the sign-in. */
export function describeSending(list: readonly UnsavedVerdict[]): string {
  const sent = list.filter(isSentLater).length;
  const one = list.length === 1;
  if (sent === list.length) return `${one ? 'It is' : 'They are'} sent when the same account signs in again.`;
  if (sent === 0) return `${one ? 'It' : 'They'} can be sent again when the same account has signed in.`;
  const some = `${sent} of them ${sent === 1 ? 'is' : 'are'} sent when the same account signs in again`;
  return `${some}, the others can be sent again then.`;
}
