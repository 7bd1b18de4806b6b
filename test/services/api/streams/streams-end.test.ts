import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFleet, type Fleet } from '../../../support/fleet/open-fleet.ts';

/** Readers are at one process, what ends them happens at others. */
let fleet: Fleet;
let readersUrl: string;
let otherUrl: string;
let dashboardUrl: string;

const STREAM_CHECK_MS = 200;

beforeAll(async () => {
  fleet = await openFleet({ settings: { http: { streamCheckMs: STREAM_CHECK_MS } } });
  readersUrl = (await fleet.start('api')).url;
  otherUrl = (await fleet.start('api')).url;
  dashboardUrl = (await fleet.start('dashboard')).url;
  // Three processes start on a machine with much to do.
}, 60_000);
afterAll(async () => {
  await fleet.stop();
});

interface Reader {
  /** Its whole text, once the server ended it. */
  ended: Promise<string>;
  /** Whether it is still open. */
  isOpen(): boolean;
}

async function read(path: string, headers: Record<string, string>): Promise<Reader> {
  const response = await fetch(`${readersUrl}${path}`, { headers });
  expect(response.status).toBe(200);
  let open = true;
  const ended = response.text().finally(() => {
    open = false;
  });
  // One that is still open when the fleet is stopped is cut.
  ended.catch(() => undefined);
  return { ended, isOpen: () => open };
}

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
const other = async (method: string, path: string, body?: object): Promise<number> =>
  (await fleet.client.call(method, path, { url: otherUrl, body })).status;

/** A task that does not end: nobody works here. */
const submit = async (key: string): Promise<string> => await fleet.client.submit({ agent: 'echo' }, { key });

async function keyOf(tenant: string, scopes: string[] = ['submit']): Promise<{ id: string; secret: string }> {
  return (await fleet.client.make(`/v1/tenants/${tenant}/keys`, { name: 'reader', scopes })) as { id: string; secret: string };
}

/** The cookie of a browser that signs in at the dashboard. */
async function signIn(key: string): Promise<string> {
  const response = await fetch(`${dashboardUrl}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ key }),
  });
  expect(response.status).toBe(303);
  return response.headers.get('set-cookie')?.split(';')[0] ?? '';
}

describe('the streams of a process end', () => {
  it('when their key is revoked at another one, and those of other keys go on', async () => {
    const { id, secret } = await keyOf('default');
    const task = await submit(secret);
    const staying = await read('/v1/notifications/stream', bearer(fleet.adminKey));
    const readers = [
      await read('/v1/notifications/stream', bearer(secret)),
      await read(`/v1/tasks/${task}/stream`, bearer(secret)),
      await read('/v1/sessions/s/stream', bearer(secret)),
    ];
    expect(await other('DELETE', `/v1/tenants/default/keys/${id}`)).toBe(204);
    await Promise.all(readers.map(({ ended }) => ended));
    expect((await fleet.client.call('GET', '/v1/notifications/stream', { url: readersUrl, key: secret })).status).toBe(401);
    expect(staying.isOpen()).toBe(true);
  });

  it.each([
    ['disabled', 'PATCH', { disabled: true }, 403],
    ['deleted', 'DELETE', undefined, 401],
  ] as const)('when their tenant is %s at another one', async (name, method, body, status) => {
    await fleet.client.make('/v1/tenants', { id: name });
    const { secret } = await keyOf(name);
    const task = await submit(secret);
    const readers = [await read('/v1/notifications/stream', bearer(secret)), await read(`/v1/tasks/${task}/stream`, bearer(secret))];
    expect(await other(method, `/v1/tenants/${name}`, body)).toBeLessThan(300);
    await Promise.all(readers.map(({ ended }) => ended));
    expect((await fleet.client.call('GET', '/v1/notifications/stream', { url: readersUrl, key: secret })).status).toBe(status);
  });

  it('when the token of their visitor is ended at another one', async () => {
    const { id, token } = await fleet.client.make('/v1/sessions/hall/visitors', {});
    const reader = await read('/v1/sessions/hall/stream', bearer(token));
    expect(await other('DELETE', `/v1/sessions/hall/visitors/${id}`)).toBe(204);
    await reader.ended;
  });

  it('when their browser signs out at the dashboard, and those of another browser with the same key go on', async () => {
    const leaving = await signIn(fleet.adminKey);
    const staying = await read('/v1/notifications/stream', { cookie: await signIn(fleet.adminKey) });
    const task = await submit(fleet.adminKey);
    const readers = [
      await read('/v1/notifications/stream', { cookie: leaving }),
      await read(`/v1/tasks/${task}/stream`, { cookie: leaving }),
    ];
    await fetch(`${dashboardUrl}/sign-out`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: leaving, 'sec-fetch-site': 'same-origin' },
    });
    await Promise.all(readers.map(({ ended }) => ended));
    expect(staying.isOpen()).toBe(true);
  });
});
