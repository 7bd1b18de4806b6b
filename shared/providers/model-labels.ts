import type { Settings } from '../config/index.ts';
import { accountLabel } from './account.ts';
import type { ThrottledModel } from './throttle-scripts.ts';

/** What stands for accounts and models that the configuration does not name. */
const OTHER = 'other';
/** A name that may be a label. */
const LABEL = /^[\w.:/@+-]{1,100}$/;
/** Hosts of well-known providers, whoever calls them. Any other may be a tenant's own, of which there may be many. */
const PUBLIC_HOSTS: ReadonlySet<string> = new Set([
  'api.openai.com',
  'api.anthropic.com',
  'generativelanguage.googleapis.com',
  'api.x.ai',
  'openrouter.ai',
  'api.groq.com',
  'api.mistral.ai',
  'api.deepseek.com',
  'api.together.xyz',
  'api.moonshot.ai',
  'api.fireworks.ai',
  'api.cerebras.ai',
  'localhost:11434',
  '127.0.0.1:11434',
]);

type LabelSettings = Pick<Settings, 'providers' | 'models' | 'agents'>;

/** What metrics call a model of an account: names and hosts of the configuration, so that there are few and none of a tenant's. */
export function modelLabels(settings: LabelSettings, { account, model }: ThrottledModel): { account: string; model: string } {
  const { providers, models, agents } = settings;
  const label = accountLabel(account);
  const isKnown = Object.hasOwn(providers, account.name) || PUBLIC_HOSTS.has(label) || isCalled(settings, label);
  const isNamed = Object.hasOwn(models, model) || Object.values(agents).some((agent) => agent.kind === 'openai' && agent.model === model);
  return { account: isKnown && LABEL.test(label) ? label : OTHER, model: isNamed && LABEL.test(model) ? model : OTHER };
}

/** Whether an agent of the configuration calls this host. */
function isCalled({ agents }: LabelSettings, host: string): boolean {
  return Object.values(agents).some(
    (agent) => agent.kind === 'openai' && agent.baseUrl !== undefined && new URL(agent.baseUrl).host === host,
  );
}
