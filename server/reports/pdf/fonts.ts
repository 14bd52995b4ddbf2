import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FONTS_DIRECTORY } from './files';

// The fonts of documents: Noto Sans, from packages with the fonts as files. A script whose package is not installed is drawn as
// boxes; its text can still be copied and read aloud.

interface FontPackage {
  family: string;
  name: string;
  /** What needs it. Null: always used. */
  script: RegExp | null;
}

/** Noto Sans has Latin, Greek, Cyrillic and Devanagari. The packages are optional, because some are large: `npm install` brings all of them. */
const FONTS: FontPackage[] = [
  { family: 'Noto Sans', name: 'noto-sans', script: null },
  { family: 'Noto Sans Arabic', name: 'noto-sans-arabic', script: /\p{Script=Arabic}/u },
  { family: 'Noto Sans Bengali', name: 'noto-sans-bengali', script: /\p{Script=Bengali}/u },
  { family: 'Noto Sans Hebrew', name: 'noto-sans-hebrew', script: /\p{Script=Hebrew}/u },
  {
    family: 'Noto Sans SC',
    name: 'noto-sans-sc',
    script: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}]/u,
  },
  // After the one of Han, because it has characters of Han in Korean shapes.
  { family: 'Noto Sans KR', name: 'noto-sans-kr', script: /\p{Script=Hangul}/u },
  { family: 'Noto Sans Thai', name: 'noto-sans-thai', script: /\p{Script=Thai}/u },
];

const pathOf = ({ family, name }: FontPackage, weight: '400Regular' | '700Bold') =>
  join(FONTS_DIRECTORY, name, weight, `${family.replaceAll(' ', '')}_${weight}.ttf`);

/** Whether the fonts are installed that every document needs. */
export const hasDocumentFonts = () =>
  (['400Regular', '700Bold'] as const).every((weight) => existsSync(pathOf(FONTS[0]!, weight)));

/** Finds the fonts that a text needs, of those that are installed. Only the first one has a bold weight. */
export function findFonts(text: string): { families: string[]; paths: string[] } {
  const needed = FONTS.filter(({ script }) => script === null || script.test(text)).filter((font) =>
    existsSync(pathOf(font, '400Regular')),
  );
  return {
    families: needed.map(({ family }) => family),
    paths: [...needed.map((font) => pathOf(font, '400Regular')), pathOf(FONTS[0]!, '700Bold')],
  };
}
