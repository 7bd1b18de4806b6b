import { accountLabel, describeChanges, listThrottles, type ParameterChanges } from '../providers/index.ts';
import type { RegistryPorts } from '../queue/index.ts';
import type { CheckResult } from './check.ts';

/** Models that are looked at. */
const MAX_MODELS = 1000;

/** Shows which parameters servers of models refused, so that calls go without them or by another name. Nothing where none did. */
export async function checkModels(fleet: RegistryPorts): Promise<CheckResult[]> {
  const models = await listThrottles(fleet, MAX_MODELS);
  const refused = models.filter(({ parameters }) => Object.keys(parameters).length > 0);
  return refused.map(({ account, model, parameters }) => {
    const detail = `${model} at ${accountLabel(account)}: ${describeChanges(parameters).join('; ')}${weaknessOf(parameters)}`;
    return { name: 'Model parameters', state: weaknessOf(parameters) === '' ? 'ok' : 'warn', detail };
  });
}

/** What the fleet does without it. */
function weaknessOf(parameters: ParameterChanges): string {
  if (parameters['stream_options']?.as === null) return ': its tokens are estimated where it does not report them';
  const hasBound = ['max_tokens', 'max_completion_tokens'].every((name) => parameters[name]?.as !== null);
  return hasBound ? '' : ': its answers have no bound; the agent\'s "parameters" can name the one that it takes';
}
