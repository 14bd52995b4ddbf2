import { describe, expect, it } from 'vitest';
import { document } from './shared-document';

/** The specification's delivery payloads. A `?` marks a nullable field. */
const PAYLOADS: Record<string, string[]> = {
  BotDetected: ['sessionId', 'botScore', 'scoredAt', 'userId?', 'contextId?', 'sessionUrl?'],
  SessionAnomaly: ['anomalyId', 'anomalyType', 'severity', 'detectedAt', 'sessionId?', 'userId?', 'metadata?'],
  ThresholdExceeded: ['metric', 'value', 'threshold', 'occurredAt', 'reason?'],
  AlertTriggered: ['alertId', 'severity', 'message', 'triggeredAt', 'alertUrl?'],
  ReportReady: [
    'reportId',
    'reportName',
    'templateId',
    'format',
    'recordCount?',
    'fileSize?',
    'completedAt',
    'expiresAt?',
    'downloadUrl',
  ],
  SessionCorrelated: ['sessionId', 'userId', 'correlationConfidence', 'correlatedAt', 'contextId?'],
  WritingSessionScored: ['sessionId', 'aiScore', 'scoredAt', 'userId?', 'documentId?', 'wordCount?'],
};

export function registerEventTests(): void {
  describe('the webhooks section', () => {
    const schemaOf = (name: string) => [
      'webhooks',
      name,
      'post',
      'requestBody',
      'content',
      'application/json',
      'schema',
    ];

    it('has each event and the test delivery', () => {
      expect(Object.keys(document.json.webhooks).sort()).toEqual([...Object.keys(PAYLOADS), 'TestDelivery'].sort());
    });

    it.each(Object.entries(PAYLOADS))('describes the payload of %s as the specification does', (name, fields) => {
      const { post } = document.json.webhooks[name];
      const { examples } = post.requestBody.content['application/json'];
      const schema = document.schemaAt(...schemaOf(name));
      const names = fields.map((field) => field.replace('?', ''));
      expect(Object.keys(schema.properties).sort()).toEqual(names.toSorted());
      expect(schema.required).toEqual(expect.arrayContaining(fields.filter((field) => !field.endsWith('?'))));
      const [sample] = Object.values<{ value: Record<string, unknown> }>(examples);
      document.expectValid(sample!.value, ...schemaOf(name));
      const validate = document.validatorAt(...schemaOf(name));
      for (const field of fields.filter((other) => !other.endsWith('?'))) {
        expect([field, validate({ ...sample!.value, [field]: null })]).toEqual([field, false]);
        const { [field]: _, ...without } = sample!.value;
        expect([field, validate(without)]).toEqual([field, false]);
      }
      const nulls = Object.fromEntries(names.filter((_, n) => fields[n]!.endsWith('?')).map((field) => [field, null]));
      expect(validate({ ...sample!.value, ...nulls })).toBe(true);
      // Adding a field is non-breaking.
      expect(validate({ ...sample!.value, later: 1 })).toBe(true);
    });

    it.each(Object.keys(PAYLOADS))('describes the headers of %s', (name) => {
      const { parameters } = document.json.webhooks[name].post;
      const required = [
        'X-Webhook-Event',
        'X-Webhook-Id',
        'X-Webhook-Delivery-Id',
        'X-Webhook-Timestamp',
        'X-Webhook-Signature',
        'webhook-id',
        'webhook-timestamp',
        'webhook-signature',
      ];
      const namesOf = (isRequired: boolean) =>
        parameters
          .filter((p: { in: string; required?: boolean }) => p.in === 'header' && (p.required ?? false) === isRequired)
          .map((p: { name: string }) => p.name);
      expect(namesOf(true).sort()).toEqual(required.toSorted());
      expect(namesOf(false)).toEqual(['X-Webhook-Signature-Previous', 'X-Webhook-Test']);
    });
  });

  describe('the test delivery in the webhooks section', () => {
    it('is the wrapper of the specification, with the test header', () => {
      const { parameters, requestBody } = document.json.webhooks.TestDelivery.post;
      expect(parameters.find((p: { name: string }) => p.name === 'X-Webhook-Test').required).toBe(true);
      const { examples } = requestBody.content['application/json'];
      const keys = ['webhooks', 'TestDelivery', 'post', 'requestBody', 'content', 'application/json', 'schema'];
      const schema = document.schemaAt(...keys);
      expect(schema.required).toEqual(['eventType', 'integrationId', 'timestamp', 'data']);
      expect(schema.properties.data.required).toEqual(['test', 'message', 'subscriptionId', 'deliveryId']);
      document.expectValid(examples.TestDelivery.value, ...keys);
    });
  });
}
