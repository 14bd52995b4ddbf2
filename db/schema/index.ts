export * from './findings';
export * from './integrations';
export * from './rollups';
export * from './sessions';
export * from './staff';
export * from './usage';
export * from './users';
export * from './webhooks';
