import type { Laboratory, ReportedFinding } from '../../contract/evidence-report';
import laboratory from './laboratory.json';
import { PEOPLE_GROUPS, type PeopleGroup } from './rules/people';
import { RULES } from './rules/table';

// What an evidence report says of rules and scores. The figures are those of docs/detection.md: tests/unit/reference-pages.test.ts
// writes laboratory.json from the laboratory's results.

const showPercent = (share: number) => String(Math.round(share * 100));
const withInterval = ({ count, of, low, high }: typeof laboratory.programs): Laboratory['programs'] => ({
  ...{ count, of, interval: `${showPercent(low)} to ${showPercent(high)} %` },
});

/** How often sessions of programs, and of people, had the class `bot` in the laboratory. */
export const LABORATORY: Laboratory = {
  ruleSetVersion: laboratory.ruleSetVersion,
  programs: withInterval(laboratory.programs),
  people: withInterval(laboratory.people),
};

type RuleWords = Pick<ReportedFinding, 'meaning' | 'alsoSeenWith' | 'laboratory'>;

const RATES = new Map<string, NonNullable<RuleWords['laboratory']>>(Object.entries(laboratory.rules));

const WORDS = new Map<string, RuleWords>(
  RULES.map(({ rule: { flag, plainly, touches } }) => [
    flag,
    {
      // The words are Markdown for the documents.
      meaning: plainly.replaceAll('`', ''),
      alsoSeenWith: Object.entries(touches).map(([group, why]) => `${PEOPLE_GROUPS[group as PeopleGroup]}: ${why}`),
      laboratory: RATES.get(flag) ?? null,
    },
  ]),
);
const UNKNOWN: RuleWords = { meaning: null, alsoSeenWith: [], laboratory: null };

/** Says what a rule means, which people it may also flag, and how often it did. What follows a colon is a name. */
export const describeRule = (flag: string): RuleWords => WORDS.get(flag.split(':')[0]!) ?? UNKNOWN;

interface ReportedScore {
  ruleSetVersion: string | null;
  notMeasured: number;
  isScored: boolean;
}

const showRate = ({ count, of, interval }: Laboratory['programs']) => `${count} of ${of} (95 % interval: ${interval})`;

/** Says what a report shows and what not, for readers who decide about a person. */
export function describeLimits({ ruleSetVersion, notMeasured, isScored }: ReportedScore) {
  const { ruleSetVersion: measuredVersion, programs, people } = LABORATORY;
  const shows = [
    'What a browser reported while a page was used, what the rules found in it, and what reviewers decided, with the times of all three.',
    'The score says how much the session looks like a program, from 0 to 100. It is a reason to look at a session.',
  ];
  const doesNotShow = [
    'A score is not proof, and it is not a probability. A high score says that input looks like that of a program. It does not say who started the program, or why. A low score is no proof of a person either: some programs leave little to see.',
    'It does not show who sat at the computer, what was written, whether help was allowed, or what anybody intended. It has times, places and kinds of input, never what was typed. People decide what follows from it, after they have heard the person concerned.',
    `How often the rules are wrong is known from a laboratory only, for rules ${measuredVersion} and the default thresholds: ${showRate(programs)} sessions of programs had the class bot, and so did ${showRate(people)} sessions with people’s ways of input. The people there are a model with real input, not recordings of anybody. How often the rules are wrong for the people of this integration was not measured for this report.`,
    'People with assistive technology can look like programs: voice control, switches, eye trackers, dwell clicking, screen readers, keyboards on the screen. So can remote desktops. The rules exempt them where they can tell. Where they cannot, the finding says so below. Ask before anything follows from such a finding.',
    'Not measured with people’s input: phones, and keyboards on the screen of a tablet; trackpads on Windows and macOS, and on Linux those on which a tap can become a drag; mice on ChromeOS, and on Linux with Wayland; the programs for switches and eye trackers; dictation that inserts text without keys; the input methods of Windows and macOS; autofill and password managers; RDP to Windows, and Citrix.',
    'The user is the one with whom the session was matched. The report says how sure that match is. Somebody else may have used the account or the device.',
    'The class follows from thresholds that the organisation has chosen. They can change without any change of the evidence.',
  ];
  if (notMeasured > 0)
    doesNotShow.push(
      `${notMeasured} ${notMeasured === 1 ? 'rule was' : 'rules were'} not measured in this session, because it had too little for them or they do not apply. That counts nothing, in either direction.`,
    );
  if (!isScored) doesNotShow.push('The session has no score.');
  else if (ruleSetVersion === null)
    doesNotShow.push('The score names no version of our rules. How often such scores are wrong is not known here.');
  else if (ruleSetVersion !== measuredVersion)
    doesNotShow.push(
      `The session was scored with rules ${ruleSetVersion}, the laboratory measured rules ${measuredVersion}.`,
    );
  return { shows, doesNotShow };
}
