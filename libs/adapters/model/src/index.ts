export { standardOrigins } from './hosted-providers.ts';
export * from './model-catalog.ts';
export * from './model-dependencies.ts';
export * from './model.ts';
export * from './model-settings.ts';
