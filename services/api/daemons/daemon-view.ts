import { z } from 'zod';
import {
  type Daemon,
  DAEMON_STATUSES,
  type DaemonState,
  daemonNameSchema,
  type LastState,
  registrationSchema,
  statusOf,
} from '#shared/daemons/index.ts';
import { onePageOfRecords } from '../lists.ts';

const instant = z.iso.datetime();
const UNREPORTED = 'null when it has not said so.';

const OFFER_EXAMPLE = { capabilities: ['browser', 'code'], slots: 3, agents: null };
const EXAMPLE = {
  id: 'dmn_0196a1b2c3d49f8e7d6c',
  name: 'laptop',
  user: null,
  capabilities: null,
  slots: null,
  agents: null,
  enabled: true,
  createdAt: '2026-05-01T08:00:00.000Z',
  status: 'online' as const,
  running: 1,
  load: 0.2,
  lastBeatAt: '2026-05-01T09:00:00.000Z',
  connectedAt: '2026-05-01T08:10:00.000Z',
  hub: 'hub-7d9f-1-3fa2',
  host: 'adas-laptop',
  version: '0.1.0',
  memoryMb: 9200,
  tasks: ['0196a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'],
  offers: OFFER_EXAMPLE,
};

const fields = registrationSchema.shape;
const registrationFields = {
  name: daemonNameSchema.meta({ description: 'For people and for `requirements.targetDaemon`; unique in the tenant.' }),
  user: fields.user.meta({ description: 'Only tasks of this user of the tenant reach it; null for tasks of all.' }),
  capabilities: fields.capabilities.meta({ description: 'What it may declare; null for whatever it declares.' }),
  slots: fields.slots.meta({
    description: 'Tasks that it may run at once; null for as many as it declares. At most `hub.maxSlotsPerDaemon`.',
  }),
  agents: fields.agents.meta({ description: 'Agents whose tasks it may run; null for any.' }),
  enabled: fields.enabled.meta({ description: 'Whether its token opens anything.' }),
};

/** What a hub knows of a daemon. */
export const liveFields = {
  status: z.enum(DAEMON_STATUSES).meta({
    description: '`online` has a free slot, `busy` has none; `draining` takes nothing more; `offline` is not connected.',
  }),
  running: z.int().meta({ description: 'Attempts that it runs.' }),
  load: z
    .number()
    .nullable()
    .meta({ description: `How busy its machine is, 0 to 1; ${UNREPORTED}` }),
  lastBeatAt: instant.nullable().meta({ description: "Its last beat, by Redis's clock; null when it never connected." }),
  connectedAt: instant.nullable().meta({ description: 'When it connected; null while it is offline.' }),
  hub: z.string().nullable().meta({ description: 'The hub that holds its connection; null while it is offline.' }),
  host: z
    .string()
    .nullable()
    .meta({ description: `Its machine; ${UNREPORTED}` }),
  version: z
    .string()
    .nullable()
    .meta({ description: `Of its program; ${UNREPORTED}` }),
  memoryMb: z
    .number()
    .nullable()
    .meta({ description: `Memory that it has for tasks, MiB; ${UNREPORTED}` }),
  tasks: z.array(z.string()).meta({ description: 'The tasks that it runs.' }),
  offers: z
    .strictObject({
      capabilities: z.array(z.string()).meta({ description: 'What it declares and may.' }),
      slots: z.int().meta({ description: 'Tasks that it runs at once.' }),
      agents: z.array(z.string()).nullable().meta({ description: 'Agents whose tasks it runs; null for any.' }),
    })
    .nullable()
    .meta({ description: 'What it offered when it connected last, as far as its registration allows; null when it never did.' }),
};

/** A daemon as callers see it. */
export const daemonViewSchema = z
  .strictObject({
    id: z.string().meta({ description: 'Names it in addresses and records.' }),
    ...registrationFields,
    createdAt: instant.meta({ description: 'When it was registered.' }),
    ...liveFields,
  })
  .meta({ id: 'Daemon', description: 'A registered daemon, with what its hub knows of it.', examples: [EXAMPLE] });

export const newDaemonViewSchema = daemonViewSchema
  .extend({ token: z.string().meta({ description: 'What the daemon connects with. It cannot be read again.' }) })
  .meta({ id: 'DaemonWithToken', examples: [{ ...EXAMPLE, token: 'md_...' }] });

export const daemonListSchema = onePageOfRecords(daemonViewSchema, 'By name.').meta({ id: 'DaemonList' });

export const newDaemonSchema = z
  .strictObject({
    ...registrationFields,
    user: registrationFields.user.default(null),
    capabilities: registrationFields.capabilities.default(null),
    slots: registrationFields.slots.default(null),
    agents: registrationFields.agents.default(null),
    enabled: registrationFields.enabled.default(true),
  })
  .meta({ id: 'NewDaemon', examples: [{ name: 'laptop', capabilities: ['browser', 'code'], slots: 3 }] });

export const daemonPatchSchema = z
  .strictObject(registrationFields)
  .partial()
  .meta({ id: 'DaemonPatch', examples: [{ enabled: false }] });

type LiveView = z.infer<z.ZodObject<typeof liveFields>>;

/** What a hub knows of a daemon by Redis's clock, and of an offline one what was known last. */
export function viewLive(last: LastState | null, now: number): LiveView {
  const state = last?.state ?? null;
  const status = statusOf(last?.isConnected === true ? state : null, now);
  const live = state === null || status === 'offline' ? NOT_CONNECTED : viewConnection(state);
  if (state === null) return { ...NEVER_CONNECTED, ...live, status };
  const { host, version, memoryMb, capabilities, slots, agents } = state;
  const lastBeatAt = new Date(state.beatAt).toISOString();
  return { status, ...live, lastBeatAt, host, version, memoryMb, offers: { capabilities, slots, agents } };
}

type ConnectionView = Pick<LiveView, 'running' | 'load' | 'connectedAt' | 'hub' | 'tasks'>;

const NOT_CONNECTED: ConnectionView = { running: 0, load: null, connectedAt: null, hub: null, tasks: [] };
const NEVER_CONNECTED = { lastBeatAt: null, host: null, version: null, memoryMb: null, offers: null };

function viewConnection({ running, load, connectedAt, hub, tasks = [] }: DaemonState): ConnectionView {
  return { running, load, connectedAt: new Date(connectedAt).toISOString(), hub, tasks: [...tasks] };
}

export function viewDaemon(
  { tenant: _tenant, tokenGeneration: _generation, createdAt, ...daemon }: Daemon,
  last: LastState | null,
  now: number,
): z.infer<typeof daemonViewSchema> {
  return { ...daemon, createdAt: new Date(createdAt).toISOString(), ...viewLive(last, now) };
}
