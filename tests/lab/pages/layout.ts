import type { Random } from '../../../server/demo/session-facts';

/** Makes functions that choose by a seed. */
export function createChooser(random: Random) {
  const between = (from: number, to: number) => Math.round(from + random() * (to - from));
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const shuffle = <T>(from: readonly T[]): T[] =>
    from
      .map((value) => ({ value, rank: random() }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ value }) => value);
  return { between, pick, shuffle, isTrue: () => random() < 0.5 };
}
export type Chooser = ReturnType<typeof createChooser>;

/** How the pages of a visit look: the same on each of its pages, different for each seed. */
export function chooseStyle({ between, pick, isTrue }: Chooser): string {
  const accent = `hsl(${between(0, 359)} 55% 35%)`;
  const side = isTrue() ? `margin-left: ${between(16, 200)}px` : 'margin: 0 auto';
  return `
    body { margin: 0; font: ${between(15, 19)}px/${between(13, 17) / 10} ${pick(['serif', 'sans-serif', 'Georgia, serif', 'Verdana, sans-serif'])}; color: #222 }
    header { padding: ${between(8, 40)}px ${between(16, 60)}px; background: ${accent}; color: #fff }
    main { max-width: ${between(560, 860)}px; ${side}; padding: ${between(8, 30)}px }
    label { display: ${pick(['block', 'inline-block'])}; margin: ${between(2, 10)}px ${between(4, 24)}px ${between(2, 10)}px 0 }
    fieldset { border: ${pick(['0', '1px solid #bbb', `2px solid ${accent}`])}; margin: ${between(6, 18)}px 0; padding: ${between(4, 14)}px }
    input[type=radio], input[type=checkbox] { width: ${between(14, 24)}px; height: ${between(14, 24)}px; vertical-align: middle }
    input[type=text], textarea { font: inherit; padding: ${between(3, 10)}px; width: ${between(55, 95)}%; box-sizing: border-box }
    textarea { height: ${between(90, 200)}px }
    button, a.button { display: inline-block; font: inherit; padding: ${between(5, 14)}px ${between(10, 40)}px; background: ${accent}; color: #fff; border: 0; border-radius: ${between(0, 16)}px }
    nav a, nav button { margin-right: ${between(6, 30)}px }
    p { margin: ${between(8, 26)}px 0 }`;
}

export interface Tag {
  /** The address of the product. */
  host: string;
  siteKey: string;
}

export interface PageContent {
  title: string;
  heading: string;
  body: string;
}

/** Writes a page with the tag. Its own script tells where things are, and on the first page it runs BotD, after the pixel. */
export function writePage({ title, heading, body }: PageContent, style: string, { host, siteKey }: Tag, run: string) {
  return `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${style}</style>
<script async src="${host}/pixel.js" data-site="${siteKey}" data-user-id="${run}"></script>
<header><h1>${heading}</h1></header><main>${body}</main><script src="/page.js" data-run="${run}"></script></html>`;
}
