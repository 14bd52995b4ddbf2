// The lists of contract/beacon.ts in a form that costs a page less; a test compares them. The bundler writes an enum's values
// in place.

export enum KeyClass {
  letter,
  capital,
  digit,
  space,
  punctuation,
  enter,
  backspace,
  delete,
  tab,
  arrow,
  shift,
  capsLock,
  modifier,
  composition,
  other,
}

export enum InputType {
  other,
  insertText,
  insertFromPaste,
  insertFromDrop,
  deleteContent,
  insertComposition,
  insertReplacement,
  insertLineBreak,
  history,
  none,
}

export enum Role {
  other,
  page,
  link,
  button,
  input,
  textarea,
  editable,
  select,
  checkbox,
  radio,
  label,
  summary,
  media,
  canvas,
  frame,
}

export enum Pointer {
  mouse,
  pen,
  touch,
}

export enum PageCause {
  load,
  history,
  restored,
  activated,
}

/**
 * AUTOMATION_MARKS: the first letters of names of window (with `,` the whole name), and selectors of elements. Retired ones
 * are empty.
 */
export const MARKS = (
  'cdc_adoQpoasnfa  __playwright_ __puppeteer_ __webdriver_        domAutomation __stagehand __browserUse ' +
  'html[webdriver]   ' +
  'body>#playwright-highlight-container body>#claude-agent-glow-border body>#claude-agent-stop-container ' +
  'body>#claude-phantom-cursor  __pwInitScripts,'
).split(' ');

/** Packs flags into a number, the first one as bit 0. The callers follow EVENT_FLAGS and ENVIRONMENT_BITS. */
export const packBits = (...flags: unknown[]): number =>
  flags.reduceRight<number>((sum, isSet) => 2 * sum + (!!isSet as unknown as number), 0);
