import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Subject } from './subject';

const PLACES = ['drivers/', 'controls/'];

/** Loads all drivers and controls: each file there exports its `subjects`. */
export async function loadSubjects(): Promise<Subject[]> {
  const files = PLACES.map((place) => new URL(place, import.meta.url))
    .filter((place) => existsSync(place))
    .flatMap((place) => readdirSync(fileURLToPath(place)).map((name) => new URL(name, place)))
    .filter(({ pathname }) => pathname.endsWith('.ts') && !pathname.endsWith('.test.ts'));
  const modules: { subjects?: readonly Subject[] }[] = await Promise.all(files.map(({ href }) => import(href)));
  const subjects = modules.flatMap(({ subjects = [] }) => subjects);
  const names = subjects.map(({ name }) => name);
  const repeated = names.find((name, i) => names.indexOf(name) !== i);
  if (repeated) throw new Error(`two subjects are named ${repeated}`);
  return subjects;
}
