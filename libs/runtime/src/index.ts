export * from './envelope.ts';
export * from './service.ts';
export * from './thread-reader.ts';
