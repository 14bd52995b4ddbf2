import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanAddress } from '../../pixel/addresses';
import { findCourse } from '../../server/domain/courses';
import { character, webAddress } from '../support/texts';

const idOf = (originAndPath: string) => createHash('sha256').update(originAndPath).digest('hex').slice(0, 16);

describe('findCourse', () => {
  it.each([
    ['Canvas', 'https://c.example.edu/courses/42', 'https://c.example.edu/courses/42'],
    ['Canvas', 'https://c.example.edu/courses/42/quizzes/1?x=1#top', 'https://c.example.edu/courses/42'],
    ['Moodle', 'https://m.example.edu/course/view.php?id=7', 'https://m.example.edu/course/view.php?id=7'],
    ['Moodle', 'https://m.example.edu/course/view.php?section=2&id=7#x', 'https://m.example.edu/course/view.php?id=7'],
    ['Moodle', 'https://e.edu/moodle/course/view.php?id=7', 'https://e.edu/moodle/course/view.php?id=7'],
    ['Blackboard', 'https://b.example.edu/ultra/courses/_10_1/outline', 'https://b.example.edu/ultra/courses/_10_1'],
    ['D2L', 'https://d.example.edu/d2l/home/6606', 'https://d.example.edu/d2l/home/6606'],
    [
      'Open edX',
      'https://apps.x.example.edu/learning/course/course-v1:edX+DemoX+Demo_Course/block-v1:edX+DemoX+Demo_Course+type@sequential+block@7',
      'https://apps.x.example.edu/learning/course/course-v1:edX+DemoX+Demo_Course',
    ],
  ])('finds the course of %s in %s', (_lms, pageUrl, url) => {
    expect(findCourse(pageUrl)).toMatchObject({ id: idOf(url), url });
  });

  it.each([
    ['https://c.example.edu/courses/42/quizzes/1', 'Course 42', null],
    ['https://m.example.edu/course/view.php?id=7', 'Course 7', null],
    ['https://b.example.edu/ultra/courses/_10_1/outline', 'Course _10_1', null],
    [
      'https://x.example.edu/courses/course-v1:MITx+6.00.1x+2T2024/home',
      'Course MITx+6.00.1x+2T2024',
      'MITx+6.00.1x+2T2024',
    ],
  ])('names the course of %s %s, with the code that the address has', (pageUrl, name, code) => {
    expect(findCourse(pageUrl)).toMatchObject({ name, code });
  });

  it('finds the same course on all of its pages', () => {
    const pages = ['', '/', '/modules', '/assignments/3?submitted=1', '#content'];
    const ids = pages.map((page) => findCourse(`https://lms.example.edu/courses/42${page}`)?.id);
    expect(new Set(ids)).toEqual(new Set([idOf('https://lms.example.edu/courses/42')]));
  });

  it.each([
    'le/content/6606/viewContent/1/View',
    'le/lessons/6606/topics/77',
    'le/enhancedSequenceViewer/6606?url=x',
    'le/news/6606/12/view',
    'le/calendar/6606',
    'le/6606/discussions/threads/12/View',
    'le/activities/iterator/12?ou=6606',
    'lms/quizzing/user/quiz_summary.d2l?qi=12&ou=6606',
    'lms/dropbox/user/folder_submit_files.d2l?db=12&ou=6606&grpid=0',
  ])('finds the course of D2L on its page %s, also in what the pixel tells of it', (page) => {
    const [url, home] = [`https://d.edu/d2l/${page}`, findCourse('https://d.edu/d2l/home/6606')];
    expect([home?.name, findCourse(url), findCourse(cleanAddress(url))]).toEqual(['Course 6606', home, home]);
  });

  it('finds none where D2L names no number', () => {
    expect(findCourse('https://d.edu/d2l/lms/news/main.d2l?ou=%E2%80%A6')).toBeNull();
  });

  it('finds the same course where Open edX encodes its key, also in what the pixel tells', () => {
    const url = 'https://x.edu/courses/course-v1%3AedX%2BDemoX%2BDemo_Course/courseware/1';
    const plain = findCourse('https://x.edu/courses/course-v1:edX+DemoX+Demo_Course/home');
    expect([plain?.code, findCourse(url), findCourse(cleanAddress(url))]).toEqual([
      ...['edX+DemoX+Demo_Course', plain, plain],
    ]);
  });

  it('finds the same course on all pages of Blackboard Learn, whose paths do not name it', () => {
    const pages = [
      'blackboard/execute/announcement?method=search&course_id=_5_1',
      'blackboard/content/listContent.jsp?course_id=_5_1&content_id=_77_1',
      'assessment/take/launchAssessment.jsp?course_id=_5_1&content_id=_78_1&step=null',
      'discussionboard/do/forum?action=list_threads&course_id=_5_1',
    ];
    const url = 'https://b.edu/webapps/blackboard/execute/courseMain?course_id=_5_1';
    for (const page of pages)
      expect(findCourse(`https://b.edu/webapps/${page}`)).toMatchObject({ id: idOf(url), url, name: 'Course _5_1' });
  });

  it.each([
    ['Canvas', 'https://c.example.edu/courses/42/quizzes/1?x=1#top'],
    ['Moodle', 'https://m.example.edu/course/view.php?section=2&id=7'],
    ['Blackboard Ultra', 'https://b.example.edu/ultra/courses/_12345_1/outline'],
    [
      'Blackboard Learn',
      'https://b.example.edu/webapps/blackboard/execute/announcement?method=search&course_id=_12345_1',
    ],
    ['D2L', 'https://d.example.edu/d2l/home/6606'],
    ['D2L content', 'https://d.example.edu/d2l/le/content/6606/viewContent/1/View'],
    ['Schoology', 'https://s.example.edu/course/1234567890/materials'],
    ['Open edX', 'https://x.example.edu/courses/course-v1:edX+DemoX+Demo_Course/courseware/'],
    ['Open edX’s micro-frontend', 'https://apps.x.example.edu/learning/course/course-v1:edX+DemoX+Demo_Course/home'],
    ['Open edX, with many letters and digits', 'https://x.example.edu/courses/course-v1:MITx+6.00.1x+2T2024/home'],
  ])('finds the course of %s in what the pixel tells of the address', (_lms, pageUrl) => {
    const course = findCourse(pageUrl);
    expect(course).not.toBeNull();
    expect(findCourse(cleanAddress(pageUrl))).toEqual(course);
  });

  it('treats the same number on two hosts, ports or schemes as different courses', () => {
    const urls = [
      'https://a.example.edu/courses/42',
      'https://b.example.edu/courses/42',
      'https://a.example.edu:8443/courses/42',
      'http://a.example.edu/courses/42',
      'https://a.example.edu/courses/43',
    ];
    expect(new Set(urls.map((url) => findCourse(url)?.id)).size).toBe(urls.length);
  });

  it('ignores the spelling of the host and a default port', () => {
    expect(findCourse('HTTPS://LMS.Example.EDU:443/courses/42')).toEqual(
      findCourse('https://lms.example.edu/courses/42'),
    );
  });

  it.each([
    'https://lms.example.edu/',
    'https://lms.example.edu/courses',
    'https://lms.example.edu/courses/',
    'https://lms.example.edu/courses/new',
    'https://lms.example.edu/courses/42abc',
    'https://lms.example.edu/api/v1/courses/42',
    'https://lms.example.edu/course/view.php',
    'https://lms.example.edu/course/view.php?id=',
    'https://lms.example.edu/course/index.php?id=7',
    'https://lms.example.edu/ultra/courses/',
    'https://lms.example.edu/d2l/lp/profile?ou=6606',
    'https://lms.example.edu/d2l/lms/quizzing/quizzing.d2l?ou=',
    'https://lms.example.edu/?next=/courses/42',
    'https://lms.example.edu/#/courses/42',
    'not a url',
    '',
    '/courses/42',
  ])('finds none in %j', (pageUrl) => {
    expect(findCourse(pageUrl)).toBeNull();
  });

  it('finds none whose path somebody has invented, because it is too long', () => {
    const find = (length: number) => findCourse(`https://x.edu${'/ultra/courses/'.padEnd(length, 'c')}/outline`);
    expect([find(512)?.url.length, find(513)]).toEqual(['https://x.edu'.length + 512, null]);
  });

  it('never throws, and identifies a course by 16 hex digits', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: character }), webAddress), (text) => {
        for (const url of [text, `https://x.edu/courses/${text}`, `https://x.edu/course/view.php?id=${text}`]) {
          const course = findCourse(url);
          if (course) expect(course.id).toMatch(/^[0-9a-f]{16}$/);
        }
      }),
    );
  });
});
