import { z } from 'zod';
import { tenantLimitsPatchSchema } from '#shared/config/index.ts';
import type { Route } from '#shared/http/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import { describePreview, type LimitsPreview, previewLimits } from '#shared/actions/index.ts';
import { patchLimits, type TenantDirectory } from '#shared/tenants/index.ts';
import { fleetRoute } from '../fleet/fleet-owner.ts';
import { findTenant, tenantPathSchema } from '../tenants/tenants.ts';

const requestSchema = z
  .strictObject({ limits: tenantLimitsPatchSchema.meta({ description: "Instead of the tenant's own; what is not named stays." }) })
  .meta({ id: 'LimitsPreviewRequest', examples: [{ limits: { running: 5 } }] });

export const previewSchema = z
  .strictObject({
    sentence: z.string().meta({ description: 'The same for people.' }),
    tasks: z.int().meta({ description: 'Tasks that ran, of those accepted since `since`.' }),
    wouldHaveWaited: z.int().meta({ description: 'How many of them would have waited for a limit.' }),
    wouldHaveBeenRefused: z.int().meta({ description: 'How many of them would not have been accepted.' }),
    longestMs: z.int().meta({ description: 'The longest wait, in milliseconds.' }),
    byLimit: z
      .array(
        z.strictObject({
          limit: z.string().meta({ description: 'Name of the limit, such as `running` or `rates.user`.' }),
          waited: z.int().meta({ description: 'Tasks that would have waited for it.' }),
          refused: z.int().meta({ description: 'Tasks that it would have refused.' }),
          longestMs: z.int().meta({ description: 'The longest wait of these, or of a rate the longest `Retry-After`, in milliseconds.' }),
        }),
      )
      .meta({ description: 'The limit that most tasks met first. A task may have met several.' }),
    since: z.iso.datetime().meta({ description: 'A day ago, or when the oldest task that was read was accepted.' }),
  })
  .meta({
    id: 'LimitsPreview',
    examples: [
      {
        sentence:
          "With these limits, 12 of the last day's 240 tasks would have waited, the longest 4.2 s, and none would have been refused.",
        tasks: 240,
        wouldHaveWaited: 12,
        wouldHaveBeenRefused: 0,
        longestMs: 4200,
        byLimit: [{ limit: 'running', waited: 12, refused: 0, longestMs: 4200 }],
        since: '2026-05-01T09:00:00.000Z',
      },
    ],
  });

/** `POST /v1/tenants/:id/limits/preview`: what limits would have done to the tenant's tasks of the last day. Changes nothing. */
export function postLimitsPreview({ tenants, ledger }: { readonly tenants: TenantDirectory; readonly ledger: Ledger }): Route {
  return fleetRoute({
    method: 'post',
    path: '/v1/tenants/:id/limits/preview',
    isCostly: true,
    operationId: 'previewLimits',
    summary: 'What limits would have done to the tasks of the last day',
    description: 'Changes nothing. Reads the newest tasks, at most `limits.maxPreviewed`.',
    scope: 'admin',
    errors: ['tenant.not-found'],
    audit: 'never',
    request: { params: tenantPathSchema, body: requestSchema },
    responses: { 200: previewSchema },
    handle: async ({ params, body }) => {
      const { id } = await findTenant(tenants, params.id);
      const limits = patchLimits(tenants.limitsOf(id), body.limits);
      const preview = await previewLimits(ledger, id, limits, Date.now());
      return { status: 200, body: viewPreview(preview) };
    },
  });
}

/** A preview as callers see it. */
export function viewPreview(preview: LimitsPreview): z.infer<typeof previewSchema> {
  return { sentence: describePreview(preview), ...preview, since: new Date(preview.since).toISOString() };
}
