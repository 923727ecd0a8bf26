// Judges a model's configuration before any completion is requested, so that the user who configures an agent sees what
// is wrong with it. The providers check the same rules again when they run.
import type { ModelConfig } from '@dormouse/ports';
import { unreachable } from '@dormouse/thread';
import { parseCompatibility } from './openai-compatible/compatibility.ts';
import { demoPaceProblems } from './demo/demo-pace.ts';
import { type ProviderName, providerNames } from './model.ts';
import { openAiApis } from './hosted/openai-model.ts';
import { parseScript, type SettingProblem } from './scripted/script.ts';

export type { SettingProblem } from './scripted/script.ts';

/** The problems of a model's configuration, by JSON Pointer below the API's `model`; empty when there are none. */
export function modelSettingProblems(model: ModelConfig): readonly SettingProblem[] {
  const provider = providerNames.find((name) => name === model.provider);
  if (provider === undefined) return [{ pointer: '/provider', detail: `must be one of ${providerNames.join(', ')}` }];
  return problemsFor(provider, model);
}

function problemsFor(provider: ProviderName, model: ModelConfig): readonly SettingProblem[] {
  switch (provider) {
    case 'demo':
      return demoPaceProblems(model);
    case 'scripted': {
      const script = parseScript(model.parameters['script']);
      return script.ok
        ? []
        : script.problems.map((problem) => ({ ...problem, pointer: `/parameters/script${problem.pointer}` }));
    }
    case 'openai-compatible':
      return [...nameProblems(model), ...endpointProblems(model)];
    case 'openai':
      return [...nameProblems(model), ...addressProblems(model), ...apiProblems(model)];
    case 'anthropic':
      return [...nameProblems(model), ...addressProblems(model)];
    default:
      return unreachable(provider);
  }
}

function endpointProblems(model: ModelConfig): readonly SettingProblem[] {
  const problems: SettingProblem[] = [...addressProblems(model)];
  if (model.baseUrl === null) problems.push({ pointer: '/base_url', detail: 'is required for this provider' });
  const compatibility = parseCompatibility(model.parameters['compatibility']);
  if (!compatibility.ok)
    problems.push(
      ...compatibility.problems.map((problem) => ({
        ...problem,
        pointer: `/parameters/compatibility${problem.pointer}`,
      })),
    );
  return problems;
}

const nameProblems = ({ name }: ModelConfig): readonly SettingProblem[] =>
  name === '' ? [{ pointer: '/name', detail: 'is required for this provider' }] : [];

const addressProblems = ({ baseUrl }: ModelConfig): readonly SettingProblem[] =>
  baseUrl === null || isHttpUrl(baseUrl)
    ? []
    : [{ pointer: '/base_url', detail: 'must be an http or https URL without user information' }];

const apiProblems = ({ parameters: { api } }: ModelConfig): readonly SettingProblem[] =>
  api === undefined || openAiApis.some((each) => each === api)
    ? []
    : [{ pointer: '/parameters/api', detail: `must be one of ${openAiApis.join(', ')}` }];

function isHttpUrl(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}
