import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGES_DIRECTORY } from './files';

// The fonts of documents, from packages with the fonts as files. A script whose package is not installed is drawn as boxes; its text
// can still be copied and read aloud.

interface Font {
  family: string;
  /** Its file, from the directory of packages. */
  file: string;
  /** What needs it. Null: always used. */
  script: RegExp | null;
}

/** The fonts of every document: Latin, Greek, Cyrillic and Devanagari. */
const REGULAR = '@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf';
const BOLD = '@expo-google-fonts/noto-sans/700Bold/NotoSans_700Bold.ttf';

const HAN_OR_KANA = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}]/u;

/** Describes the font of Noto Sans for a script. */
const noto = (name: string, script: RegExp): Font => ({
  family: `Noto Sans ${name}`,
  file: `@expo-google-fonts/noto-sans-${name.toLowerCase()}/400Regular/NotoSans${name}_400Regular.ttf`,
  script,
});

/** The packages are optional, because that of Chinese is large: `npm install` brings all of them. */
const FONTS: Font[] = [
  { family: 'Noto Sans', file: REGULAR, script: null },
  noto('Arabic', /\p{Script=Arabic}/u),
  noto('Bengali', /\p{Script=Bengali}/u),
  noto('Hebrew', /\p{Script=Hebrew}/u),
  noto('Thai', /\p{Script=Thai}/u),
  {
    family: 'Noto Sans S Chinese',
    file: '@embedpdf/fonts-sc/fonts/NotoSansHans-Regular.otf',
    script: HAN_OR_KANA,
  },
  // It has what the font of Chinese lacks: characters of Japanese names, as in 山﨑.
  { family: 'MotoyaLCedar', file: '@expo-google-fonts/kosugi/Kosugi_400Regular.ttf', script: HAN_OR_KANA },
  {
    family: 'NanumGothic',
    file: '@expo-google-fonts/nanum-gothic/400Regular/NanumGothic_400Regular.ttf',
    script: /\p{Script=Hangul}/u,
  },
];

const pathOf = (file: string) => join(PACKAGES_DIRECTORY, file);

/** Whether the fonts are installed that every document needs. */
export const hasDocumentFonts = () => [REGULAR, BOLD].every((file) => existsSync(pathOf(file)));

/** Finds the fonts that a text needs, of those that are installed. Only the first one has a bold weight. */
export function findFonts(text: string): { families: string[]; paths: string[] } {
  const needed = FONTS.filter(({ script }) => script === null || script.test(text)).filter(({ file }) =>
    existsSync(pathOf(file)),
  );
  return {
    families: needed.map(({ family }) => family),
    paths: [...needed.map(({ file }) => file), BOLD].map(pathOf),
  };
}
