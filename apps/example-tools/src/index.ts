export { type ExampleTools, type ExampleToolsOptions, startExampleTools } from './example-tools.ts';
