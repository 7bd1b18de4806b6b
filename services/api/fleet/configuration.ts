import { z } from 'zod';
import type { Config } from '#shared/config/index.ts';
import { describeConfiguration, installedVersion } from '#shared/config/index.ts';
import type { Route } from '#shared/http/index.ts';
import { fleetRoute } from './fleet-owner.ts';
import { onePageSchema } from '../lists.ts';

const settingSchema = z
  .strictObject({
    section: z.string().meta({ description: '`environment`, or the section of `muster.config.ts`.' }),
    name: z.string().meta({ description: 'The variable, or the path of the setting.' }),
    value: z.unknown().meta({ description: 'What holds; secrets and parts of addresses are `[redacted]`, null means not set.' }),
    default: z.unknown().meta({ description: 'What would hold without it; null when there is no default.' }),
    differs: z.boolean().meta({ description: 'Whether it was set to something else.' }),
  })
  .meta({
    id: 'Setting',
    examples: [{ section: 'limits', name: 'limits.maxConcurrent', value: 50, default: 1000, differs: true }],
  });

const configurationSchema = z
  .strictObject({
    version: z.string().meta({ description: 'Of Muster.' }),
    node: z.string().meta({ description: 'Of Node.' }),
    items: z.array(settingSchema).meta({ description: 'The environment first, then the settings by section.' }),
    nextCursor: onePageSchema,
  })
  .meta({ id: 'Configuration' });

/** `GET /v1/configuration`: what this process was configured with. */
export function getConfiguration({ config }: { readonly config: Config }): Route {
  return fleetRoute({
    method: 'get',
    path: '/v1/configuration',
    operationId: 'getConfiguration',
    summary: 'The effective configuration, and what differs from its defaults',
    description: 'That of the process that answers; workers on other machines may have another. Secrets are never shown.',
    scope: 'admin',
    responses: { 200: configurationSchema },
    handle: () => {
      const body = { version: installedVersion(), node: process.versions.node, items: describeConfiguration(config), nextCursor: null };
      return Promise.resolve({ status: 200, body });
    },
  });
}
