import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { type Call, pageLimitSchema, route, type Route } from '#shared/http/index.ts';
import { type Keys, type RedisClient, type UnreadableRecord, unreadableSchema } from '#shared/redis/index.ts';
import {
  areDisabled,
  DEFAULT_TENANT,
  disablePerson,
  endSignIns,
  EVERYWHERE,
  iteratePeople,
  type Person,
  type PersonPlace,
  publicTenantId,
  readPersonById,
  SCOPES,
} from '#shared/tenants/index.ts';
import { fleetRoute } from '../fleet/fleet-owner.ts';
import { answerList, cursorSchema, nextCursorSchema } from '../lists.ts';

export interface PeoplePorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

/** `/v1/people`: who signed in at the identity provider. */
export function peopleRoutes(ports: PeoplePorts): Route[] {
  return [getPeople(ports), patchPerson(ports), deletePersonSignIns(ports)];
}

const EXAMPLE = {
  id: 'person_5b1c9e2f70aa4d31',
  name: 'Ann Example',
  email: 'ann@example.com',
  roles: [{ tenant: 'acme', scopes: ['operate' as const] }],
  disabled: false,
  firstSignInAt: '2026-05-01T09:00:00.000Z',
  lastSignInAt: '2026-05-04T07:30:00.000Z',
};

const personSchema = z
  .strictObject({
    id: z.string().meta({ description: 'The same for the same person at the same provider.' }),
    name: z.string().meta({ description: 'As the provider gives it.' }),
    email: z.string().nullable().meta({ description: 'As the provider gives it.' }),
    roles: z
      .array(
        z
          .strictObject({
            tenant: z.string().meta({ description: 'Where the role counts.' }),
            scopes: z.array(z.enum(SCOPES)).meta({ description: 'What the person may do there.' }),
          })
          .meta({ id: 'PersonRole' }),
      )
      .meta({ description: 'What the last sign-in gave: for keys of `default` in all tenants, else in your own.' }),
    disabled: z.boolean().meta({ description: 'Whether the person may not act in your tenant, or anywhere for keys of `default`.' }),
    firstSignInAt: z.iso.datetime().meta({ description: 'The first sign-in that is remembered.' }),
    lastSignInAt: z.iso.datetime().meta({ description: 'The last one.' }),
  })
  .meta({ id: 'Person', examples: [EXAMPLE] });

const listSchema = z
  .strictObject({
    items: z.array(personSchema).meta({ description: 'By the last sign-in, newest first.' }),
    nextCursor: nextCursorSchema,
    unreadable: unreadableSchema,
  })
  .meta({ id: 'PersonList' });

const CURSOR = /^(\d{1,15})\.(person_[0-9a-f]{16})$/;

/** `GET /v1/people`. */
function getPeople(ports: PeoplePorts): Route {
  return route({
    method: 'get',
    path: '/v1/people',
    operationId: 'listPeople',
    summary: 'People who signed in at the identity provider',
    description: 'Keys of the tenant `default` see all of them, others those with a role in their tenant.',
    scope: 'admin',
    request: { query: z.strictObject({ limit: pageLimitSchema, cursor: cursorSchema(CURSOR) }) },
    responses: { 200: listSchema },
    handle: async ({ query: { limit, cursor } }, call) => {
      const { found, unreadable } = await findPeople(ports, call, { limit, before: placeOf(cursor) });
      const page = found.slice(0, limit);
      const disabled = await areDisabled(
        ports,
        page.map(({ id }) => id),
        call.tenant,
      );
      const last = found.length > limit ? page.at(-1) : undefined;
      const next = last === undefined ? null : `${last.lastAt}.${last.id}`;
      const views = page.map((person, position) => viewPerson(person, call, disabled[position] === true));
      return answerList(views, { next, unreadable });
    },
  });
}

function placeOf(cursor: string | undefined): PersonPlace | null {
  const [, lastAt, id] = CURSOR.exec(cursor ?? '') ?? [];
  return lastAt === undefined || id === undefined ? null : { lastAt: Number(lastAt), id };
}

interface FoundPeople {
  /** One more than the limit where there is one. */
  found: Person[];
  unreadable: UnreadableRecord[];
}

async function findPeople(ports: PeoplePorts, call: Call, page: { limit: number; before: PersonPlace | null }): Promise<FoundPeople> {
  const found: Person[] = [];
  const unreadable: UnreadableRecord[] = [];
  for await (const read of iteratePeople(ports, page.before)) {
    found.push(...read.items.filter((person) => isVisible(person, call)));
    if (seesAll(call)) unreadable.push(...read.unreadable);
    if (found.length > page.limit) break;
  }
  return { found: found.slice(0, page.limit + 1), unreadable };
}

function seesAll({ tenant }: Call): boolean {
  return tenant === DEFAULT_TENANT;
}

function isVisible({ roles }: Person, call: Call): boolean {
  return seesAll(call) || roles.some(({ tenant }) => tenant === call.tenant);
}

const pathSchema = z.object({ id: z.string().max(100).meta({ description: "The person's id." }) });

/** Errors: `person.not-found`, also for people whom the caller does not see. */
async function findPerson(ports: PeoplePorts, call: Call, id: string): Promise<Person> {
  const person = await readPersonById(ports, id);
  if (person !== null && isVisible(person, call)) return person;
  throw new MusterError('person.not-found', 'There is no such person', { details: { person: id } });
}

/** `PATCH /v1/people/:id`. */
function patchPerson(ports: PeoplePorts): Route {
  return route({
    method: 'patch',
    path: '/v1/people/:id',
    operationId: 'changePerson',
    summary: 'Disable or enable a person',
    description: 'Open sign-ins of the person follow at once: for keys of `default` in all tenants, else in your own.',
    scope: 'admin',
    errors: ['person.not-found'],
    request: {
      params: pathSchema,
      body: z
        .strictObject({ disabled: z.boolean().meta({ description: 'True takes the roles, false gives them back.' }) })
        .meta({ id: 'PersonPatch', examples: [{ disabled: true }] }),
    },
    responses: { 200: personSchema },
    handle: async ({ params: { id }, body: { disabled } }, call) => {
      const person = await findPerson(ports, call, id);
      if (id === call.key?.id && disabled) throw new MusterError('request.invalid', 'You cannot disable yourself');
      await disablePerson(ports, id, { tenant: seesAll(call) ? EVERYWHERE : call.tenant, isDisabled: disabled });
      call.log.info({ event: 'person.changed', person: id, disabled, by: call.key?.id }, 'A person was disabled or enabled');
      const [isDisabled] = await areDisabled(ports, [id], call.tenant);
      return { status: 200, body: viewPerson(person, call, isDisabled === true) };
    },
  });
}

/** `DELETE /v1/people/:id/sign-ins`. */
function deletePersonSignIns(ports: PeoplePorts): Route {
  return fleetRoute({
    method: 'delete',
    path: '/v1/people/:id/sign-ins',
    operationId: 'endSignIns',
    summary: 'Sign a person out of all browsers',
    description: 'The roles stay: the person may sign in again.',
    scope: 'admin',
    errors: ['person.not-found'],
    request: { params: pathSchema },
    responses: { 204: z.null() },
    handle: async ({ params: { id } }, call) => {
      await findPerson(ports, call, id);
      await endSignIns(ports, id);
      call.log.info({ event: 'person.signed-out', person: id, by: call.key?.id }, 'The sign-ins of a person were ended');
      return { status: 204 };
    },
  });
}

function viewPerson({ id, name, email, roles, firstAt, lastAt }: Person, call: Call, disabled: boolean): z.infer<typeof personSchema> {
  const shown = roles.filter(({ tenant }) => seesAll(call) || tenant === call.tenant);
  return {
    id,
    name,
    email,
    roles: shown.map(({ tenant, scopes }) => ({ tenant: publicTenantId(tenant), scopes })),
    disabled,
    firstSignInAt: new Date(firstAt).toISOString(),
    lastSignInAt: new Date(lastAt).toISOString(),
  };
}
