export * from './integrations';
export * from './sessions';
export * from './usage';
export * from './users';
export * from './webhooks';
