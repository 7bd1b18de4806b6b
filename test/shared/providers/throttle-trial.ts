import { randomUUID } from 'node:crypto';
import type { Settings } from '#shared/config/settings/settings.ts';
import type { ThrottledModel, ThrottlePorts } from '#shared/providers/throttle-scripts.ts';
import { accountOf } from '#shared/providers/account.ts';
import type { Admission, CallPermit, ModelCall } from '#shared/providers/model-call.ts';
import { ProviderThrottle } from '#shared/providers/provider-throttle.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { systemClock } from '#shared/time/index.ts';

type Provider = Settings['providers'][string];

interface Trial {
  ports: ThrottlePorts;
  target: ThrottledModel;
  throttle: ProviderThrottle;
  admit: (call?: Partial<ModelCall>, signal?: AbortSignal) => Promise<Admission>;
  /** Fails when the call has to wait. */
  permitOf: (call?: Partial<ModelCall>) => Promise<CallPermit>;
}

/** Calls of a model with these limits, each of a task and an account of its own unless said otherwise. */
export function openTrial(
  { redis, keys, log, config, metrics }: Parts,
  limits: Partial<Provider> = {},
  throttle: Partial<Settings['throttle']> = {},
): Trial {
  const baseUrl = `http://${randomUUID()}.test/v1`;
  const settings = {
    ...config.settings,
    providers: { local: { baseUrl, ...limits } },
    throttle: { ...config.settings.throttle, ...throttle },
  };
  const account = accountOf(settings.providers, { baseUrl, apiKey: 'key', isOperators: true });
  // An account of its own.
  const target = { account: { ...account, name: `local-${randomUUID()}` }, model: randomUUID() };
  const usual = (): ModelCall => {
    const place = { tenant: 'one', id: randomUUID(), token: 1 };
    return { ...target, place, band: 'normal', weight: 1, tokens: 100, isFirst: true };
  };
  const own = new ProviderThrottle({ redis, keys, settings, clock: systemClock, log, counts: metrics.counts });
  const admit: Trial['admit'] = (call = {}, signal = new AbortController().signal) => own.admitCall({ ...usual(), ...call }, signal);
  const permitOf: Trial['permitOf'] = async (call) => {
    const admission = await admit(call);
    if (admission.kind !== 'go') throw new Error(`The call waits: ${admission.because}`);
    return admission.permit;
  };
  return { ports: { redis, keys, settings }, target, throttle: own, admit, permitOf };
}
