import { createRandom } from '../../../server/demo/session-facts';
import { type Step, TASKS, type Task } from '../subject';
import { type Chooser, chooseStyle, createChooser, type PageContent } from './layout';
import { ESSAYS, PARAGRAPHS, QUESTIONS, type Question, SHORT_ANSWERS, SUBJECTS, THANKS } from './words';

/** What one visit is: its pages by the last part of their address, how they look, and what is done there. */
export interface VisitPlan {
  pages: ReadonlyMap<string, PageContent>;
  style: string;
  steps: readonly Step[];
}

/** As when the recordings began: another step would give each seed other pages. */
const SEED_STEP = 4;

/** Plans a visit. The same task and seed give the same pages and steps. */
export function planVisit(task: Task, seed: number): VisitPlan {
  const chooser = createChooser(createRandom(seed * SEED_STEP + TASKS.indexOf(task) + 1));
  const style = chooseStyle(chooser);
  const pages = new Map<string, PageContent>();
  const steps: Step[] = [
    { do: 'arrive', target: '#begin' },
    { do: 'read', forMs: chooser.between(2_300, 3_200) },
  ];
  const heading = chooser.pick(SUBJECTS);
  const add = (name: string, body: string) => void pages.set(name, { title: `${heading}: ${name}`, heading, body });
  PLANNERS[task]({ chooser, add, steps });
  add('done', `<p id="done">${chooser.pick(THANKS)}</p>`);
  steps.push({ do: 'arrive', target: '#done' }, { do: 'read', forMs: 1_200 });
  return { pages, style, steps };
}

interface Planning {
  chooser: Chooser;
  add(name: string, body: string): void;
  steps: Step[];
}

const paragraph = (text: string) => `<p>${text}</p>`;
const form = (body: string, button: string) =>
  `<form action="done">${body}<p><button id="hand-in">${button}</button></p></form>`;

function writeChoice({ ask, answers }: Question, number: number, { shuffle }: Chooser, type: 'radio' | 'checkbox') {
  const choices = shuffle(answers).map(
    (answer, i) =>
      `<label><input type="${type}" name="q${number}" value="${i}" id="q${number}-${i}"> ${answer}</label>`,
  );
  return `<fieldset><legend>${ask}</legend>${choices.join('\n')}</fieldset>`;
}

function planQuiz({ chooser, add, steps }: Planning) {
  const { between, pick, shuffle, isTrue } = chooser;
  add('start', `${paragraph(pick(PARAGRAPHS))}<p><a class="button" id="begin" href="questions">Begin</a></p>`);
  steps.push({ do: 'click', target: '#begin' }, { do: 'arrive', target: '#hand-in' });
  const questions = shuffle(QUESTIONS).slice(0, 3);
  const short = pick(SHORT_ANSWERS);
  const blocks = questions.map((question, number) => ({
    html: writeChoice(question, number, chooser, number === 2 ? 'checkbox' : 'radio'),
    step: { do: 'click', target: `#q${number}-${between(0, question.answers.length - 1)}` } as Step,
  }));
  const text = {
    html: `<p><label for="short">${short.ask}</label><br><input type="text" id="short" autocomplete="off"></p>`,
    step: { do: 'type', target: '#short', text: short.answer } as Step,
  };
  const ordered = isTrue() ? [...blocks, text] : [blocks[0]!, text, blocks[1]!, blocks[2]!];
  add('questions', form(ordered.map(({ html }) => html).join('\n'), pick(['Hand in', 'Submit answers', 'Finish'])));
  steps.push(...ordered.map(({ step }) => step), { do: 'click', target: '#hand-in' });
}

function planEssay({ chooser, add, steps }: Planning) {
  const { pick, shuffle, isTrue } = chooser;
  const { title, text } = pick(ESSAYS);
  const fields = [
    {
      html: `<p><label for="title">${pick(['Title', 'Heading', 'Name of your text'])}</label><br>
        <input type="text" id="title" autocomplete="off"></p>`,
      step: { do: 'type', target: '#title', text: title } as Step,
    },
    {
      html: `<p><label for="text">${pick(['Your text', 'Text', 'Write here'])}</label><br>
        <textarea id="text" spellcheck="false"></textarea></p>`,
      step: { do: 'type', target: '#text', text } as Step,
    },
  ];
  // Typing takes long, so half of the visits have no title.
  const chosen = isTrue() ? shuffle(fields) : fields.slice(1);
  const agree = '<p><label><input type="checkbox" id="own"> I wrote this myself.</label></p>';
  const body = `${chosen.map(({ html }) => html).join('')}${agree}`;
  add('start', `<p id="begin">${pick(PARAGRAPHS)}</p>${form(body, pick(['Send', 'Hand in', 'Save']))}`);
  steps.push(...chosen.map(({ step }) => step), { do: 'click', target: '#own' }, { do: 'click', target: '#hand-in' });
}

/** A text that is long enough to be judged as a text. */
function planComposition({ chooser: { pick, shuffle }, add, steps }: Planning) {
  const text = shuffle(ESSAYS)
    .slice(0, 4)
    .map((essay) => essay.text)
    .join(' ');
  const field = `<p><label for="text">Your text</label><br>
    <textarea id="text" spellcheck="false" data-writing="composition"></textarea></p>`;
  add('start', `<p id="begin">${pick(PARAGRAPHS)}</p>${form(field, 'Hand in')}`);
  steps.push({ do: 'type', target: '#text', text }, { do: 'click', target: '#hand-in' });
}

function planReading({ chooser, add, steps }: Planning) {
  const { between, pick, shuffle } = chooser;
  const parts = shuffle(PARAGRAPHS).map(
    (text, i) => `<section id="part-${i}">${paragraph(`${text} ${text}`)}</section>`,
  );
  parts.splice(
    3,
    0,
    `<details><summary id="more">A note on this part</summary>${paragraph(pick(PARAGRAPHS))}</details>`,
  );
  const [seen, end] = ['<p><label><input type="checkbox" id="seen"> I have read it.</label></p>', 'Go on'];
  add('start', `<div id="begin">${parts.join('\n')}</div>${form(seen, end)}`);
  steps.push({ do: 'scroll', byPx: between(180, 300) }, { do: 'read', forMs: between(1_200, 2_000) });
  steps.push({ do: 'click', target: '#more' }, { do: 'read', forMs: between(900, 1_800) });
  steps.push({ do: 'scroll', byPx: between(400, 600) }, { do: 'read', forMs: between(1_200, 2_000) });
  steps.push({ do: 'scroll', byPx: between(600, 900) }, { do: 'read', forMs: between(800, 1_500) });
  steps.push({ do: 'click', target: '#seen' }, { do: 'click', target: '#hand-in' });
}

/** Changes the address without loading a page, as single-page apps do. */
const TABS = `<script>
  for (const button of document.querySelectorAll('[data-tab]')) button.onclick = () => {
    history.pushState(null, '', button.dataset.tab);
    for (const panel of document.querySelectorAll('[data-panel]')) panel.hidden = panel.dataset.panel !== button.dataset.tab;
  };
</script>`;

function planNavigation({ chooser, add, steps }: Planning) {
  const { between, pick, shuffle } = chooser;
  const [first, second, third] = shuffle(['week', 'notes', 'files', 'people', 'marks']) as [string, string, string];
  const link = (name: string, id: string) => `<a id="${id}" href="${name}">${name}</a>`;
  const menu = (...names: string[]) =>
    `<nav>${shuffle(names)
      .map((name) => link(name, `to-${name}`))
      .join(' ')}</nav>`;
  add('start', `<div id="begin">${menu(first, second, third)}${paragraph(pick(PARAGRAPHS))}</div>`);
  add(first, `${menu('start', second)}<p id="at-${first}">${pick(PARAGRAPHS)}</p>`);
  const tabs = shuffle(['overview', 'details', 'history']);
  const buttons = tabs.map((tab) => `<button id="tab-${tab}" data-tab="${tab}">${tab}</button>`).join(' ');
  const panels = tabs
    .map(
      (tab, i) =>
        `<div data-panel="${tab}"${i === 0 ? '' : ' hidden'}><p id="panel-${tab}">${pick(PARAGRAPHS)}</p></div>`,
    )
    .join('');
  add(second, `${menu('start', third)}<p>${buttons}</p>${panels}${TABS}`);
  add(third, `${menu('start', first)}<p id="at-${third}">${pick(PARAGRAPHS)}</p>${form('', 'Leave')}`);
  const go = (target: string, shows: string) =>
    steps.push({ do: 'click', target }, { do: 'arrive', target: shows }, { do: 'read', forMs: between(500, 1_300) });
  go(`#to-${first}`, `#at-${first}`);
  go(`#to-${second}`, `#tab-${tabs[0]}`);
  go(`#tab-${tabs[1]}`, `#panel-${tabs[1]}`);
  go(`#tab-${tabs[2]}`, `#panel-${tabs[2]}`);
  go(`#to-${third}`, `#at-${third}`);
  steps.push({ do: 'click', target: '#hand-in' });
}

const PLANNERS: Record<Task, (planning: Planning) => void> = {
  quiz: planQuiz,
  essay: planEssay,
  reading: planReading,
  navigation: planNavigation,
  composition: planComposition,
};
