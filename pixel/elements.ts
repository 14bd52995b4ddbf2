import { Role } from './codes';
import { readDocument } from './document';
import { clock } from './guard';

// Elements that events are about: what they are, and which of them are for passwords. Nothing that is in them is read.

/** An enum, because the bundler writes its values in place. */
enum Limit {
  /** In so short a time no password appears and is shown. */
  noteMs = 50,
}

/** The element that an event is about, also inside an open shadow tree. */
export function findTarget(event: Event): Element {
  const [target] = event.composedPath() as Element[];
  // A page may have another `Element`.
  return target?.nodeType === 1 ? target : readDocument('documentElement');
}

/** The link, button or field that an event is about, or the element itself. */
export function findControl(event: Event): Element {
  const target = findTarget(event);
  return target.closest('[contenteditable],[role],a,button,input,label,select,summary,textarea') ?? target;
}

/** In the order of Role: tags, types of buttons and input elements, ARIA roles. */
const ROLES =
  '?,HTML BODY,A link,BUTTON button submit,INPUT,TEXTAREA,?,SELECT,checkbox,radio,LABEL,SUMMARY,VIDEO IMG,CANVAS'.split(
    ',',
  );

export function findRole(element: Element): Role {
  // `isContentEditable` would compute styles, twice for each key.
  if (element.closest('[contenteditable]:not([contenteditable=false])')) return Role.editable;
  return findName(
    ROLES,
    (element as HTMLInputElement).type || element.getAttribute('role')!,
    findName(ROLES, element.tagName, Role.other),
  );
}

/** Finds the index of the list of names that has a name. */
export function findName(lists: string[], name: string, otherwise: number): number {
  const index = lists.findIndex((names) => names.split(' ').includes(name));
  return index < 0 ? otherwise : index;
}

/** What was a password once: a page that shows it makes a text field of it. */
export const passwords = new WeakSet<Element>();

/**
 * Whether an element is a field for a password or a one-time code, or was one. A page may show a password in a new text field, which
 * only its name gives away.
 */
export function isPassword(element: Element): boolean {
  const field = element as HTMLInputElement;
  if (/password|one-time-code/i.test(field.type + field.autocomplete + field.name)) passwords.add(element);
  return passwords.has(element);
}

/** When passwords are noted again at the earliest. */
let nextMs: number;

/**
 * Notes the passwords around what an event is about, before it can show them. That looks at all elements, and a script of the page may
 * press thousands of boxes in a row, so only now and then.
 */
export function notePasswords(event: Event): void {
  if (clock.now() < nextMs) return;
  nextMs = clock.now() + Limit.noteMs;
  event.composedPath().forEach((node) => {
    // The topmost element and the shadow trees. The document's own method may be hidden by a post.
    (node as Node).parentElement || (node as ParentNode).querySelectorAll?.('[type=password]').forEach(isPassword);
  });
}

/** Whether an element may have a closed shadow tree, in which a field for a password may be. */
export const mayHidePassword = (element: Element) =>
  !(findRole(element) || element.shadowRoot || (element as { editContext?: unknown }).editContext);
