import type { EvidenceReport, LaboratoryRate, ReportedFinding } from '../../../../../../contract/evidence-report';
import { chooseFindingColor, FindingMark } from '../../../../components/finding-mark';
import { describeFlag } from '../../flag-words';
import { describeMeasured, describeUsual } from '../../measured-words';
import { showMoments, showName } from './evidence-words';

const STATES = ['found', 'notFound', 'notMeasured'] as const;
const MEANING_OF_STATE: Record<ReportedFinding['state'], string> = {
  found: 'These look like a program. Those of the group context are about the data alone.',
  notFound: 'These were looked for, and look as usual.',
  notMeasured: 'The session had too little for these, or they do not apply to it. They do not count.',
};

/** Every finding with its numbers: found, not found, not measured. */
export function EvidenceFindings({ findings }: { findings: EvidenceReport['findings'] }) {
  if (findings.length === 0) return <p>The latest score brought no findings.</p>;
  return STATES.map((state) => {
    const some = findings.filter((finding) => finding.state === state);
    if (some.length === 0) return null;
    return (
      <section key={state} className="space-y-1">
        <h3 className="font-medium">
          {showName(state)}: {some.length}
        </h3>
        <p className="text-muted">{MEANING_OF_STATE[state]}</p>
        <ul className="divide-y divide-line border-line border-y">
          {some.map((finding, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a pipeline may name a rule twice
            <FindingEntry key={index} finding={finding} />
          ))}
        </ul>
      </section>
    );
  });
}

function FindingEntry({ finding }: { finding: ReportedFinding }) {
  const { flag, group, state, measured, expected, weight, moments, meaning, alsoSeenWith, laboratory } = finding;
  const facts = [
    measured !== null && `measured: ${showMeasured(flag, measured)}`,
    expected !== null && `usual: ${showUsual(flag, expected)}`,
    group === 'context' ? `weight ${weight}, it never counts` : `weight ${weight}`,
    `group ${group}`,
  ];
  return (
    <li className="flex gap-3 py-2">
      <FindingMark state={state} className={`mt-1.5 ${chooseFindingColor(finding)}`} />
      <div className="min-w-0 flex-1 space-y-0.5">
        <p className="wrap-anywhere">
          <span className="font-medium">{describeFlag(flag)}</span> <span className="text-faint text-xs">{flag}</span>
        </p>
        {meaning && <p className="text-muted">{meaning}</p>}
        <p className="wrap-anywhere first-letter:uppercase">{facts.filter(Boolean).join('; ')}.</p>
        {moments.length > 0 && <p className="wrap-anywhere">Seen on {showMoments(moments)}.</p>}
        {alsoSeenWith.length > 0 && <p>People whom it may also flag: {alsoSeenWith.join('; ')}.</p>}
        <p className="text-muted text-xs">
          {laboratory
            ? `In the laboratory it was found in ${showRate(laboratory.programs)} sessions of programs and ${showRate(laboratory.people)} of people’s input.`
            : 'How often it is wrong was not measured.'}
        </p>
      </div>
    </li>
  );
}

const showRate = ({ count, of }: LaboratoryRate) => `${count} of ${of}`;

/** With the exact figure, if the words round it. */
function showMeasured(flag: string, measured: number | string): string {
  const words = describeMeasured({ flag, measured });
  return words.replaceAll(',', '').includes(String(measured)) ? words : `${words} (${measured})`;
}

function showUsual(flag: string, expected: string): string {
  const words = describeUsual({ flag, expected });
  return words === expected ? words : `${words} (${expected})`;
}
