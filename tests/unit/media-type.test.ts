import { expect, it } from 'vitest';
import { isJsonType } from '../../server/rest/media-type';

it.each([
  'application/json',
  'APPLICATION/JSON',
  ' application/json ',
  'application/json;',
  'application/json; charset=utf-8',
  'application/json ; Charset = "UTF-8" ;',
])('%j is JSON', (type) => {
  expect(isJsonType(type)).toBe(true);
});

it.each([
  null,
  '',
  ';',
  'json',
  'application/jsonx',
  'text/json',
  'application/json,application/json',
  'application/json; charset',
  'application/json; charset=',
  'application/json; charset="utf-8',
  'application/json; charset=utf-16',
  'application/json; charset=utf-8=',
  'application/json; charset=utf-8; charset=utf-8',
  'application/json; profile=x',
])('%j is not', (type) => {
  expect(isJsonType(type)).toBe(false);
});
