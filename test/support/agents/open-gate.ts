import { CallUsages } from '#shared/models/call-usages.ts';
import { Latencies } from '#shared/models/latencies.ts';
import type { AttemptModelsOptions } from '#shared/models/attempt-models.ts';
import { settingsSchema, type SettingsInput } from '#shared/config/settings/settings.ts';
import type { WaitingPlace } from '#shared/providers/model-call.ts';
import { createLog } from '#shared/log/create-log.ts';
import { systemClock } from '#shared/time/clock.ts';

const flow = { tenant: 'acme', band: 'normal', weight: 1 } as const;

/** The place of a task that waits for a model, in tests. */
export function waitingPlace(model: string): WaitingPlace {
  return { account: { name: 'tested', endpoint: 'http://tested', limits: {} }, model, flow };
}

/** What model calls pass in tests without Redis: every call goes. */
export function openGate(settings: SettingsInput = {}): Omit<AttemptModelsOptions, 'signal' | 'onUsage'> {
  return {
    settings: settingsSchema.parse(settings),
    throttle: {
      admitCall: ({ account, model, tokens }) => Promise.resolve({ kind: 'go', permit: { account, model, tokens, id: 'p', at: 0, flow } }),
      reportCall: () => Promise.resolve(null),
      leave: () => Promise.resolve(),
    },
    circuits: {
      admit: () => Promise.resolve({ kind: 'go', isKnown: false, isProbe: false, name: 'tested' }),
      report: () => Promise.resolve(),
      release: () => Promise.resolve(),
    },
    spending: {
      reserve: ({ id, subject }, { max }) =>
        Promise.resolve({
          kind: 'reserved',
          call: { id, tenant: subject.tenant, holder: '', windows: [], waits: false },
          amountMicroUsd: max,
        }),
      settle: () => Promise.resolve(),
    },
    log: createLog({ level: 'silent', service: 'test', destination: { write: () => undefined } }),
    caller: {
      ref: { tenant: 'acme', id: '01JD0000000000000000000000', token: 1, lane: null },
      agent: 'tested',
      subject: { tenant: 'acme', agent: 'tested', session: null, scheduleId: null, rootTaskId: 'r', keyId: null },
      band: 'normal',
      weight: 1,
    },
    latencies: new Latencies(systemClock),
    usages: new CallUsages(),
    now: () => systemClock.monotonic(),
    onNote: () => undefined,
    redact: (text) => text,
  };
}
