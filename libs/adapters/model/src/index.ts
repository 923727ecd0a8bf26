export { standardOrigins } from './hosted/hosted-providers.ts';
export * from './model-catalog.ts';
export * from './model-dependencies.ts';
export * from './model.ts';
export * from './model-settings.ts';
