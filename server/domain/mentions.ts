import type { KnownUser } from '../../db/schema';
import { ERASED_NAME } from './erased-users';
import { isOwnWord } from './own-words';
import {
  listForms,
  listHtmlForms,
  listLetterCases,
  listNamesInOrder,
  listSpellings,
  listTurnedNames,
  writeInJson,
} from './written-forms';

// Where texts name a user who is erased.

/** What takes the place of a mention. */
const ERASED = '[erased]';
/** Shorter texts occur everywhere. */
const MIN_LENGTH = 4;
/** An id that is shorter, a number or a word of the product is looked for only where the text says that it is a user's. */
const MIN_ID_LENGTH = 6;
const ONLY_DIGITS = /^\d+$/;
/** A name such as `Student` or `https`, which a page or a pupil may choose, stands in addresses, files and fields everywhere. */
const ONLY_WORD = /^[a-z]+$/i;
/** An address without a path: all addresses of a platform begin with it. */
const ORIGIN = /^https?:\/\/[^/?#]*[/?#]*$/i;
/** What stands before the key of a person in the address of their page, which is a number or has one of these signs. */
const NAMES_PERSON = /(?:user|people|person|profile|student|participant|member)s?[/=.?]/i;
const HAS_KEY = /[\d@~]/;
/** What a part of an address has, and the name of a person does not without a space. */
const OF_ADDRESS = /[/.?=]/;
const OF_NAME = /[\s@]/;
const WORD = /[\p{L}\p{N}]/u;
/** Letters of scripts that put no spaces between words, also those that several of them share: nothing tells where a name ends. */
const NO_SPACES = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;
/** In Korean, particles follow a name without a space. */
const HANGUL = /\p{Script=Hangul}/u;
/** What stands before the id of a user, such as `users/` or `userId=`. */
const NAMES_USER =
  /(?:user|userid|user_id|users|student|participant)["'”’]?(?:[/=: ]|%(?:25)*(?:3d|2f|3a)){1,3}["'“‘]?$/i;
const MAX_BEFORE = 24;
/** The names of fields of JSON that hold the id of a user. */
const IS_USER = /user|student|participant/i;
/** Of these, the names of those that hold an id and nothing else. */
const IS_USER_ID = /(?:user|student|participant)(?:_?ids?|s)?$/i;
/** A word with a capital, as names have, before and after a text. */
const NAME_BEFORE = /\p{Lu}[\p{L}\p{M}.'’-]{0,20}(?:\s|\+|%(?:25)*20)$/u;
const NAME_AFTER = /^(?:\s|\+|%(?:25)*20)\p{Lu}/u;
/** What an id goes on with: the user `ada.l` is neither `ada.l.2` nor `x-ada.l`. */
const GOES_ON = /^[.@+_-][\p{L}\p{N}]/u;
const CAME_BEFORE = /[\p{L}\p{N}][.@+_-]$/u;
/** In Turkish `I` is the capital of `ı`, and `İ` that of `i`. */
const ANY_I = /[iIıİ]/g;
/** A character that is no letter and no digit, as addresses write it, also addresses within addresses. */
const ESCAPED = /%(?:25)*(?:2[0-9a-f]|3[a-f]|40|5[b-f]|60|7[b-f])$/i;
const MAX_ESCAPED = 12;

const isWeakId = (id: string) => id.length < MIN_ID_LENGTH || ONLY_DIGITS.test(id) || isOwnWord(id);

/**
 * Lists what in a JSON value may be the id of a user: whole texts and names of fields. One that is weak only in a field that is named
 * for a user, because `7` is everywhere.
 */
export function listMentionedIds(value: unknown, maxLength: number, field = ''): string[] {
  const isId = (text: string) => text.length <= maxLength && (IS_USER.test(field) || !isWeakId(text));
  if (typeof value === 'string') return isId(value) ? [value] : [];
  if (typeof value === 'number') return IS_USER.test(field) ? [String(value)] : [];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => listMentionedIds(item, maxLength, field));
  return Object.entries(value).flatMap(([key, item]) => [
    ...(key.length <= maxLength && !isWeakId(key) ? [key] : []),
    ...listMentionedIds(item, maxLength, key),
  ]);
}

/** Finds a user in texts. */
export interface MentionFinder {
  /** Whether the id is so short or common that only its place tells that it is a user's. */
  isWeak: boolean;
  /** What a text that mentions the user contains: the parameter of `mayMention`. */
  patterns: string;
  /** Replaces all mentions in a text. */
  replace(text: string): string;
  /** Whether a JSON value mentions the user. */
  isIn(value: unknown): boolean;
  /** The same for all texts of a JSON value, and for the names of its fields. */
  replaceAll<Value>(value: Value): Value;
}

/** Whether a column may mention a user, as SQL. It finds too many, and the finder decides. `parameter` are the finder's patterns. */
export const mayMention = (column: string, parameter: string) =>
  // `ilike` would make the letters of the text small again for each pattern.
  `lower(${column}) like any (array(select lower(pattern) from json_to_recordset(${parameter}::text::json) as m(pattern text)))`;

/** Creates a finder of a user. A mention is a whole word, also as it is written in addresses. */
export function createMentionFinder(user: KnownUser): MentionFinder {
  const isWeak = isWeakId(user.id);
  // The pixel of many sites knows no name, and gives the id as one.
  const texts = [user.url, user.email, user.name]
    .flatMap((text) => text ?? [])
    .filter((text) => text.length >= MIN_LENGTH && text !== user.id)
    // All who are erased have that name.
    .filter((text) => foldCase(text) !== foldCase(ERASED_NAME));
  const ids = new Set(isWeak ? [] : listForms(user.id));
  /** Whether the pages of everybody may begin with it. */
  const isOfAll = (url: string) =>
    ![...ids].some((id) => foldCase(url).includes(foldCase(id))) && !HAS_KEY.test(cutBefore(url, NAMES_PERSON));
  const isCommon = (text: string) =>
    ONLY_DIGITS.test(text) ||
    ONLY_WORD.test(text) ||
    ORIGIN.test(text) ||
    isOwnWord(text) ||
    (text === user.url && isOfAll(text)) ||
    (text === user.name && OF_ADDRESS.test(text) && !OF_NAME.test(text));
  const ownTexts = texts.filter((text) => !isCommon(text)).flatMap(listSpellings);
  const inOrder = ownTexts.flatMap(listNamesInOrder);
  const strong = [
    ...new Set([...[...ownTexts, ...inOrder].flatMap(listForms), ...ownTexts.flatMap(listHtmlForms), ...ids]),
  ];
  // An address may contain the id, so longer mentions come first.
  strong.sort((one, other) => other.length - one.length);
  const turned = [...new Set(ownTexts.flatMap(listTurnedNames).flatMap(listForms))];
  const weakTexts = [...texts.filter(isCommon), ...(isWeak ? [user.id] : [])];
  const weak = [...new Set(weakTexts.flatMap(listForms))];

  /** With `isId`, the text is an id, and that of another user may contain this one or differ only in the case of letters. */
  function replace(text: string, isId = false): string {
    let result = text;
    let folded = foldCase(text);
    function take(form: string, isMention: IsMention): void {
      if (!folded.includes(foldCase(form))) return;
      result = replaceWords(result, form, isMention);
      folded = foldCase(result);
    }
    for (const form of strong) take(form, !isId ? isWholeWord : ids.has(form) ? isSameId : isWholeId);
    for (const form of turned) take(form, isTurnedName);
    for (const form of weak) take(form, isNamedWord);
    return result;
  }

  function replaceAll(value: unknown, field: string): unknown {
    if (typeof value === 'string')
      return weakTexts.includes(value) && IS_USER.test(field) ? ERASED : replace(value, IS_USER_ID.test(field));
    if (typeof value === 'number') return String(value) === user.id && IS_USER.test(field) ? ERASED : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => replaceAll(item, field));
    const { scope = 'user' } = value as { scope?: unknown };
    // The scope of an alert rule says whose value it is.
    const isOfUser = (key: string) => key === 'scopeValue' && scope === 'user';
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        replace(key, IS_USER_ID.test(field)),
        replaceAll(item, isOfUser(key) ? 'user' : key),
      ]),
    );
  }

  // A text in a JSON column may itself hold JSON, and then has the escapes of both.
  const searched = new Set(
    [...strong, ...turned, ...weak].flatMap(listLetterCases).flatMap((form) => [form, writeInJson(form)]),
  );
  const toPattern = (form: string) => `%${form.replace(/[\\%_]/g, '\\$&').replace(ANY_I, '_')}%`;
  return {
    isWeak,
    patterns: JSON.stringify([...searched].map((form) => ({ pattern: toPattern(form) }))),
    replace: (text) => replace(text),
    isIn: (value) => JSON.stringify(replaceAll(value, '')) !== JSON.stringify(value),
    replaceAll: (value) => replaceAll(value, '') as typeof value,
  };
}

/** Where a text goes on from a pattern; nothing if it is not there. */
function cutBefore(text: string, pattern: RegExp): string {
  const at = text.search(pattern);
  return at === -1 ? '' : text.slice(at);
}

/** Makes letters of either case one, and keeps the length. `İ` is the only letter that another case makes longer. */
const foldCase = (text: string) => text.replace(ANY_I, 'i').toLowerCase();

type IsMention = (text: string, at: number, form: string) => boolean;

/** Replaces a form where it is a mention. */
function replaceWords(text: string, form: string, isMention: IsMention): string {
  const [where, what] = [foldCase(text), foldCase(form)];
  let result = '';
  let from = 0;
  for (let at = where.indexOf(what); at !== -1; at = where.indexOf(what, at + 1)) {
    if (at < from || !isMention(text, at, form)) continue;
    result += text.slice(from, at) + ERASED;
    from = at + what.length;
  }
  return result + text.slice(from);
}

type IsInside = (one: string, other: string) => boolean;

const areOfWord: IsInside = (one, other) => WORD.test(one) && WORD.test(other);

const areOfSpacedWord: IsInside = (one, other) =>
  areOfWord(one, other) &&
  ![one, other].some((letter) => NO_SPACES.test(letter)) &&
  HANGUL.test(one) === HANGUL.test(other);

function isWhole(text: string, at: number, form: string, isInside: IsInside): boolean {
  const end = at + form.length;
  const isWithin = (index: number) => index > 0 && index < text.length && isInside(text[index - 1]!, text[index]!);
  // A letter that HTML writes as `&eacute;` goes on in the letter after it.
  const isGoingOn = form.endsWith(';') && WORD.test(text.slice(end, end + 1));
  const isBegun = isWithin(at) && !ESCAPED.test(text.slice(Math.max(0, at - MAX_ESCAPED), at));
  return !isBegun && !isGoingOn && !isWithin(end);
}

const isWholeWord: IsMention = (text, at, form) => isWhole(text, at, form, areOfSpacedWord);

/** In a list of names, such as `John Smith, Anna Jones`, it is of two people. In small letters nothing tells names from words. */
const isTurnedName: IsMention = (text, at, form) => {
  const end = at + form.length;
  const found = text.slice(at, end);
  const around = [text.slice(Math.max(0, at - MAX_BEFORE), at), text.slice(end, end + MAX_ESCAPED)];
  const [before, after] = found === found.toLowerCase() ? around.map((part) => part.toUpperCase()) : around;
  return isWholeWord(text, at, form) && !(NAME_BEFORE.test(before!) && NAME_AFTER.test(after!));
};

const isNamedWord: IsMention = (text, at, form) =>
  isWholeWord(text, at, form) && NAMES_USER.test(text.slice(Math.max(0, at - MAX_BEFORE), at));

const isWholeId: IsMention = (text, at, form) =>
  isWhole(text, at, form, areOfWord) &&
  !CAME_BEFORE.test(text.slice(Math.max(0, at - 4), at)) &&
  !GOES_ON.test(text.slice(at + form.length, at + form.length + 4));

const isSameId: IsMention = (text, at, form) => isWholeId(text, at, form) && text.startsWith(form, at);
