export { allOperations } from './api/operations.ts';
export { openApiDocument } from './api/openapi.ts';
export { eventExamples } from './api/reference/event-examples.ts';
export { examples, type Example } from './api/reference/examples.ts';
export type { Schema } from './http/reference/schema-html.ts';
export { type Config, type ConfigReading, type DescribedSetting, describedSettings, readConfig } from './config.ts';
export { writeStream } from './http/stream/event-stream.ts';
export { createHttpServer, type HttpServer, type HttpServerOptions } from './http/server/http-server.ts';
export { codeEntry, errorPage, isProblemCode, type ProblemCode, problemCodes } from './http/problems/problem-codes.ts';
export { runService, type ServiceName } from './lifecycle/run-service.ts';
export { runStandalone, type StartExampleTools } from './lifecycle/run-standalone.ts';
export { type ArgumentValidator, createArgumentValidator } from './platform/argument-validator.ts';
export { contentCipher } from './platform/content-cipher.ts';
export { openPlatform, type Platform } from './platform/platform.ts';
export { createSealer } from './platform/sealer.ts';
export { type Services, servicesOf } from './services.ts';
export {
  type HonouredVariable,
  honouredVariables,
  type SettingReader,
  settingReaders,
  unitOf,
} from './setting-readers.ts';
export { version } from './version.ts';
