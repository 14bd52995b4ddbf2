import { createHash } from 'node:crypto';
import { parseUrl } from '../../contract/urls';

const D2L_HOME = '/d2l/home/';
/** The part of a page's path that identifies the course, in the common learning management systems (LMS). */
const COURSE_PATHS: RegExp[] = [
  /^(\/courses\/\d+)(?:\/|$)/, // Canvas
  /^(\/ultra\/courses\/[^/]+)(?:\/|$)/, // Blackboard Ultra
  /^(\/d2l\/home\/\d+)(?:\/|$)/, // D2L Brightspace
  /^\/d2l\/le\/(?:content|lessons|news|calendar|enhancedSequenceViewer)\/(\d+)(?:\/|$)/, // D2L, of the same course
  /^\/d2l\/le\/(\d+)\/discussions(?:\/|$)/,
  /^(\/course\/\d+)(?:\/|$)/, // Schoology
  /^((?:\/courses|\/learning\/course)\/course-v1:[^/]+)(?:\/|$)/, // Open edX, and its micro-frontend for learning
];
/** `home` is where the path of the course begins, before its key, if other pages name it too. */
const COURSE_QUERIES: { path: RegExp; parameter: string; home?: string; key?: RegExp }[] = [
  { path: /\/course\/view\.php$/, parameter: 'id' }, // Moodle
  { path: /^\/webapps\//, parameter: 'course_id', home: '/webapps/blackboard/execute/courseMain?course_id=' }, // Blackboard Learn
  { path: /^\/d2l\/(?:le|lms)\//, parameter: 'ou', home: D2L_HOME, key: /^\d+$/ }, // D2L quizzes, assignments and the like
];

/** A longer path is not that of a course: a visitor has invented it. */
const MAX_COURSE_PATH_LENGTH = 512;

const OPEN_EDX_KEY = /^course-v1:(.+)$/;

/** What a page's address says about a course. */
export interface CourseIdentity {
  id: string;
  name: string;
  /** The catalogue code, if the address contains it. */
  code: string | null;
  url: string;
}

/**
 * Finds the course that a page belongs to. Returns null if the address names none. `id` is the first 16 hex digits of
 * SHA-256(origin + course path), because a course 42 may exist on every host.
 */
export function findCourse(pageUrl: string): CourseIdentity | null {
  const url = parseUrl(pageUrl);
  if (url === null) return null;
  const path = findCoursePath(url);
  if (path === null || path.length > MAX_COURSE_PATH_LENGTH) return null;
  const key = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('=')) + 1);
  const code = OPEN_EDX_KEY.exec(key)?.[1] ?? null;
  return {
    id: createHash('sha256')
      .update(url.origin + path)
      .digest('hex')
      .slice(0, 16),
    // No fact contains the course's real name.
    name: `Course ${code ?? key}`,
    code,
    url: url.origin + path,
  };
}

function findCoursePath(url: URL): string | null {
  // Some pages of Open edX encode the key.
  const pathname = url.pathname.replace(/%3A/gi, ':').replace(/%2B/gi, '+');
  for (const pattern of COURSE_PATHS) {
    const found = pattern.exec(pathname)?.[1];
    if (found) return found.startsWith('/') ? found : D2L_HOME + found;
  }
  for (const { path, parameter, home = `${url.pathname}?${parameter}=`, key = /./ } of COURSE_QUERIES) {
    const id = url.searchParams.get(parameter);
    if (id && key.test(id) && path.test(url.pathname)) return home + encodeURIComponent(id);
  }
  return null;
}
