import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/schema-compatibility';
import {
  at,
  botDetected,
  created,
  drop,
  findAfter,
  integration,
  payload,
  query,
  sessions,
  threshold,
} from './compared-documents';

const ADDITIONS: [title: string, mutate: (document: Json) => void][] = [
  ['nothing', () => {}],
  [
    'a route, a method, an event',
    (d) => {
      d.paths['/v1/later'] = { get: sessions(d) };
      d.paths['/v1/sessions'].post = d.paths['/v1/webhooks'].post;
      d.webhooks.Later = d.webhooks.BotDetected;
    },
  ],
  [
    'an optional parameter, an optional request field, an optional body',
    (d) => {
      sessions(d).parameters.push({ in: 'query', name: 'later', schema: { type: 'string' } });
      created(d).properties.later = { type: 'string' };
      sessions(d).requestBody = { content: {} };
    },
  ],
  ['a required field that becomes optional', (d) => drop(created(d).required, (name) => name === 'eventType')],
  [
    'a wider request',
    (d) => {
      Object.assign(query(d, 'pageSize').schema, { type: 'number', minimum: 0, maximum: 1000 });
      query(d, 'label').schema.enum.push('unsure');
      delete query(d, 'riskLevel').schema.enum;
      Object.assign(created(d).properties.name, { maxLength: 200, minLength: 0 });
      delete threshold(d).properties.field.maxLength;
      created(d).properties.url = { anyOf: [{ type: 'null' }, created(d).properties.url] };
      threshold(d).properties.operator = {};
    },
  ],
  [
    'new fields in answers and payloads, even required',
    (d) => {
      integration(d).properties.later = { type: 'string' };
      integration(d).required.push('later');
      payload(d).properties.later = { type: 'string' };
      payload(d).required.push('later');
      botDetected(d).parameters.push({ in: 'header', name: 'X-Later', required: true, schema: { type: 'string' } });
    },
  ],
  [
    'new values in answers',
    (d) => {
      integration(d).properties.region.enum.push('ap');
      integration(d).properties.status = { type: 'string', enum: ['Active', 'Paused'] };
    },
  ],
  [
    'a response field that is no longer null',
    (d) => {
      d.components.schemas.Session.properties.userName.type = 'string';
      d.components.schemas.Session.properties.botScore.type.pop();
    },
  ],
  [
    'a new format of a response field',
    (d) => Object.assign(integration(d).properties.id, { format: 'uuid', minLength: 1 }),
  ],
  [
    'a status, a code, a header, a media type',
    (d) => {
      sessions(d).responses['402'] = sessions(d).responses['400'];
      const { content } = sessions(d).responses['400'];
      content['application/json'].examples.LATER = { value: { error: { code: 'LATER' } } };
      content['application/xml'] = {};
      sessions(d).responses['200'].headers['x-later'] = { schema: { type: 'string' } };
      d.components.schemas.Error.properties.error.properties.code.examples.push('LATER');
    },
  ],
  [
    'another way to authenticate, and none',
    (d) => {
      d.components.securitySchemes.later = { type: 'http', scheme: 'basic' };
      sessions(d).security.push({ later: [] });
      d.paths['/v1/integration'].get.security = [];
    },
  ],
  [
    'changed descriptions, examples, tags, servers, version',
    (d) => {
      Object.assign(d, { tags: [], servers: [{ url: 'https://example.com' }] });
      Object.assign(d.info, { title: 'x', description: 'x', version: '9.0.0.0' });
      Object.assign(sessions(d), { summary: 'x', description: 'x', tags: ['x'] });
      Object.assign(query(d, 'label'), { description: 'x', example: 'bot' });
      integration(d).properties.name.example = 'x';
      d.components.securitySchemes.api_key.description = 'x';
    },
  ],
  [
    'the same, written differently',
    (d) => {
      d.components.parameters = { Label: query(d, 'label') };
      sessions(d).parameters[sessions(d).parameters.indexOf(query(d, 'label'))] = {
        $ref: '#/components/parameters/Label',
      };
      d.paths['/v1/sessions'].parameters = sessions(d).parameters.splice(0, 3);
      const { responses } = d.paths['/v1/integration'].get;
      at(d, 'components', 'schemas', 'GetIntegrationResponse').properties.data = structuredClone(integration(d));
      responses['200'].headers['X-Request-Id'] = responses['200'].headers['x-request-id'];
      delete responses['200'].headers['x-request-id'];
      const { properties } = d.components.schemas.Session;
      properties.userName = { anyOf: [{ type: 'string' }, { type: 'null' }] };
      properties.riskLevel = { type: ['string', 'null'], enum: [null, 'human', 'medium', 'bot'] };
      properties.label = { oneOf: [{ type: 'null' }, { allOf: [properties.label.anyOf[0], { description: 'x' }] }] };
    },
  ],
];

export function registerAdditionTests(): void {
  describe('an addition is not a breaking change', () => {
    it.each(ADDITIONS)('%s', (_, mutate) => {
      expect(findAfter(mutate)).toEqual([]);
    });
  });
}
