import { afterEach, describe, expect, it } from 'vitest';
import { createKeys } from '#shared/redis/keys.ts';
import { endSignIns, findPersonKey, type Person, personId, savePerson } from '#shared/tenants/person-store.ts';
import { SignInStore } from '#shared/tenants/sign-in-store.ts';
import { useRedisClient } from '../../support/redis/use-redis.ts';

const redis = await useRedisClient();
const parts = { redis, keys: createKeys(4) };
const signIns = new SignInStore({ ...parts, lifetimeMs: 60_000 });
const ANN = {
  issuer: 'https://login.example.com',
  subject: 'ann',
  name: 'Ann',
  email: null,
  roles: [{ tenant: 'default', scopes: ['read' as const] }],
  lastAt: 1000,
};
const ID = personId(ANN);
const BOUNDS = { maxPeople: 10, peopleRetentionMs: 60_000 };

afterEach(async () => {
  await redis.flushall();
});

const save = async (client = redis): Promise<Person> => await savePerson({ ...parts, redis: client }, ANN, BOUNDS);
const open = async (): Promise<string> => await signIns.open({ person: ID, tenant: 'default', session: 'of the provider', idToken: null });

/** The client of a process that goes on only when told, once it has read whether the person is known. */
function pausedAfterRead(resume: Promise<void>): { client: typeof redis; hasRead: Promise<void> } {
  const { promise: hasRead, resolve } = Promise.withResolvers<void>();
  const hget = async (key: string, field: string): Promise<string | null> => {
    const read = await redis.hget(key, field);
    resolve();
    await resume;
    return read;
  };
  const client = new Proxy(redis, {
    get: (target, name) => {
      if (name === 'hget') return hget;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  return { client, hasRead };
}

describe('the first sign-in of a person', () => {
  it('stays when another first sign-in of the same person was under way at the same time', async () => {
    const { promise: resume, resolve } = Promise.withResolvers<void>();
    const { client, hasRead } = pausedAfterRead(resume);
    const second = save(client);
    await hasRead;
    await save();
    const first = await open();
    resolve();
    await second;
    const other = await open();
    expect(await signIns.find(first)).toMatchObject({ id: ID });
    expect(await signIns.find(other)).toMatchObject({ id: ID });
  });

  it('gives the person a mark, by which all sign-ins of the person end', async () => {
    await save();
    const opened = await open();
    expect(await findPersonKey(parts, { person: ID, tenant: 'default', mark: '' })).toBeNull();
    await endSignIns(parts, ID);
    expect(await signIns.find(opened)).toBeNull();
  });
});
