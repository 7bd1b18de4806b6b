import type { Settings } from '../config/index.ts';
import type { ThrottledModel } from './throttle-scripts.ts';

/** What stands for accounts and models that the configuration does not name. */
const OTHER = 'other';
/** A name that may be a label. */
const LABEL = /^[\w.:/@+-]{1,100}$/;

/** What metrics call a model of an account: names of the configuration, so that there are few and none of a tenant's. */
export function modelLabels(
  { providers, models, agents }: Pick<Settings, 'providers' | 'models' | 'agents'>,
  { account, model }: ThrottledModel,
): { account: string; model: string } {
  const isNamed = Object.hasOwn(models, model) || Object.values(agents).some((agent) => agent.kind === 'openai' && agent.model === model);
  return {
    account: Object.hasOwn(providers, account.name) && LABEL.test(account.name) ? account.name : OTHER,
    model: isNamed && LABEL.test(model) ? model : OTHER,
  };
}
