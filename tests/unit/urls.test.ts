import { describe, expect, it } from 'vitest';
import { isWebUrl } from '../../contract/fields';
import { parseUrl } from '../../contract/urls';
import { findCourse } from '../../server/domain/courses';
import { readSources, SOURCE_ROOTS } from '../support/imports';

describe('an address', () => {
  it('is parsed, or null', () => {
    expect(parseUrl('HTTPS://LMS.example.edu:443/x')?.href).toBe('https://lms.example.edu/x');
    expect(parseUrl('/x', 'https://a.edu')?.href).toBe('https://a.edu/x');
    expect([parseUrl('/x'), parseUrl(''), parseUrl('https://')]).toEqual([null, null, null]);
  });

  // `URL.canParse` of Node 20 and 22 answers differently once it has been optimised: after a few thousand calls.
  it('is judged alike however many were judged before', () => {
    const umlaut = 'https://bücher.example/courses/1';
    /** Its host has U+0080. As bytes of UTF-8 these two letters are `À`. */
    const control = 'https://\u00c3\u0080.example/';
    const judge = () => [isWebUrl(umlaut), findCourse(umlaut)?.name, isWebUrl(control), findCourse(control)];
    for (let n = 0; n < 20_000; n++) {
      isWebUrl('https://lms.example.edu/');
      findCourse('https://lms.example.edu/');
    }
    expect(judge()).toEqual([true, 'Course 1', false, null]);
  });

  it('is parsed by the one function', () => {
    const asking = readSources(SOURCE_ROOTS).filter(({ text }) => text.includes('URL.canParse('));
    expect(asking.map(({ path }) => path)).toEqual([]);
  });
});
