import { Fragment } from 'react';
import type { Attempt, InspectedDelivery } from '../../../../../contract/deliveries';
import { showDuration, Time } from '../../../components/time';
import { explainAttempt } from '../attempt-faults';

/** The attempts of a delivery, oldest first: how each ended, why, and what the receiver answered. */
export function AttemptLog({ delivery: { attemptLog } }: { delivery: InspectedDelivery }) {
  return (
    <section aria-label="Attempts" className="space-y-2">
      <h3 className="font-medium text-muted text-xs">Attempts</h3>
      {attemptLog.length === 0 ? (
        <p className="text-faint">No attempt was made.</p>
      ) : (
        <div className="overflow-x-auto">
          <table className="w-full">
            <caption className="sr-only">Attempts, oldest first</caption>
            <thead>
              <tr className="text-left text-muted text-xs">
                {['#', 'Response', 'Class', 'Took', 'At'].map((name) => (
                  <th key={name} scope="col" className="pr-3 pb-1 font-medium last:pr-0 last:text-right">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {attemptLog.map((attempt, at) => (
                <Fragment key={`${attempt.resend} ${attempt.attempt}`}>
                  <AttemptRow attempt={attempt} />
                  <tr>
                    <td colSpan={5} className="pb-2">
                      <AttemptNotes attempt={attempt} isLatest={at === attemptLog.length - 1} />
                    </td>
                  </tr>
                </Fragment>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function AttemptRow({ attempt: row }: { attempt: Attempt }) {
  const { resend, attempt, httpStatus, failureClass, durationMs, startedAt, address } = row;
  return (
    <tr className="border-t" title={address ? `Contacted ${address}` : undefined}>
      <td className="py-1 pr-3">
        {attempt}
        {resend > 0 && <span className="text-faint text-xs"> resend {resend}</span>}
      </td>
      <td className="pr-3">{httpStatus ?? 'none'}</td>
      <td className="pr-3">{failureClass ? <span className="text-danger">{failureClass}</span> : 'Delivered'}</td>
      <td className="whitespace-nowrap pr-3">{showDuration(durationMs)}</td>
      <td className="text-right">
        <Time at={startedAt} />
      </td>
    </tr>
  );
}

/** Why an attempt failed, with what to do about the latest one, and the answer. */
function AttemptNotes({ attempt, isLatest }: { attempt: Attempt; isLatest: boolean }) {
  const fault = explainAttempt(attempt);
  return (
    <div className="space-y-1">
      {fault && (
        <p className="break-words">
          {fault.what} {isLatest && fault.act}{' '}
          {attempt.httpStatus === null && attempt.errorCode && (
            <code className="font-mono text-faint text-xs">{attempt.errorCode.split(' ')[0]}</code>
          )}
        </p>
      )}
      {attempt.answer && <Answer answer={attempt.answer} attempt={attempt.attempt} />}
    </div>
  );
}

/** What the receiver answered, as plain text. It is the receiver's, so nothing of it is interpreted. */
function Answer({ answer, attempt }: { answer: NonNullable<Attempt['answer']>; attempt: number }) {
  const { headers, body, isCut } = answer;
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <details>
      <summary className="cursor-pointer text-accent text-xs">Answer to attempt {attempt}</summary>
      <div className="mt-1 space-y-2">
        <AnswerText label="Headers of the answer" text={head.join('\n')} empty="No headers" />
        <AnswerText label="Body of the answer" text={body} empty="The body was empty" />
        <p className="text-faint text-xs">
          {isCut && 'Only the first 2 KiB of the body are kept. '}
          What may be secret is redacted. Kept for seven days, for staff alone.
        </p>
      </div>
    </details>
  );
}

// Long lines wrap, so that nothing scrolls sideways.
const ANSWER_TEXT =
  'max-h-64 overflow-y-auto whitespace-pre-wrap break-all rounded border border-line bg-sunken p-2 font-mono text-ink text-xs';

function AnswerText({ label, text, empty }: { label: string; text: string; empty: string }) {
  if (text === '') return <p className="text-faint text-xs">{empty}.</p>;
  return (
    <section aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
      <pre tabIndex={0} className={ANSWER_TEXT}>
        {text}
      </pre>
    </section>
  );
}
