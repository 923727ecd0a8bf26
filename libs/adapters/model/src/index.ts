export * from './model.ts';
export * from './model-settings.ts';
