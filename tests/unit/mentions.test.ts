import { describe, expect, it } from 'vitest';
import { createMentionFinder } from '../../server/domain/mentions';

describe('a mention of a user', () => {
  const ada = createMentionFinder({
    id: 'ada-4711',
    name: 'Ada Lovelace',
    email: 'ada@example.edu',
    url: 'https://lms.example.edu/people/ada-4711',
  });

  it.each([
    ['ask ada-4711 again', 'ask [erased] again'],
    ['ask ADA LOVELACE, please', 'ask [erased], please'],
    ['mail to ada@example.edu.', 'mail to [erased].'],
    ['see https://lms.example.edu/people/ada-4711?tab=1', 'see [erased]?tab=1'],
    ['?mail=ada%40example.edu&name=Ada+Lovelace&n=Ada%20Lovelace', '?mail=[erased]&name=[erased]&n=[erased]'],
    ['ada-47110, xada-4711 and Ada', 'ada-47110, xada-4711 and Ada'],
    ['nada@example.edu', 'nada@example.edu'],
  ])('in %j leaves %j', (text, left) => {
    expect(ada.replace(text)).toBe(left);
  });

  it('by an id that is a number or short is one only where the text says that it is a user', () => {
    const short = createMentionFinder({ id: '4711', name: 'Li', email: null, url: null });
    expect(short.replace('4711 km, user 4711, /users/4711/grades?userId=4711&course=4711, Li')).toBe(
      '4711 km, user [erased], /users/[erased]/grades?userId=[erased]&course=4711, Li',
    );
    expect(short.replaceAll({ previousUserId: '4711', distanceKm: '4711', n: [4711] })).toEqual({
      ...{ previousUserId: '[erased]', distanceKm: '4711', n: [4711] },
    });
  });

  it('is found in the names and the texts of JSON', () => {
    expect(ada.replaceAll({ 'ada-4711': ['Ada Lovelace', 3, null], true: true })).toEqual({
      ...{ '[erased]': ['[erased]', 3, null], true: true },
    });
  });
});
