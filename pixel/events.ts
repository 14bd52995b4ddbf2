import { EventCode } from '../contract/beacon';
import { InputType, KeyClass, Pointer, packBits, Role } from './codes';
import {
  findControl,
  findName,
  findRole,
  findTarget,
  isPassword,
  mayHidePassword,
  notePasswords,
  passwords,
} from './elements';
import { guard, type Listen } from './guard';
import { createThinner } from './thinning';
import { findWriting } from './writing';

// Listeners that turn what happens in the document into numbers. Nothing that is typed, chosen or shown is read, only its length.

export type Report = (code: EventCode, timeMs: number, ...fields: (number | string)[]) => void;
/** Reports an event with its time, its fields and EVENT_FLAGS. */
type ReportEvent = (code: EventCode, event: Event, ...fields: number[]) => void;

/** An enum, because the bundler writes its values in place. */
enum Limit {
  moveTolerancePx = 1.5,
  scrollTolerancePx = 4,
  /** Short, so that a smooth movement never looks like a jump. */
  scrollStretchMs = 50,
  moveGapMs = 100,
  moveErrorPx = 2,
  wheelGapMs = 200,
  /** `& count` makes an integer of 31 bits that is not negative. */
  count = 0x7fffffff,
}

// There is one page in a document.
let listen: Listen;
let report: Report;
let settleMoves: () => void;
/** Reports what a paste has brought if no Input does: many editors insert it by themselves. */
let settleField: (() => void) | undefined;
const reportEvent: ReportEvent = (code, event, ...fields) =>
  report(code, event.timeStamp, ...fields, readFlags(event as never));

/** Listens to writing, except in password fields: nothing that happens there leaves the page, not even that it happens. */
const listenToWriting: Listen = (name, take) => listen(name, (event) => isPassword(findTarget(event)) || take(event));

/** The password field that was reported to have the focus. */
let entered: Element | undefined;

/**
 * Reports once that the focus is in a password field: a text field without a number. The event may be the first key there,
 * because the focus moves unseen within a shadow tree. So nothing else of the event is sent. A password manager makes keys
 * where the focus is not.
 */
function enterPassword(event: Event): void {
  const element = findTarget(event);
  if (entered === element || !event.isTrusted) return;
  entered = element;
  report(EventCode.Focus, event.timeStamp, -1, Role.input, 1);
}

/** Listens to everything. Returns a function that reports what is held back: the end of a movement, counts of moves, wheel turns. */
export function listenToEvents(...page: [Listen, Report]): () => void {
  [listen, report] = page;
  // Of a page that stopped when consent was withdrawn.
  settleField = undefined;
  settleMoves = listenToMoves();
  const settleScrolling = listenToScrolling();
  listenToPresses();
  listenToKeys();
  listenToFields();
  return () => {
    settleMoves();
    settleScrolling();
    settleField?.();
  };
}

function listenToMoves(): () => void {
  const [add, settle] = createThinner(([timeMs, x, y]) => report(EventCode.Move, timeMs, x, y), Limit.moveTolerancePx);
  let moves = 0;
  let coalesced = 0;
  let mismatched = 0;
  let fractional = 0;
  let lastMs = 0;
  let lastY = 0;
  let lastX = 0;

  listen('pointermove', (event) => {
    // Scripts can make events too. What they press and type is reported.
    if (event.pointerType === 'touch' || !event.isTrusted) return;
    const { clientX, clientY } = event;
    const error = Math.hypot(event.movementX - event.screenX + lastX, event.movementY - event.screenY + lastY);
    if (lastMs && event.timeStamp - lastMs < Limit.moveGapMs && error > Limit.moveErrorPx) mismatched++;
    lastMs = event.timeStamp;
    lastX = event.screenX;
    lastY = event.screenY;
    if (clientX % 1 || clientY % 1) fractional++;
    // Not a number where it is unknown, which becomes 0.
    coalesced = Math.max(coalesced, event.getCoalescedEvents?.().length);
    moves++;
    add([lastMs, clientX, clientY]);
  });
  return () => {
    settle();
    if (moves) report(EventCode.MoveSummary, lastMs, moves, coalesced, mismatched, fractional);
    moves = coalesced = mismatched = fractional = 0;
  };
}

function listenToPresses(): void {
  const pressedMs: number[] = [];
  const findPointer = ({ pointerType }: PointerEvent) =>
    Math.max(Pointer.mouse, POINTERS.indexOf(pointerType?.[0] as string));

  // Before the page shows one. A click need not follow a press.
  listen('pointerdown', notePasswords);
  listen('click', notePasswords);
  listen('pointerdown', (event) => {
    settleMoves();
    const { clientX, clientY } = event;
    pressedMs[event.pointerId] = event.timeStamp;
    const control = findControl(event);
    const { x, y, width, height } = control.getBoundingClientRect();
    reportEvent(
      ...([EventCode.Press, event, findPointer(event), event.button & 31, clientX * 10, clientY * 10] as const),
      ...[
        (clientX - x - width / 2) * 10,
        (clientY - y - height / 2) * 10,
        width,
        height,
        ((event.pressure * 100) & Limit.count) % 101,
      ],
      ...[(event.screenX - clientX - screenX) * 10, (event.screenY - clientY - screenY) * 10, findRole(control)],
    );
  });
  listen('pointerup', (event) => {
    const held10 = (event.timeStamp - pressedMs[event.pointerId]!) * 10;
    reportEvent(EventCode.Release, event, findPointer(event), held10 >= 0 ? held10 : -1);
  });
  listen('click', (event) =>
    reportEvent(EventCode.Click, event, event.detail & Limit.count, findRole(findControl(event))),
  );
  listen('touchstart', (event) => reportEvent(EventCode.Touch, event, event.touches.length & Limit.count));
}

function listenToScrolling(): () => void {
  const [add, settle] = createThinner(
    ([timeMs, y]) => report(EventCode.Scroll, timeMs, y),
    Limit.scrollTolerancePx,
    Limit.scrollStretchMs,
  );
  // Where they are at first is not read, because that would lay out the page.
  const tops = new WeakMap<EventTarget, number>();
  let total = 0;
  let turns = 0;
  let turned = 0;
  let mode = 0;
  let firstMs = 0;
  let lastMs = 0;

  function settleWheel(): void {
    if (turns) report(EventCode.Wheel, firstMs, turned, mode, turns);
    turns = turned = 0;
  }

  // Documents and the boxes in them scroll. Their movements are added up, so that a change of the box is no jump. A password field
  // scrolls at each key once its text is longer than the field.
  listenToWriting('scroll', (event) => {
    const target = event.target as Element;
    // A post can hide what a document has by this name.
    const top = target?.nodeType === 1 ? target.scrollTop : scrollY;
    total += top - (tops.get(target) || 0) || 0;
    tops.set(target, top);
    add([event.timeStamp, total, 0]);
  });
  listen('wheel', (event) => {
    const unit = (event.deltaMode & 3) % 3;
    if (event.timeStamp - lastMs > Limit.wheelGapMs || mode !== unit) settleWheel();
    lastMs = event.timeStamp;
    if (!turns) firstMs = lastMs;
    mode = unit;
    turns++;
    turned += event.deltaY;
  });
  return () => {
    settle();
    settleWheel();
  };
}

function listenToKeys(): void {
  /** The keys that are down, and the number that names each. */
  const held = new Map<string, number>();
  let slots = 0;

  listen('keydown', (event) => {
    const name = event.code || event.key;
    // Autofill dispatches events without a key.
    if (!name) return;
    if (isPassword(findTarget(event))) {
      enterPassword(event);
      held.delete(name);
      return;
    }
    if (event.isTrusted) entered = undefined;
    const slot = held.get(name) ?? slots++ & 63;
    held.set(name, slot);
    reportEvent(EventCode.KeyDown, event, classifyKey(event), slot);
  });
  listen('keyup', (event) => {
    const name = event.code || event.key;
    const slot = held.get(name);
    // A key can come up in another field than the one in which it went down, which may be that of a password.
    if (held.delete(name)) reportEvent(EventCode.KeyUp, event, slot!);
  });
  (['compositionstart', 'compositionend'] as const).forEach((name, phase) => {
    listenToWriting(name, (event) =>
      report(
        EventCode.Composition,
        event.timeStamp,
        phase,
        mayHidePassword(findTarget(event)) ? 0 : event.data.length & Limit.count,
      ),
    );
  });
}

/** The first letters of the types of pointers, in the order of Pointer. */
const POINTERS = 'mpt';

/** The first five letters of the names of keys, in the order of KeyClass from `enter` on. */
const KEYS = 'Enter,Backs,Delet,Tab,Arrow,Shift,CapsL,Contr Alt AltGr Meta,Dead Proce Unide'.split(',');

/** Finds the class of a key. Where it is secret all keys that write are alike. */
function classifyKey(event: KeyboardEvent): KeyClass {
  const { key } = event;
  if (event.isComposing) return KeyClass.composition;
  if (/../u.test(key)) return findName(KEYS, key.slice(0, 5), KeyClass.other - KeyClass.enter) + KeyClass.enter;
  if (mayHidePassword(findTarget(event))) return KeyClass.other;
  if (/ /.test(key)) return KeyClass.space;
  if (/\d/.test(key)) return KeyClass.digit;
  return /\p{Lu}/u.test(key) ? KeyClass.capital : /\p{L}/u.test(key) ? KeyClass.letter : KeyClass.punctuation;
}

function listenToFields(): void {
  const fields = new WeakMap<Element, [index: number, length: number]>();
  let fieldCount = 0;
  function findField(element: Element) {
    const field = fields.get(element) ?? [fieldCount++, readLength(element)];
    fields.set(element, field);
    return field;
  }

  function reportInput(event: Event, element: Element): void {
    settleField = undefined;
    const { inputType, data, dataTransfer } = event as InputEvent;
    const field = findField(element);
    const [index, before] = field;
    const inserted = (data ?? dataTransfer?.getData('text'))?.length;
    field[1] = readLength(element);
    const document = findWriting(element);
    // Editable elements do not tell where the caret is.
    if (document != null)
      report(
        EventCode.Writing,
        event.timeStamp,
        index,
        document,
        Math.max(-1, field[1] - ((element as HTMLInputElement).selectionEnd ?? Infinity)),
      );
    reportEvent(
      EventCode.Input,
      event,
      index,
      classifyInput(inputType),
      (inserted || Math.max(0, field[1] - before)) & Limit.count,
      field[1],
    );
  }

  listenToWriting('input', (event) => {
    const element = findTarget(event);
    if (mayHidePassword(element)) {
      // There is a field in it that cannot be seen. A script makes such events of other elements too.
      if (event.isTrusted) passwords.add(element);
      enterPassword(event);
    } else reportInput(event, element);
  });
  listen('focusin', (event) => {
    const element = findTarget(event);
    const role = findRole(element);
    entered = undefined;
    if (isPassword(element)) enterPassword(event);
    else reportEvent(EventCode.Focus, event, role < Role.input || role > Role.radio ? -1 : findField(element)[0], role);
  });
  // In the order of CLIPBOARD_KINDS. The length of what is copied or cut is unknown until later.
  (['paste', 'copy', 'cut', 'drop'] as const).forEach((name, kind) => {
    listenToWriting(name, (event) => {
      const data = (event as ClipboardEvent).clipboardData ?? (event as DragEvent).dataTransfer;
      const length = mayHidePassword(findTarget(event)) ? 0 : data?.getData('text').length;
      reportEvent(EventCode.Clipboard, event, kind, (length as number) & Limit.count || -1);
      const element = findControl(event);
      const field = findField(element);
      settleField = () => field[1] - readLength(element) && reportInput(event, element);
    });
  });
}

/** How the names of input types begin, in the order of InputType. Their first `P` is an `L`: a paragraph is a line break. */
const INPUT_TYPES = '?,insertT,insertFromL,insertFromD,delete,insertComp,insertRep,insertL,history'.split(',');

function classifyInput(inputType: string): InputType {
  return inputType
    ? Math.max(
        InputType.other,
        INPUT_TYPES.findIndex((start) => inputType.replace('P', 'L').startsWith(start)),
      )
    : InputType.none;
}

/** Reads EVENT_FLAGS. Those that a kind of event cannot have are 0. */
function readFlags(event: KeyboardEvent & PointerEvent): number {
  const target = findTarget(event);
  const role = findRole(target);
  return packBits(
    ...[event.isTrusted, event.code, event.shiftKey, event.ctrlKey || event.metaKey, event.altKey],
    ...[event.getModifierState?.('CapsLock'), event.repeat, role === Role.textarea || role === Role.editable],
    ...[event.pointerType, guard(() => target.matches(':autofill'))()],
  );
}

/** The length of a text field's value. Other fields have none. */
function readLength(element: Element): number {
  const role = findRole(element);
  if (role === Role.editable) return element.textContent!.length;
  return role === Role.textarea || role === Role.input ? (element as HTMLInputElement).value.length : 0;
}
