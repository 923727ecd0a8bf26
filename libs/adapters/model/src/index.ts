export * from './model-dependencies.ts';
export * from './model.ts';
export * from './model-settings.ts';
