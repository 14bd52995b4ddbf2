import type { ReactNode } from 'react';
import type { RiskLevel } from '../../../contract/sessions';
import { joinClasses } from './classes';

const TONES = {
  neutral: 'bg-sunken text-muted',
  accent: 'bg-accent-soft text-accent',
  bot: 'bg-bot-soft text-bot',
  medium: 'bg-medium-soft text-medium',
  human: 'bg-human-soft text-human',
  danger: 'bg-danger-soft text-danger',
};
export type Tone = keyof typeof TONES;

/** A short coloured label. */
export function Badge({ tone = 'neutral', children, title }: { tone?: Tone; children: ReactNode; title?: string }) {
  return (
    <span
      title={title}
      className={joinClasses(
        'inline-flex h-5 max-w-full items-center gap-1 whitespace-nowrap rounded px-1.5 font-medium text-xs',
        TONES[tone],
      )}
    >
      {typeof children === 'string' ? <span className="truncate">{children}</span> : children}
    </span>
  );
}

export const RISK_WORDS: Record<RiskLevel, string> = { bot: 'Bot', medium: 'Medium', human: 'Human' };

const SHAPES: Record<RiskLevel, string> = {
  bot: 'M4 .5 8 7.5H0z',
  medium: 'M4 0 8 4 4 8 0 4z',
  human: 'M4 .5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z',
};

/** A triangle, diamond or circle, so that risk can be told apart without colour. */
export function RiskShape({ level }: { level: RiskLevel }) {
  return (
    <svg width={8} height={8} viewBox="0 0 8 8" aria-hidden="true" className="shrink-0 fill-current">
      <path d={SHAPES[level]} />
    </svg>
  );
}

/** The risk class of a session or user. */
export function RiskBadge({ level }: { level: RiskLevel | null }) {
  if (level === null) return <Badge title="Not scored yet">Unscored</Badge>;
  return (
    <Badge tone={level}>
      <RiskShape level={level} />
      {RISK_WORDS[level]}
    </Badge>
  );
}
