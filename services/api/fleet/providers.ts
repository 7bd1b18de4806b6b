import { z } from 'zod';
import type { Settings } from '#shared/config/index.ts';
import type { Route } from '#shared/http/index.ts';
import { accountLabel, listThrottles, type ThrottleView } from '#shared/providers/index.ts';
import type { Keys, RedisClient } from '#shared/redis/index.ts';
import { answerList, onePageOf } from '../lists.ts';
import { fleetRoute } from './fleet-owner.ts';

const perMinute = (what: string): z.ZodNullable<z.ZodInt> =>
  z
    .int()
    .nullable()
    .meta({ description: `${what}; null when unknown.` });

const providerSchema = z
  .strictObject({
    id: z.string().meta({ description: 'Its id: accounts with other keys at the same host have others.' }),
    account: z.string().meta({ description: 'The name of the provider in the configuration, else the host that is called.' }),
    model: z.string().meta({ description: 'The model.' }),
    endpoint: z.string().meta({ description: 'The origin of its address.' }),
    requestsPerMinute: perMinute('Calls per minute that are allowed'),
    tokensPerMinute: perMinute('Tokens per minute that are allowed'),
    concurrent: perMinute('Calls at once that are allowed'),
    learned: z.boolean().meta({ description: 'Whether the limits come from answers only.' }),
    requests: z.int().meta({ description: 'Calls of the last minute.' }),
    tokens: z.int().meta({ description: 'Tokens of the last minute, with those booked for calls under way.' }),
    running: z.int().meta({ description: 'Calls under way.' }),
    waitingTenants: z.int().meta({ description: 'Tenants with tasks that wait for it, by range of priority.' }),
    block: z
      .strictObject({
        kind: z.enum(['cooldown', 'wall']).meta({ description: 'A cool-down ends with its time, a wall when a call gets past it.' }),
        scope: z.enum(['model', 'account', 'endpoint']).meta({ description: 'What the error named.' }),
        reason: z.string().meta({ description: 'The code of the provider, or the status.' }),
        since: z.iso.datetime().meta({ description: 'Since when.' }),
        until: z.iso.datetime().meta({ description: 'Until when; of a wall, when one call tries again.' }),
        probe: z.string().nullable().meta({ description: 'The call that tries now, or the tenant whose task does; null for none.' }),
      })
      .nullable()
      .meta({ description: 'Why no calls go; null while they go.' }),
    lastCallAt: z.iso.datetime().meta({ description: 'The last call that was to go.' }),
  })
  .meta({
    id: 'Provider',
    description: 'What a model of a provider account may be called, and is.',
    examples: [
      {
        id: 'w5yZ2a0Vx1k9QbTn',
        account: 'openai',
        model: 'gpt-5',
        endpoint: 'https://api.openai.com',
        requestsPerMinute: 500,
        tokensPerMinute: 200_000,
        concurrent: null,
        learned: false,
        requests: 412,
        tokens: 151_900,
        running: 9,
        waitingTenants: 2,
        block: null,
        lastCallAt: '2026-05-01T09:00:00.000Z',
      },
    ],
  });

const providersSchema = onePageOf(providerSchema, 'The last called first.').meta({ id: 'Providers' });

interface ProviderPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly config: { readonly settings: Settings };
}

/** `GET /v1/providers`: the throttles of all models that were called lately. */
export function getProviders({ redis, keys, config: { settings } }: ProviderPorts): Route {
  return fleetRoute({
    method: 'get',
    path: '/v1/providers',
    operationId: 'listProviders',
    summary: 'What models of providers may be called, and are',
    description: 'The last called first, at most `throttle.maxRecords`.',
    scope: 'read',
    responses: { 200: providersSchema },
    handle: async () => {
      const views = await listThrottles({ redis, keys, settings }, settings.throttle.maxRecords);
      return answerList(views.map(viewProvider));
    },
  });
}

function viewProvider(view: ThrottleView): z.infer<typeof providerSchema> {
  const { account, model, requestsPerMinute, tokensPerMinute, concurrent, requests, tokens, running, waitingTenants, block } = view;
  return {
    id: view.id,
    account: accountLabel(account),
    model,
    endpoint: account.endpoint,
    requestsPerMinute,
    tokensPerMinute,
    concurrent,
    learned: view.isLearned,
    requests,
    tokens,
    running,
    waitingTenants,
    block: block && {
      kind: block.kind,
      scope: block.scope,
      reason: block.reason,
      since: isoOf(block.sinceMs),
      until: isoOf(block.untilMs),
      probe: block.probe,
    },
    lastCallAt: isoOf(view.lastCallMs),
  };
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
