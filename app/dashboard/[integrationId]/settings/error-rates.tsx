'use client';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { ErrorRate, ErrorRates, LabelRates, SampleRates } from '../../../../contract/error-rates';
import type { RiskThresholds } from '../../../../contract/risk-thresholds';
import { RateCurve } from '../../charts/rate-curve';
import { Select } from '../../components/field';
import { Section } from '../../components/page-header';
import { Pending } from '../../components/pending';
import { useTRPC } from '../../queries';
import { countWords, noteSample, showRange } from './rate-words';
import { ReviewSampleForm } from './review-sample';

const SOURCES = { sample: 'By the random sample', labels: 'By all labels' } as const;
type Source = keyof typeof SOURCES;

/** How often the score is wrong at these cut points, which may not be saved yet. */
export function ErrorRatesSection({ thresholds, saved }: { thresholds: RiskThresholds; saved: RiskThresholds }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.errorRates.get.queryOptions());
  const [chosen, choose] = useState<Source | null>(null);
  if (!query.data) return <Pending query={query} className="h-96" />;
  const estimates = query.data;
  const source = chosen ?? findSource(estimates, thresholds);
  const { ratesByCut } = estimates[source];
  return (
    <>
      <Section
        title="Error rates"
        actions={
          <Select
            aria-label="Estimated"
            className="w-52"
            value={source}
            onChange={({ target }) => choose(target.value as Source)}
          >
            {Object.entries(SOURCES).map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </Select>
        }
      >
        <div className="space-y-3">
          <Findings estimates={estimates} source={source} thresholds={thresholds} />
          {source === 'sample' ? (
            <SampleBasis sample={estimates.sample} days={estimates.days} />
          ) : (
            <LabelBasis labels={estimates.labels} days={estimates.days} />
          )}
        </div>
      </Section>
      {ratesByCut.some(({ falsePositives, precision }) => falsePositives ?? precision) && (
        <div className="grid gap-4 md:grid-cols-2">
          <RateCurve
            title="People called bot, of 1,000"
            summary={`The share of people called bot by cut point, ${SOURCES[source].toLowerCase()}, with its 95 % interval.`}
            rates={ratesByCut.map(({ falsePositives }) => falsePositives)}
            per={1_000}
            // Of the saved cut point, so that the scale rests while handles are dragged.
            most={ratesByCut[saved.mediumAt]?.falsePositives?.high ?? 1}
            marks={[thresholds.mediumAt, thresholds.botAt]}
            color="var(--color-human-fill)"
          />
          <RateCurve
            title="Bots among those called bot, of 100"
            summary={`The share of bots among sessions called bot by cut point, ${SOURCES[source].toLowerCase()}, with its 95 % interval.`}
            rates={ratesByCut.map(({ precision }) => precision)}
            per={100}
            most={1}
            marks={[thresholds.mediumAt, thresholds.botAt]}
            color="var(--color-bot-fill)"
          />
        </div>
      )}
      <ReviewSampleForm sampleSize={estimates.sampleSize} waiting={estimates.sample.waiting} />
    </>
  );
}

/** The sample, unless only the labels say something. */
function findSource({ sample, labels }: ErrorRates, { botAt }: RiskThresholds): Source {
  const says = ({ ratesByCut }: SampleRates | LabelRates) => Boolean(ratesByCut[botAt]?.falsePositives);
  return says(labels) && !says(sample) ? 'labels' : 'sample';
}

/** What the rates are at the cut points, in sentences. */
function Findings({
  estimates,
  source,
  thresholds: { mediumAt, botAt },
}: {
  estimates: ErrorRates;
  source: Source;
  thresholds: RiskThresholds;
}) {
  const [bot, medium] = [botAt, mediumAt].map((cut) => estimates[source].ratesByCut[cut]!);
  return (
    <div role="status" aria-label={`Error rates, ${SOURCES[source].toLowerCase()}`}>
      <ul className="space-y-1">
        <Finding rate={bot!.falsePositives} missing="People called bot">
          {(rate) => (
            <>
              Of 1,000 sessions of people, <b>{showRange(rate, 1_000)}</b> would be called bot (95 %).
            </>
          )}
        </Finding>
        <Finding rate={medium!.falsePositives}>
          {(rate) => (
            <>
              Of 1,000 sessions of people, <b>{showRange(rate, 1_000)}</b> would be medium or bot.
            </>
          )}
        </Finding>
        <Finding rate={bot!.precision} missing="Bots among those called bot">
          {(rate) => (
            <>
              Of 100 sessions called bot, <b>{showRange(rate, 100)}</b> are bots.
            </>
          )}
        </Finding>
        {source === 'sample' && (
          <Finding rate={bot!.recall} missing="Bots that are found">
            {(rate) => (
              <>
                Of 100 sessions of bots, <b>{showRange(rate, 100)}</b> would be called bot.
              </>
            )}
          </Finding>
        )}
      </ul>
    </div>
  );
}

function Finding({
  rate,
  missing,
  children,
}: {
  rate: ErrorRate | null;
  missing?: string;
  children: (rate: ErrorRate) => ReactNode;
}) {
  if (rate) return <li className="break-words">{children(rate)}</li>;
  return missing ? <li className="text-muted">{missing}: too few labels.</li> : null;
}

/** What the sample's rates rest on. */
function SampleBasis({ sample, days }: { sample: SampleRates; days: number }) {
  const { humans, bots, population } = sample;
  if (sample.days === 0)
    return (
      <p className="text-muted">
        Nothing of the random sample has been reviewed in the last {days} days. Only a random sample can tell how often
        the score is wrong among all sessions.
      </p>
    );
  return (
    <p className="text-muted">
      From {countWords(humans + bots, 'verdict')} ({humans} human, {bots} bot) on a random sample of{' '}
      {countWords(population, 'session')} of {countWords(sample.days, 'day')}. {noteSample(sample)}
    </p>
  );
}

/** What the labels' rates rest on, and what is wrong with them. */
function LabelBasis({ labels: { humans, bots }, days }: { labels: LabelRates; days: number }) {
  return (
    <p className="text-muted">
      From {countWords(humans + bots, 'label')} ({humans} human, {bots} bot) on sessions of at most the last {days}{' '}
      days. Reviewers chose these sessions, mostly because of their score. Among all sessions, fewer people are called
      bot than it says here, and bots are missing that nobody looked at.
    </p>
  );
}
