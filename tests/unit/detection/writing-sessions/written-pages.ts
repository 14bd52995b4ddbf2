import { expect } from 'vitest';
import { EVENT_FIELDS, EVENT_FLAGS, EventCode } from '../../../../contract/beacon';
import type { Provenance } from '../../../../contract/writing';
import { measureWriting } from '../../../../server/detection/writing-sessions';
import { WrittenPage } from '../../../support/writers';

export const { trusted, hasCode } = EVENT_FLAGS;

/** The characters of the only text by where they came from, without those of which there are none. */
export function countSources(page: WrittenPage): Partial<Record<Provenance, number>> {
  const [text, ...others] = measureWriting(page.send());
  expect(others).toEqual([]);
  return Object.fromEntries(Object.entries(text!.characters).filter(([, count]) => count > 0));
}
export const measure = (page: WrittenPage) => measureWriting(page.send())[0]!;
/** Types so many characters, none as fast as a program. */
export function type(page: WrittenPage, count: number): WrittenPage {
  for (let n = 0; n < count; n++) page.wait(150).type();
  return page;
}
/** A press of a mouse: only that there is one matters. */
export const PRESS = EVENT_FIELDS[EventCode.Press].map(() => 0);
export const begin = (count = 20) => type(new WrittenPage(), count);
