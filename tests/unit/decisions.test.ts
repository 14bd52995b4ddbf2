import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { courseSchema } from '../../contract/courses';
import { ERROR_CODES } from '../../contract/errors';
import { integrationSchema } from '../../contract/integrations';
import { sessionEventSchema } from '../../contract/session-events';
import { listSessionsInput, sessionLabelSchema, sessionSchema } from '../../contract/sessions';
import { statsSchema } from '../../contract/stats';
import { PLANS, TIERS } from '../../contract/tiers';
import { usageSchema } from '../../contract/usage';
import { deviceConfirmationSchema, userSchema } from '../../contract/users';

// What the decisions page says in lists and tables is read from it and compared with the contract.
const PAGE = readFileSync('docs/decisions.md', 'utf8');
const SPECIFICATION = readFileSync('docs/specification.md', 'utf8');

/** The text of a bullet, up to the next one. */
function readBullet(name: string): string {
  const start = PAGE.indexOf(`- **${name}**`);
  if (start < 0) throw new Error(`the page has no bullet ${name}`);
  return PAGE.slice(start + name.length + 6).split(/\n(?:- |\n)/)[0]!;
}

/** The names in a list such as `` `id, name|null, items[{a, b}]` (a remark)`, last` ``: of the outermost level. */
function readNames(text: string): string[] {
  let rest = text;
  // Half-open intervals first, whose brackets do not match.
  for (const nested of [/\[start, end\)/g, /\([^()]*\)/g, /\{[^{}]*\}/g])
    for (let before = ''; before !== rest; ) {
      before = rest;
      rest = rest.replace(nested, '');
    }
  const items = rest.replaceAll('`', '').split(',');
  return items.map((item) => item.trim().replace(/\|null|\[\]/g, '')).filter((item) => /^[a-z]\w*$/i.test(item));
}

const firstSentence = (text: string) => text.replace(/^:?\s*/, '').split(/\.(?:\s|$)/)[0]!;

describe('the decisions page', () => {
  it.each<[string, z.ZodObject]>([
    ['Session event', sessionEventSchema],
    ['User', userSchema],
    ['Course', courseSchema],
    ['Integration', integrationSchema],
    ['Stats', statsSchema],
    ['Usage', usageSchema],
  ])('lists the fields of %s', (name, schema) => {
    // After the bullet's name a remark may stand, and after the list a sentence.
    const list = firstSentence(readBullet(name))
      .replace(/^\s*\([^()]*\):/, '')
      .split(';')[0]!;
    expect(readNames(list)).toEqual(Object.keys(schema.shape));
  });

  it('names every field that a session has beyond the specification', () => {
    const specified = [
      ...SPECIFICATION.split('### Session (')[1]!
        .split('###')[0]!
        .matchAll(/^\| (\w+) \|/gm),
    ].map(([, name]) => name!);
    expect(specified).toContain('botScore');
    const added = Object.keys(sessionSchema.shape).filter((name) => !specified.includes(name));
    expect(readNames(firstSentence(readBullet('Session')).replace(/^adds /, ''))).toEqual(added);
  });

  it('lists the filters of sessions', () => {
    const filters = Object.keys(listSessionsInput.shape).filter((name) => !['cursor', 'pageSize'].includes(name));
    expect(
      readNames(
        readBullet('Session filters')
          .replace(/^:\s*/, '')
          .replace(/\.\s*$/, ''),
      ),
    ).toEqual(filters);
  });

  it.each<[string, z.ZodObject]>([
    ['Label', sessionLabelSchema],
    ['Device confirm', deviceConfirmationSchema],
  ])('shows the answer of %s', (name, schema) => {
    const [, shown] = /response `\{(.*?)\}`/.exec(readBullet(name))!;
    const names = [...shown!.matchAll(/(\w+)(?=[,:]|$)/g)].map(([word]) => word).filter((word) => /^[a-z]/.test(word));
    expect(names).toEqual(Object.keys(schema.shape));
  });

  it('has the tiers and plans of the contract', () => {
    const number = (text: string) => Number(text.replaceAll(',', ''));
    for (const [tier, limits] of Object.entries(TIERS)) {
      const row = new RegExp(`^\\| ${tier}\\b.*$`, 'm').exec(PAGE)![0].split('|').slice(2, 6).map(number);
      const caps = Object.values(PLANS).filter((plan) => plan.tier === tier);
      expect([tier, row]).toEqual([
        tier,
        [limits.keyLimitPerMinute, limits.sharedLimitPerMinute, limits.maxPageSize, caps[0]!.maxActiveWebhooks],
      ]);
    }
  });

  it('has the codes that name a field', () => {
    const [, row] = /^\| `details` \| (.*?): `\{ "field": … \}`/m.exec(PAGE)!;
    const codes = [...row!.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => code);
    const withField = Object.entries(ERROR_CODES).filter(([, { hasField }]) => hasField);
    expect(codes.toSorted()).toEqual(withField.map(([code]) => code).sort());
  });
});

describe('the table of error codes', () => {
  it('is the specification’s', () => {
    const rows = [...SPECIFICATION.matchAll(/^\| ([A-Z_]{5,}) \| (\d{3}) \|/gm)].map(([, code, status]) => [
      code,
      Number(status),
    ]);
    expect(rows).toHaveLength(13);
    expect(Object.entries(ERROR_CODES).map(([code, { status }]) => [code, status])).toEqual(rows);
  });
});
