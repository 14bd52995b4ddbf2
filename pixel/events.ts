import { EventCode } from '../contract/beacon';
import { ClipboardKind, InputType, KeyClass, Pointer, packBits, Role } from './codes';
import { attempt, type Listen } from './guard';
import { createThinner } from './thinning';

// Listeners that turn what happens in the document into numbers. Nothing that is typed, chosen or shown is read, only its length.

export type Report = (code: EventCode, timeMs: number, ...fields: number[]) => void;

/** An enum, because the bundler writes its values in place. */
enum Limit {
  moveTolerancePx = 1.5,
  scrollTolerancePx = 4,
  /** At least every fourth scroll event is reported, so that a smooth movement never looks like a jump. */
  scrollPending = 3,
  moveGapMs = 100,
  moveErrorPx = 2,
  wheelGapMs = 200,
  /** How often the whole length of an editable element is counted: it may be an essay. */
  editableLengthMs = 500,
}

/** Listens to everything. Answers a function that reports what is held back: the end of a movement, counts of moves, wheel turns. */
export function listenToEvents(listen: Listen, report: Report): () => void {
  const settleMoves = listenToPointers(listen, report);
  const settleScrolling = listenToScrolling(listen, report);
  listenToKeys(listen, report);
  listenToFields(listen, report);
  return () => {
    settleMoves();
    settleScrolling();
  };
}

function listenToPointers(listen: Listen, report: Report): () => void {
  const thinner = createThinner(([timeMs, x, y]) => report(EventCode.Move, timeMs, x, y), Limit.moveTolerancePx);
  const pressedMs = new Map<number, number>();
  let [moves, coalesced, mismatched, fractional] = [0, 0, 0, 0];
  let [lastMs, lastX, lastY] = [-Infinity, 0, 0];

  function settle(): void {
    thinner.settle();
    if (moves > 0) report(EventCode.MoveSummary, lastMs, moves, coalesced, mismatched, fractional);
    moves = coalesced = mismatched = fractional = 0;
  }

  listen('pointermove', (event) => {
    // Scripts can make events too. What they press and type is reported.
    if (event.pointerType === 'touch' || !event.isTrusted) return;
    const { timeStamp: timeMs, clientX: x, clientY: y, screenX, screenY, movementX, movementY } = event;
    const error = Math.abs(movementX - screenX + lastX) + Math.abs(movementY - screenY + lastY);
    if (timeMs - lastMs < Limit.moveGapMs && error > Limit.moveErrorPx) mismatched++;
    lastMs = timeMs;
    lastX = screenX;
    lastY = screenY;
    if (x % 1 || y % 1) fractional++;
    coalesced = Math.max(coalesced, event.getCoalescedEvents?.().length ?? 0);
    moves++;
    thinner.add([timeMs, x, y]);
  });
  listen('pointerdown', (event) => {
    settle();
    const { timeStamp, pointerId, button, clientX, clientY, pressure } = event;
    pressedMs.set(pointerId, timeStamp);
    const control = findControl(event);
    const { x, y, width, height } = control?.getBoundingClientRect() ?? new DOMRect(clientX, clientY);
    report(
      ...([EventCode.Press, timeStamp, findPointer(event), button, clientX * 10, clientY * 10] as const),
      ...[(clientX - x - width / 2) * 10, (clientY - y - height / 2) * 10, width, height, pressure * 100],
      ...[(event.screenX - clientX - screenX) * 10, (event.screenY - clientY - screenY) * 10],
      ...[findRole(control), readFlags(event)],
    );
  });
  listen('pointerup', (event) => {
    const { timeStamp, pointerId } = event;
    const held10 = (timeStamp - (pressedMs.get(pointerId) ?? NaN)) * 10;
    pressedMs.delete(pointerId);
    report(EventCode.Release, timeStamp, findPointer(event), held10 >= 0 ? held10 : -1, readFlags(event));
  });
  listen('click', (event) =>
    report(EventCode.Click, event.timeStamp, event.detail, findRole(findControl(event)), readFlags(event)),
  );
  listen('touchstart', (event) => report(EventCode.Touch, event.timeStamp, event.touches.length, readFlags(event)));
  return settle;
}

const findPointer = ({ pointerType }: PointerEvent) =>
  pointerType === 'touch' ? Pointer.touch : pointerType === 'pen' ? Pointer.pen : Pointer.mouse;

function listenToScrolling(listen: Listen, report: Report): () => void {
  const thinner = createThinner(
    ([timeMs, , y]) => report(EventCode.Scroll, timeMs, y),
    Limit.scrollTolerancePx,
    Limit.scrollPending,
  );
  const tops = new WeakMap<EventTarget, number>().set(document, scrollY);
  let total = scrollY;
  let [turns, turned, mode, firstMs, lastMs] = [0, 0, 0, 0, 0];

  function settleWheel(): void {
    if (turns > 0) report(EventCode.Wheel, firstMs, turned, mode, turns);
    turns = turned = 0;
  }

  // Documents and the boxes in them scroll. Their movements are added up, so that a change of the box is no jump.
  listen('scroll', (event) => {
    const target = event.target!;
    const top = (target as Element).scrollTop ?? scrollY;
    total += top - (tops.get(target) ?? 0);
    tops.set(target, top);
    thinner.add([event.timeStamp, 0, total]);
  });
  listen('wheel', ({ timeStamp, deltaY, deltaMode }) => {
    if (timeStamp - lastMs > Limit.wheelGapMs || mode !== deltaMode) settleWheel();
    if (turns === 0) firstMs = timeStamp;
    lastMs = timeStamp;
    mode = deltaMode;
    turned += deltaY;
    turns++;
  });
  return () => {
    thinner.settle();
    settleWheel();
  };
}

function listenToKeys(listen: Listen, report: Report): void {
  /** The keys that are down. A key's place is what is told of it. */
  let held: (string | undefined)[] = [];

  listen('keydown', (event) => {
    const { code, key } = event;
    // Autofill dispatches events without a key.
    if (!key) return;
    const name = code || key;
    let slot = held.indexOf(name);
    if (slot < 0) slot = held.indexOf(undefined);
    if (slot < 0) slot = held.length;
    held[slot] = name;
    report(EventCode.KeyDown, event.timeStamp, classifyKey(event), slot, readFlags(event));
  });
  listen('keyup', (event) => {
    const slot = held.indexOf(event.code || event.key);
    if (slot >= 0) held[slot] = undefined;
    if (event.key) report(EventCode.KeyUp, event.timeStamp, slot, readFlags(event));
  });
  listen('blur', ({ target }) => {
    if (target === window) held = [];
  });
  listen('compositionstart', ({ timeStamp }) => report(EventCode.Composition, timeStamp, 0, 0));
  listen('compositionend', ({ timeStamp, data }) => report(EventCode.Composition, timeStamp, 1, data.length));
}

const NAMED_KEYS: Record<string, KeyClass> = {
  Enter: KeyClass.enter,
  Backspace: KeyClass.backspace,
  Delete: KeyClass.delete,
  Tab: KeyClass.tab,
  Shift: KeyClass.shift,
  CapsLock: KeyClass.capsLock,
  Control: KeyClass.modifier,
  Alt: KeyClass.modifier,
  AltGraph: KeyClass.modifier,
  Meta: KeyClass.modifier,
  Dead: KeyClass.composition,
  Process: KeyClass.composition,
  Unidentified: KeyClass.composition,
};

/** Finds the class of a key. In a password field all keys that write are alike. */
function classifyKey(event: KeyboardEvent): KeyClass {
  const { key } = event;
  if (event.isComposing) return KeyClass.composition;
  if ([...key].length > 1) return NAMED_KEYS[key] ?? (key.startsWith('Arrow') ? KeyClass.arrow : KeyClass.other);
  if (isPassword(findTarget(event))) return KeyClass.other;
  if (key === ' ') return KeyClass.space;
  if (/\p{Lu}/u.test(key)) return KeyClass.capital;
  if (/\p{L}/u.test(key)) return KeyClass.letter;
  return /\d/.test(key) ? KeyClass.digit : KeyClass.punctuation;
}

/** What is remembered of an input field. */
type Field = [index: number, length: number, countedMs: number];

function listenToFields(listen: Listen, report: Report): void {
  const fields = new WeakMap<Element, Field>();
  let fieldCount = 0;
  function findField(element: Element): Field {
    const field = fields.get(element) ?? [fieldCount++, 0, -Infinity];
    fields.set(element, field);
    return field;
  }

  listen('input', (event) => {
    const element = findTarget(event);
    if (!element) return;
    const { timeStamp, inputType, data, dataTransfer } = event as InputEvent;
    const field = findField(element);
    const [index, before, countedMs] = field;
    const inserted = data ?? dataTransfer?.getData('text/plain');
    if (!isEditable(element) || timeStamp - countedMs > Limit.editableLengthMs) {
      field[1] = readLength(element);
      field[2] = timeStamp;
    } else field[1] += inserted?.length ?? 0;
    const length = field[1];
    const type = classifyInput(inputType ?? '');
    const lengths = isPassword(element) ? [0, 0] : [inserted?.length ?? Math.max(0, length - before), length];
    report(EventCode.Input, timeStamp, index, type, ...lengths, readFlags(event, element));
  });
  listen('focusin', (event) => {
    const element = findTarget(event);
    if (!element) return;
    const role = findRole(element);
    const isField = role >= Role.input && role <= Role.radio;
    if (isField) findField(element)[1] = readLength(element);
    const index = isField ? findField(element)[0] : -1;
    report(EventCode.Focus, event.timeStamp, index, role, readFlags(event, element));
  });
  for (const kind of [ClipboardKind.paste, ClipboardKind.copy, ClipboardKind.cut, ClipboardKind.drop]) {
    listen((['paste', 'copy', 'cut', 'drop'] as const)[kind]!, (event) => {
      const data = (event as ClipboardEvent).clipboardData ?? (event as DragEvent).dataTransfer;
      const isTaken = kind === ClipboardKind.copy || kind === ClipboardKind.cut;
      const text = isTaken ? String(getSelection()) : data?.getData('text/plain');
      const length = isPassword(findTarget(event)) ? -1 : (text?.length ?? -1);
      report(EventCode.Clipboard, event.timeStamp, kind, length, readFlags(event));
    });
  }
}

/** The element that an event is about, also inside an open shadow tree. */
function findTarget(event: Event): Element | undefined {
  const target = event.composedPath()[0];
  return target instanceof Element ? target : undefined;
}

/** The link, button or field that an event is about, or the element itself. */
function findControl(event: Event): Element | undefined {
  const target = findTarget(event);
  return target?.closest('a,button,input,select,textarea,label,summary,[role],[contenteditable]') ?? target;
}

const isEditable = (element: Element) => (element as HTMLElement).isContentEditable;
const isPassword = (element: Element | undefined) => (element as HTMLInputElement | undefined)?.type === 'password';

/** Reads EVENT_FLAGS. Those that a kind of event cannot have are 0. `field` is the input field that it is about. */
function readFlags(event: Event, field?: Element): number {
  const { code, shiftKey, ctrlKey, metaKey, altKey, repeat, pointerType } = event as KeyboardEvent & PointerEvent;
  const isCapsLocked = (event as KeyboardEvent).getModifierState?.('CapsLock');
  const isMultiline = field && (isEditable(field) || findRole(field) === Role.textarea);
  const isAutofilled = field && event.type === 'input' && attempt(() => field.matches(':autofill'));
  return packBits(
    ...[event.isTrusted, code, shiftKey, ctrlKey || metaKey, altKey, isCapsLocked, repeat],
    ...[isMultiline, pointerType, isAutofilled],
  );
}

/** The length of a text field's value. Other fields have none. */
function readLength(element: Element): number {
  const role = findRole(element);
  if (role === Role.editable) return element.textContent!.length;
  return role === Role.input || role === Role.textarea ? (element as HTMLInputElement).value.length : 0;
}

/** By tag, type of an input element, or ARIA role. */
const ROLES: Record<string, Role> = {
  HTML: Role.page,
  BODY: Role.page,
  A: Role.link,
  BUTTON: Role.button,
  INPUT: Role.input,
  TEXTAREA: Role.textarea,
  SELECT: Role.select,
  LABEL: Role.label,
  SUMMARY: Role.summary,
  VIDEO: Role.media,
  AUDIO: Role.media,
  IMG: Role.media,
  CANVAS: Role.canvas,
  IFRAME: Role.frame,
  link: Role.link,
  button: Role.button,
  submit: Role.button,
  checkbox: Role.checkbox,
  radio: Role.radio,
};

function findRole(element: Element | undefined): Role {
  if (!element) return Role.other;
  if (isEditable(element)) return Role.editable;
  const { tagName } = element;
  const name = tagName === 'INPUT' ? (element as HTMLInputElement).type : element.getAttribute('role');
  return ROLES[name ?? ''] ?? ROLES[tagName] ?? Role.other;
}

/** How the names of input types begin, in the order of InputType. */
const INPUT_TYPES = '?,insertT,insertFromP,insertFromD,delete,insertComp,insertRep,insertL,history'.split(',');

function classifyInput(inputType: string): InputType {
  if (inputType === '') return InputType.none;
  const name = inputType.replace('Paragraph', 'LineBreak');
  return Math.max(
    InputType.other,
    INPUT_TYPES.findIndex((start) => name.startsWith(start)),
  );
}
