import {
  AUTOMATION_MARKS,
  type BeaconEnvironment,
  ELEMENT_ROLES,
  EVENT_FLAGS,
  EventCode,
  INPUT_TYPES,
  type KEY_CLASSES,
} from '../../../../contract/beacon';
import type { Finding } from '../../../../contract/evidence';
import type { TraceBuilder } from '../../../support/trace';

// What visitors and programs do, as functions that add it to a synthetic trace. The cases of the rules are made of them.

/** Builds a trace. What it answers may say whether the input was seen before. */
export type Build = (builder: TraceBuilder) => unknown;

export type Case = [
  what: string,
  state: Finding['state'],
  build: Build,
  environment?: Partial<BeaconEnvironment> | null,
  userAgent?: string,
];

export const { trusted, hasCode, shift, multiline, autofilled, capsLock }: Record<keyof typeof EVENT_FLAGS, number> =
  EVENT_FLAGS;

export const nothing = () => undefined;
export const sizes = (v: number[]) => ({ v: v as BeaconEnvironment['v'] });
export const times = (count: number, build: (index: number) => unknown) => {
  for (let index = 0; index < count; index++) build(index);
};
export const mark = (name: string) => (builder: TraceBuilder) =>
  builder.send({ m: [AUTOMATION_MARKS.findIndex(([, other]) => other === name)] });
/**
 * Presses at changing places, after some moves. What is pressed can get the focus just before the press, or just after it. `react` is
 * what happens when the button goes down.
 */
export const presses =
  (
    count: number,
    fields: Parameters<TraceBuilder['press']>[3] = {},
    {
      moves = 8,
      heldMs = (i: number) => 60 + 17 * i,
      focus = 'none' as 'before' | 'after' | 'none',
      react = nothing as Build,
    } = {},
  ): Build =>
  (builder) =>
    times(count, (i) => {
      const x = i % 2 === 0 ? 200 : 600;
      const focusButton = () => builder.add(EventCode.Focus, { field: -1, role: ELEMENT_ROLES.indexOf('button') });
      times(moves, (step) => builder.wait(12).move(x - 10 * (moves - step), 300));
      builder.wait(900);
      if (focus === 'before') focusButton().wait(0.4);
      builder.press(x, 300, heldMs(i), fields, () => react(builder));
      if (focus === 'after') focusButton();
    });
export const moves =
  (count: number, odd: Parameters<TraceBuilder['move']>[2] = {}): Build =>
  (builder) =>
    times(count, (i) => builder.wait(15).move(300 + (i % 50), 300, odd));
export type Kind = (typeof KEY_CLASSES)[number];
/** Every other letter is a capital. */
export const mixed = (i: number): Kind => (i % 2 === 0 ? 'capital' : 'letter');
/** Keys, each of which writes one character. `react` is what happens before it is written. */
export const keys =
  (
    count: number,
    {
      kind = 'letter' as Kind | ((i: number) => Kind),
      flags = trusted | hasCode,
      heldMs = 80,
      gapMs = (i: number) => 40 + 61 * (i % 7),
      field = multiline,
      react = nothing as Build,
    } = {},
  ): Build =>
  (builder) =>
    times(count, (i) => {
      const write = () => {
        react(builder);
        builder.add(EventCode.Input, { flags: trusted | field, valueLength: i + 1 });
      };
      builder.wait(gapMs(i)).key(typeof kind === 'function' ? kind(i) : kind, heldMs, flags, write);
    });
/** Somebody who moves the mouse for a while. */
export const idle =
  (ms: number): Build =>
  (builder) =>
    times(ms / 100, () => builder.wait(100).move(300, 300));
export const text =
  (type: (typeof INPUT_TYPES)[number], length: number, { flags = trusted | multiline, beforeMs = 5 } = {}): Build =>
  (builder) => {
    const fields = { field: 1, type: INPUT_TYPES.indexOf(type), insertedLength: length, valueLength: length, flags };
    builder.wait(3_000).add(EventCode.Focus, { field: 1, role: 5, flags }).wait(beforeMs).add(EventCode.Input, fields);
  };
export const both =
  (...builds: Build[]): Build =>
  (builder) =>
    builds.map((build) => build(builder));
/** The same at one place. */
export const again =
  (count: number): Build =>
  (builder) =>
    times(count, () => builder.wait(900).press(200, 300, 0.2, { pressurePercent: 0, offsetX10: 0, offsetY10: 0 }));
export const pageTurn: Build = (builder) => builder.page('https://lms.example.edu/2', 1);
export const touch: Build = (builder) => builder.add(EventCode.Touch, { touches: 1 });
export const focuses =
  (count: number, { cause = nothing as Build, laterMs = 5, type = 1, flags = trusted } = {}): Build =>
  (builder) =>
    times(count, (i) => {
      builder.wait(4_000);
      cause(builder);
      builder.wait(2).add(EventCode.Focus, { field: i, role: ELEMENT_ROLES.indexOf('input') });
      builder.wait(laterMs).add(EventCode.Input, { field: i, type, insertedLength: 4, valueLength: 4, flags });
    });
export const network =
  (number: number): Build =>
  (builder) =>
    builder.send({ network: number });
/** Touches in the middle of things, as many pixels below the top of the window. */
export const touches = (count: number, belowPx: number, fields: Parameters<TraceBuilder['press']>[3] = {}): Build =>
  presses(
    count,
    { ...{ pointer: 2, offsetX10: 0, offsetY10: 0, screenX10: 0, screenY10: 10 * belowPx }, ...fields },
    { moves: 0, heldMs: (i) => 1 + i },
  );
/** A page that says that it fills the screen of a phone. */
export const PHONE = [412, 839, 412, 839, 412, 839, 839, 0, 0, 2625];
export const WINDOW = [1400, 900, 1385, 813, 1920, 1080, 1053, 120, 40, 1000];
