// Which fields are written in at length. What is written there is never read.
import { guard } from './guard';
import { FIELDS } from './lms/adapters';

/** An enum, because the bundler writes its values in place. */
enum Limit {
  marks = 50,
}

/** What the page has marked, the latest first: a selector or an element, and the id of what is written there. */
const marks: [what: string | Element, document: string][] = [];

/** Marks fields, or elements around them, for what is written there. */
export function markWriting(what: unknown, document: unknown): void {
  marks.unshift([what as string, `${document ?? ''}`]);
  marks.splice(Limit.marks);
}

/** Finds the id of what is written in a field. Empty if it has none; nothing if the field is not marked. */
export const findWriting = (field: Element): string | null | undefined =>
  marks.find(([what]) => guard(() => (what instanceof Element ? what.contains(field) : field.closest(what)))())?.[1] ??
  field.closest<HTMLElement>('[data-writing]')?.dataset.writing ??
  (field.closest(FIELDS) && '');
