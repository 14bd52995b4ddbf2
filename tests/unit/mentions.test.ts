import { describe, expect, it } from 'vitest';
import { createMentionFinder, listMentionedIds } from '../../server/domain/mentions';
import { writeCsvLine } from '../../server/platform/csv';

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
    ['?return=%2Fpeople%2Fada-4711', '?return=%2Fpeople%2F[erased]'],
    ['?return=%252Fpeople%252Fada-4711%2526a', '?return=%252Fpeople%252F[erased]%2526a'],
    ['q=%22Ada%20Lovelace%22 mailto%3Aada%40example.edu', 'q=%22[erased]%22 mailto%3A[erased]'],
    [
      'https://sso/login?next=https%3A%2F%2Flms%2Fp%3Fmail%3Dada%2540example.edu',
      'https://sso/login?next=https%3A%2F%2Flms%2Fp%3Fmail%3D[erased]',
    ],
    ['/x?next=%2Fp%3Fn%3DAda%2520Lovelace', '/x?next=%2Fp%3Fn%3D[erased]'],
    ['/x?next=%2Fp%3Fn%3DAda%2BLovelace', '/x?next=%2Fp%3Fn%3D[erased]'],
    ['/x?to=%2Fy%3Fto%3D%252Fp%253Fn%253DAda%252520Lovelace', '/x?to=%2Fy%3Fto%3D%252Fp%253Fn%253D[erased]'],
    ['%4Eada-4711 and 50%aada-4711', '%4Eada-4711 and 50%aada-4711'],
    ['nada@example.edu', 'nada@example.edu'],
  ])('in %j leaves %j', (text, left) => {
    expect(ada.replace(text)).toBe(left);
  });

  it('by an id that is a number or short is one only where the text says that it is a user', () => {
    const short = createMentionFinder({ id: '4711', name: 'Li', email: null, url: null });
    expect(short.replace('4711 km, user 4711, /users/4711/grades?userId=4711&course=4711, Li')).toBe(
      '4711 km, user [erased], /users/[erased]/grades?userId=[erased]&course=4711, Li',
    );
    expect(short.replaceAll({ previousUserId: '4711', userId: 4711, distanceKm: '4711', n: [4711] })).toEqual({
      ...{ previousUserId: '[erased]', userId: '[erased]', distanceKm: '4711', n: [4711] },
    });
    expect(short.isIn({ userId: 4712, students: [47, '47'] })).toBe(false);
  });

  it('is not a name so short that words of other people begin or end with it', () => {
    const short = createMentionFinder({ id: 'stu-102934', name: 'Åke', email: null, url: null });
    expect(short.isIn('Åke Lund is somebody else')).toBe(false);
  });

  it('is not the name that all who were erased have', () => {
    const erased = createMentionFinder({ id: 'grace-4711', name: 'Erased user', email: null, url: null });
    expect(erased.isIn({ userName: 'Erased user', message: 'by Erased user' })).toBe(false);
    expect(erased.patterns).not.toContain('rased user');
  });

  it('is replaced as a whole where a name contains the address or the id', () => {
    const named = createMentionFinder({
      ...{ id: 'ada-4711', name: 'Ada Lovelace (ada-4711), ada@example.edu', email: 'ada@example.edu', url: null },
    });
    expect(named.replace('by Ada Lovelace (ada-4711), ada@example.edu.')).toBe('by [erased].');
  });

  it.each([
    ['https', null],
    ['Student', null],
    ['Zoe Barnes', 'https://lms.example.edu/'],
  ])('by the name %j and the address %j is no word or origin that others have, too', (name, url) => {
    const finder = createMentionFinder({ id: 'stu-102934', name, email: null, url });
    const page = { pageUrl: 'https://lms.example.edu/student/1', course: 'Student Success', student: 'ada-4711' };
    expect(finder.isIn(page)).toBe(false);
    expect(finder.replace(`sat next to stu-102934, who is user ${name}`)).toBe(
      'sat next to [erased], who is user [erased]',
    );
    expect(finder.replaceAll({ userName: name, by: 'stu-102934' })).toEqual({ userName: '[erased]', by: '[erased]' });
  });

  it.each([
    [null, 'https://lms.example/moodle'],
    [null, 'https://lms.example/moodle/user/profile.php'],
    [null, 'https://lms.example/moodle/course/view.php?id=5'],
    ['lms.example', null],
    ['moodle/user', null],
    ['view.php?id', null],
  ])('by the name %j and the address %j is none of the pages of everybody', (name, url) => {
    const finder = createMentionFinder({ id: 'maria-1001', name, email: null, url });
    const pages = [
      'https://lms.example/moodle/course/view.php?id=5',
      'https://lms.example/moodle/user/profile.php?id=77',
    ];
    expect(finder.replaceAll({ userId: 'ben-4712', pages, pageUrl: pages[0] })).toEqual({
      ...{ userId: 'ben-4712', pages, pageUrl: pages[0] },
    });
    expect(finder.replace('https://lms.example/moodle/people/maria-1001')).toBe(
      'https://lms.example/moodle/people/[erased]',
    );
  });

  it.each([
    'https://lms.example/cv/Maria-1001',
    'https://lms.example/people/mg-77',
    'https://lms.example/user/profile.php?id=77',
    'https://lms.example/users/~mg/cv',
  ])('by the address %j, which is that of one person, or by an email address as the name is one', (url) => {
    const maria = createMentionFinder({ id: 'maria-1001', name: 'maria@example.edu', email: null, url });
    expect(maria.replace(`see ${url}, maria@example.edu`)).toBe('see [erased], [erased]');
  });

  it('is not the id of somebody whose name nobody knows', () => {
    const nameless = createMentionFinder({ id: '4711', name: '4711', email: null, url: null });
    expect(nameless.replace('/courses/4711/quizzes/9?user%3D4711&a=users%2F4711')).toBe(
      '/courses/4711/quizzes/9?user%3D[erased]&a=users%2F[erased]',
    );
    expect(nameless.replaceAll({ contextId: '4711', rule: { scope: 'user', scopeValue: '4711' } })).toEqual({
      ...{ contextId: '4711', rule: { scope: 'user', scopeValue: '[erased]' } },
    });
    expect(nameless.replaceAll({ scope: 'course', scopeValue: '4711' })).toEqual({
      scope: 'course',
      scopeValue: '4711',
    });
    const short = createMentionFinder({ id: 'anna', name: 'anna', email: null, url: null });
    expect(short.replace('Anna writes about user anna')).toBe('Anna writes about user [erased]');
  });

  it('is found however addresses write an apostrophe', () => {
    const sean = createMentionFinder({ id: "sean.o'connor@ucd.example", name: null, email: null, url: null });
    const view = String(new URLSearchParams({ userId: "sean.o'connor@ucd.example" }));
    expect(sean.replace(view)).toBe('userId=[erased]');
    expect(sean.replace(new URL("https://lms.example/?u=sean.o'connor@ucd.example").href)).toBe(
      'https://lms.example/?u=[erased]',
    );
  });

  it.each([
    'Ada%20O%27Neil-%C3%96rn%20%28she%2Fher%29',
    'Ada%20O%27Neil-%C3%96rn%20%28she/her%29',
    'Ada%2520O%2527Neil-%25C3%2596rn%2520%2528she%252Fher%2529',
  ])('is found in the address %j, whose encoder escapes what those of browsers leave', (written) => {
    const ada = createMentionFinder({ id: 'stu-102934', name: "Ada O'Neil-Örn (she/her)", email: null, url: null });
    expect(ada.replace(`/grades?name=${written}&page=2`)).toBe('/grades?name=[erased]&page=2');
  });

  it('is found in a text with JSON that has ASCII alone, as Python and PHP write it', () => {
    const ada = createMentionFinder({
      ...{ id: 'adaörn.7', name: 'Ada Örn (she/her)', email: null, url: 'https://lms.example/people/~adaörn' },
    });
    const python = String.raw`{"user": "ada\u00f6rn.7", "name": "Ada \u00D6rn (she/her)"}`;
    const php = String.raw`{"name":"Ada \u00d6rn (she\/her)","url":"https:\/\/lms.example\/people\/~ada\u00f6rn"}`;
    expect(ada.replace(python)).toBe('{"user": "[erased]", "name": "[erased]"}');
    expect(ada.replace(php)).toBe('{"name":"[erased]","url":"[erased]"}');
  });

  it('is found by a name whose accents a text composes in another way, but not by another id', () => {
    const [composed, apart] = ['Zoë Nguyễn', 'jürgen-77'].map((text) => text.normalize('NFC'));
    for (const form of ['NFC', 'NFD']) {
      const zoe = createMentionFinder({ id: apart!, name: composed!.normalize(form), email: null, url: null });
      const text = `by ${composed}, ${composed!.normalize('NFD')}, ?n=${encodeURIComponent(composed!.normalize('NFD'))}`;
      expect(zoe.replace(text)).toBe('by [erased], [erased], ?n=[erased]');
      expect(zoe.replaceAll({ userId: apart!.normalize('NFD') })).toEqual({ userId: apart!.normalize('NFD') });
      expect(zoe.patterns).toContain(composed!.normalize('NFD'));
    }
  });

  it.each(["Ada O'Neil", 'Ada O’Neil'])(
    'by the name %j is found with the apostrophe of typewriters and of books',
    (name) => {
      const ada = createMentionFinder({ id: 'stu-102934', name, email: null, url: null });
      expect(ada.replace("Ada O'Neil, Ada O’Neil, ?n=Ada%20O%27Neil&m=Ada+O%E2%80%99Neil")).toBe(
        '[erased], [erased], ?n=[erased]&m=[erased]',
      );
    },
  );

  it.each([
    ['Ada Maria Lovelace', 'Lovelace, Ada Maria and Maria Lovelace, Ada'],
    ['Ada Lovelace', 'Lovelace, Ada and LOVELACE, ADA'],
    ['Lovelace, Ada', 'Lovelace, Ada and Ada Lovelace'],
    ['Zoë Ångström', 'A\u030angstro\u0308m, Zoe\u0308 and Ångström, Zoë'],
  ])('by the name %j is found with the last name first', (name, text) => {
    const finder = createMentionFinder({ id: 'stu-102934', name, email: null, url: null });
    expect(finder.replace(text)).toBe('[erased] and [erased]');
    const query = new URLSearchParams({ by: text.split(' and ')[0]! });
    expect(finder.replace(`?${query}`)).toBe('?by=[erased]');
  });

  it('is none where a list names two people, of whom one has the first name and one the last', () => {
    const anna = createMentionFinder({ id: 'stu-102934', name: 'Anna Smith', email: null, url: null });
    const lists = [
      'John Smith, Anna Jones',
      'JOHN SMITH, ANNA JONES',
      'john smith, anna jones',
      'J. Smith, Anna Jones',
    ];
    for (const list of [...lists, '?of=John+Smith,+Anna+Jones', 'John%20Smith%2C%20Anna%20Jones'])
      expect(anna.replace(list)).toBe(list);
    expect(anna.replace('?of=Smith,+Anna')).toBe('?of=[erased]');
    expect(anna.replace('Text of Smith, Anna is odd. Pupil Smith, Anna')).toBe(
      'Text of [erased] is odd. Pupil [erased]',
    );
  });

  it.each([
    'Ada O&#39;Neil-&Ouml;rn',
    'Ada O&#039;Neil-Örn',
    'Ada O&#x27;Neil-&#214;rn',
    'Ada O&apos;Neil-&#xD6;rn',
    'Ada O&rsquo;Neil-&Ouml;rn',
    "Ada O'Neil-&Ouml;rn",
  ])('is found in the HTML %j', (written) => {
    const url = 'https://lms.example/user/view.php?id=77&course=1';
    const ada = createMentionFinder({ id: 'stu-102934', name: "Ada O'Neil-Örn", email: null, url });
    expect(ada.replace(`<a href="${url.replace('&', '&amp;')}">${written}</a>`)).toBe(
      '<a href="[erased]">[erased]</a>',
    );
  });

  it('is none where HTML goes on with the word', () => {
    const rene = createMentionFinder({ id: 'stu-102934', name: 'René', email: null, url: null });
    expect(rene.replace('Ren&eacute;e, Ren&#233;e, Ren&eacute;')).toBe('Ren&eacute;e, Ren&#233;e, [erased]');
  });

  it.each(['Smith, ', ', Anna', 'Smith,  ,'])('by the name %j is no word of it', (name) => {
    const anna = createMentionFinder({ id: 'stu-102934', name, email: null, url: null });
    expect(anna.replace('Anna Smith won')).toBe('Anna Smith won');
  });

  it('is found in addresses that systems without Unicode write', () => {
    const jose = createMentionFinder({ id: 'stu-102934', name: 'José Núñez', email: null, url: null });
    expect(jose.replace('?n=Jos%E9%20N%FA%F1ez&m=Jos%e9+N%fa%f1ez&o=N%FA%F1ez%2C+Jos%E9')).toBe(
      '?n=[erased]&m=[erased]&o=[erased]',
    );
    expect(jose.replace('?n=Jos%E9%20N%FA%F1ezz')).toBe('?n=Jos%E9%20N%FA%F1ezz');
  });

  it('is found in capitals and small letters, of Turkish too', () => {
    const ayse = createMentionFinder({ id: 'ayse-77', name: 'Ayşe Işık İlhan', email: null, url: null });
    expect(ayse.replace('İstanbul: AYŞE IŞIK İLHAN, ayşe ışık ilhan')).toBe('İstanbul: [erased], [erased]');
  });

  it.each([
    ['山田太郎の不正調査', '[erased]の不正調査'],
    ['ユーザーada.lovelaceは欠席', 'ユーザー[erased]は欠席'],
    ['用户ada.lovelace的会话', '用户[erased]的会话'],
    ['メールada@school.exampleに送信', 'メール[erased]に送信'],
    ['ada.lovelace는 결석', '[erased]는 결석'],
    ['ผู้ใช้ada.lovelaceขาด', 'ผู้ใช้[erased]ขาด'],
    ['éada.lovelace, ada.lovelaceя', 'éada.lovelace, ada.lovelaceя'],
  ])('in %j, whose language puts no spaces there, leaves %j', (text, left) => {
    const finder = createMentionFinder({
      ...{ id: 'ada.lovelace', name: '山田太郎', email: 'ada@school.example', url: null },
    });
    expect(finder.replace(text)).toBe(left);
    expect(finder.isIn({ userId: 'ada.lovelaceさん', studentIds: ['ada.lovelace님'] })).toBe(false);
  });

  it('is looked for in capitals and small letters where the database knows the cases of a to z alone', () => {
    const juergen = createMentionFinder({ id: 'juergen-77', name: 'Jürgen Öztürk', email: null, url: null });
    const patterns = JSON.parse(juergen.patterns).map(({ pattern }: { pattern: string }) => pattern);
    expect(patterns).toEqual(expect.arrayContaining(['%Jürgen Öztürk%', '%jürgen öztürk%', '%JÜRGEN ÖZTÜRK%']));
    expect(patterns.filter((pattern: string) => pattern.includes('77'))).toEqual(['%juergen-77%']);
  });

  it('is found in the cells of a report, as CSV writes quotes and what could be a formula', () => {
    const ann = createMentionFinder({ id: 'ann "annie"; =lee', name: '@Ann\t"Annie"', email: null, url: null });
    const line = writeCsvLine(['ann "annie"; =lee', '@Ann\t"Annie"', 'is it ann "annie"; =lee?', 7]);
    expect(ann.replace(line)).toBe(`"[erased]","'[erased]","is it [erased]?",7\r\n`);
  });

  it('in a field for the id of a user is that id, not one that contains it or has other capitals', () => {
    const john = createMentionFinder({ id: 'john.smith', name: 'John', email: 'js@example.edu', url: null });
    const others = ['john.smith.2', 'john.smith@example.edu', 'x-john.smith', 'John.Smith', 'john_smith'];
    expect(john.isIn({ userId: others[0], previousUserId: others[1], user: others[2], studentIds: others })).toBe(
      false,
    );
    expect(
      john.replaceAll({ userId: 'john.smith', by: { user_id: 'canvas:john.smith' }, to: { userId: 'JS@example.edu' } }),
    ).toEqual({
      ...{ userId: '[erased]', by: { user_id: 'canvas:[erased]' }, to: { userId: '[erased]' } },
    });
    // In prose the text goes on, or the id does: nobody can tell.
    expect(john.replaceAll({ userUrl: '/people/john.smith.html' })).toEqual({ userUrl: '/people/[erased].html' });
    expect(john.replace('see john.smith.html')).toBe('see [erased].html');
  });

  it('is found in the names and the texts of JSON', () => {
    expect(ada.replaceAll({ 'ada-4711': ['Ada Lovelace', 3, null], true: true })).toEqual({
      ...{ '[erased]': ['[erased]', 3, null], true: true },
    });
  });
});

describe('an id that is a word of the product', () => {
  const ofBen = {
    payload: {
      sessionId: 'ses_1',
      botScore: 0.93,
      scoredAt: '2026-01-31T09:34:10.000Z',
      userId: 'ben-4712',
      contextId: null,
    },
    evidence: [{ flag: 'text-without-keys', state: 'found', measured: 0.8, expected: null, weight: 2.5, moments: [] }],
    metadata: { trusted: false, signedIn: false },
    parameters: { courseId: 'course-7', days: 7 },
  };

  it.each(['sessionId', 'courseId', 'weight', 'trusted', 'text-without-keys'])(
    'such as %s leaves the data of others as it is',
    (id) => {
      const finder = createMentionFinder({ id, name: null, email: null, url: null });
      expect(finder.replaceAll(ofBen)).toEqual(ofBen);
      expect(finder.replaceAll({ userId: id })).toEqual({ userId: '[erased]' });
      const named = createMentionFinder({ id: 'eve-4713', name: id, email: null, url: null });
      expect(named.replaceAll(ofBen)).toEqual(ofBen);
    },
  );

  it('is none in the metadata of anomalies, where it names a field', () => {
    expect(listMentionedIds({ distanceKm: 1, otherSessionId: 's', userId: 'sessionId' }, 256)).toEqual(['sessionId']);
  });

  it('is not what a username looks like', () => {
    const finder = createMentionFinder({ id: 'jsmith', name: null, email: null, url: null });
    expect(finder.replace('ask jsmith')).toBe('ask [erased]');
  });
});

it('what may be the id of a user is a long text anywhere, and a short one or a number only in a field of a user', () => {
  const metadata = {
    week: '7',
    userId: '7',
    by: ['ada-4711'],
    students: [8, '9'],
    'bob-4712': { high: 5 },
    long: 'x'.repeat(9),
    none: [null, true],
  };
  expect(listMentionedIds(metadata, 8)).toEqual([...['7', 'ada-4711', 'students', '8', '9', 'bob-4712']]);
});
