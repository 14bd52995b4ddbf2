// The numbers behind the lists of contract/beacon.ts, in the same order (a test compares them). The bundler writes an enum's
// values in place, so that the names cost a page nothing.

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

export enum ClipboardKind {
  paste,
  copy,
  cut,
  drop,
}

export enum PageCause {
  load,
  history,
  restored,
  activated,
}

/** Packs flags into a number, the first one as bit 0. The callers follow EVENT_FLAGS and ENVIRONMENT_BITS. */
export const packBits = (...flags: unknown[]): number =>
  flags.reduce<number>((sum, isSet, index) => sum + (isSet ? 2 ** index : 0), 0);
