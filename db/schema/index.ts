export * from './integrations';
export * from './sessions';
export * from './webhooks';
