// The source of a test server, in this order: the one that the environment names, a container where an engine runs, or
// one built from package registries.
import { hasEngine, startContainer } from './containers.ts';
import { givenService, type ServiceRecipe, type Started, type StartOptions } from './service.ts';

/** `build` starts a built one; it reports itself when this machine cannot. */
export async function startFromSource(
  { name, variable }: Pick<ServiceRecipe, 'name' | 'variable'>,
  options: StartOptions,
  build: (options: StartOptions) => Promise<Started>,
): Promise<Started> {
  const given = process.env[variable];
  if (given !== undefined && options.own !== true) return givenService(given);
  if (options.built === true || !(await hasEngine())) return build(options);
  try {
    options.say(`${name}: starting a container`);
    return { available: true, service: await startContainer(name, options) };
  } catch (error) {
    options.say(`${name}: no container, so it is built: ${(error as Error).message}`);
    return build(options);
  }
}
