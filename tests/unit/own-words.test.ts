import { describe, expect, it } from 'vitest';
import { EVENTS } from '../../contract/events';
import { findingSchema } from '../../contract/evidence';
import { LIST_INPUTS } from '../../contract/list-queries';
import { PARAMETER_NAMES, REPORT_TEMPLATES } from '../../contract/reports';
import { SESSION_EVENT_TYPES } from '../../contract/session-events';
import { writingEvidenceSchema } from '../../contract/writing';
import { RULES } from '../../server/detection/rules/table';
import { isOwnWord } from '../../server/domain/own-words';
import { RULE_DESCRIPTIONS } from '../../server/findings/rules';
import { alertFiredFact } from '../../server/pipeline/alert-fired';
import { TEMPLATES } from '../../server/reports/templates';
import { readSources } from '../support/imports';

// What is no word of the product here, a user could choose as their id, and the erasure would take it out of everybody's data.

/** The fields of the details of audit entries that are written out where the entry is recorded. */
const listDetails = () =>
  readSources(['server']).flatMap(({ text }) =>
    [...text.matchAll(/\bdetails(?::| =) \{([^{}]*)\}/g)].flatMap(([, fields]) =>
      fields!.split(',').flatMap((field) => field.match(/^\s*(\w+)\s*(?::|$)/)?.[1] ?? []),
    ),
  );

describe('the words of the product', () => {
  it.each([
    ['the fields of webhook payloads', Object.values(EVENTS).flatMap(({ payload }) => Object.keys(payload.shape))],
    ['the fields of findings', Object.keys(findingSchema.shape)],
    ['the rules of scores', RULES.map(({ rule }) => rule.flag)],
    ['the fields of the evidence of texts', Object.keys(writingEvidenceSchema.shape)],
    [
      'the fields of the metadata of anomalies',
      RULE_DESCRIPTIONS.flatMap(({ metadata }) => metadata.map((field) => field.split(':')[0]!)),
    ],
    ['the kinds and the metadata of events', [...SESSION_EVENT_TYPES, 'trusted', 'signedIn', 'length', 'hidden']],
    ['the parameters of reports', [...PARAMETER_NAMES, ...REPORT_TEMPLATES]],
    ['the columns of reports', Object.values(TEMPLATES).flatMap(({ columns }) => columns.map(({ key }) => key))],
    ['the filters of lists', Object.values(LIST_INPUTS).flatMap(({ shape }) => Object.keys(shape))],
    ['the fields of alerts that wait', Object.keys(alertFiredFact.schema.shape)],
    ['the fields of the audit log', listDetails()],
    ['systems and browsers', ['Windows', 'Chrome', 'Firefox', 'desktop']],
  ])('have %s', (_kind, words) => {
    expect(words.length).toBeGreaterThan(3);
    expect(words.filter((word) => !isOwnWord(word))).toEqual([]);
  });

  it.each(['jsmith', 'ada-lovelace', 'lovelace', 'garcia', 'ada.lovelace', 'stu-102934'])('do not have %j', (id) => {
    expect(isOwnWord(id)).toBe(false);
  });
});
