import { z } from 'zod';
import {
  createWebhookInput,
  previewThresholdInput,
  rotatedSecretSchema,
  rotateSecretInput,
  thresholdPreviewSchema,
  updateWebhookInput,
  webhookHealthSchema,
  webhookIdInput,
  webhookListSchema,
  webhookSchema,
  webhookTestSchema,
  webhookWithSecretSchema,
} from '../../contract/webhooks';
import { getWebhookHealth, previewThreshold } from '../webhooks/insights';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
} from '../webhooks/subscriptions';
import { integrationProcedure, router } from './trpc';

const tags = ['Webhooks'];

export const webhooksRouter = router({
  list: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/webhooks',
        operationId: 'listWebhooks',
        tags,
        summary: 'List webhook subscriptions',
        description: 'All of the integration’s subscriptions, oldest first.',
      },
    })
    .input(z.object({}))
    .output(webhookListSchema)
    .query(({ ctx }) => listWebhooks(ctx.domain)),

  create: integrationProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/v1/webhooks',
        operationId: 'createWebhook',
        tags,
        summary: 'Create a webhook subscription',
        description:
          'Each call creates a new subscription. Its signing secret is in this answer and never shown again.',
      },
      scope: 'webhooks:write',
      errors: ['INVALID_URL', 'INVALID_EVENT_TYPE', 'PLAN_LIMIT_REACHED'],
    })
    .input(createWebhookInput)
    .output(webhookWithSecretSchema)
    .mutation(({ ctx, input }) => createWebhook(ctx.domain, input)),

  get: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/webhooks/{id}',
        operationId: 'getWebhook',
        tags,
        summary: 'Get a webhook subscription',
        description: 'One subscription, without its secret.',
      },
      errors: ['NOT_FOUND'],
    })
    .input(webhookIdInput)
    .output(webhookSchema)
    .query(({ ctx, input }) => getWebhook(ctx.domain, input)),

  previewThreshold: integrationProcedure
    .input(previewThresholdInput)
    .output(thresholdPreviewSchema)
    .query(({ ctx, input }) => previewThreshold(ctx.domain, input)),

  getHealth: integrationProcedure
    .input(webhookIdInput)
    .output(webhookHealthSchema)
    .query(({ ctx, input }) => getWebhookHealth(ctx.domain, input)),

  update: integrationProcedure
    .meta({
      openapi: {
        method: 'PATCH',
        path: '/v1/webhooks/{id}',
        operationId: 'updateWebhook',
        tags,
        summary: 'Update a webhook subscription',
        description:
          'Applies the fields that are present. Enabling a disabled subscription needs a free slot of the plan, resets its failures and sends what waited.',
      },
      scope: 'webhooks:write',
      errors: ['INVALID_URL', 'INVALID_EVENT_TYPE', 'NOT_FOUND', 'PLAN_LIMIT_REACHED'],
    })
    .input(updateWebhookInput)
    .output(webhookSchema)
    .mutation(({ ctx, input }) => updateWebhook(ctx.domain, input)),

  delete: integrationProcedure
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/v1/webhooks/{id}',
        operationId: 'deleteWebhook',
        tags,
        summary: 'Delete a webhook subscription',
        description: 'Ends what was still to be sent to it and frees its slot at once. A repeat gives 404.',
      },
      scope: 'webhooks:write',
      errors: ['NOT_FOUND'],
    })
    .input(webhookIdInput)
    .output(z.void())
    .mutation(({ ctx, input }) => deleteWebhook(ctx.domain, input)),

  rotateSecret: integrationProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/v1/webhooks/{id}/rotate-secret',
        operationId: 'rotateWebhookSecret',
        tags,
        summary: 'Rotate the signing secret',
        description:
          'The old secret is invalid at once, also for attempts that are still to come, unless the body asks for a grace period. The new one is in this answer and never shown again. The body may be left out.',
      },
      scope: 'webhooks:write',
      errors: ['NOT_FOUND'],
    })
    .input(rotateSecretInput)
    .output(rotatedSecretSchema)
    .mutation(({ ctx, input }) => rotateWebhookSecret(ctx.domain, input)),

  test: integrationProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/v1/webhooks/{id}/test',
        operationId: 'testWebhook',
        tags,
        summary: 'Send a test delivery',
        description:
          'Sends one synthetic delivery with `X-Webhook-Test: true`, signed with the current secret, and answers its outcome after at most 30 seconds. It is not retried and counts for nothing.',
      },
      scope: 'webhooks:write',
      isLong: true,
      errors: ['NOT_FOUND'],
    })
    .input(webhookIdInput)
    .output(webhookTestSchema)
    .mutation(({ ctx, input }) => testWebhook(ctx.domain, input)),
});
