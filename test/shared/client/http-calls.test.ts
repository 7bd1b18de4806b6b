import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClient, ClientError, type ClientOptions } from '#shared/client/index.ts';
import { type FakeHttpEndpoint, startFakeHttpEndpoint } from '../../support/fake-http-endpoint.ts';
import { waitFor } from '../../support/wait-for.ts';

const ACCEPTED = { id: '01KQS1C8ZV0G3P5T7W9X1Y2Z3A', status: 'queued', position: 0, estimatedStartMs: 0, pressure: null };

type Respond = (response: ServerResponse) => void;

const accept: Respond = (response) => void response.writeHead(202, { 'Content-Type': 'application/json' }).end(JSON.stringify(ACCEPTED));
const refuse =
  (status: number, code: string, headers: Record<string, string> = {}): Respond =>
  (response) =>
    void response.writeHead(status, headers).end(JSON.stringify({ code, detail: `as ${code}`, details: { limit: 1 } }));
const cut: Respond = (response) => void response.destroy();
const half: Respond = (response) => {
  response.writeHead(202, { 'Content-Length': '1000' }).write('{"id":');
  setTimeout(() => response.destroy(), 10);
};

/** Answers one request after the other so, and the rest as the last. */
async function endpointThat(...answers: Respond[]): Promise<FakeHttpEndpoint> {
  const endpoint = await startFakeHttpEndpoint((response) => (answers.length > 1 ? answers.shift() : answers[0])?.(response));
  onTestFinished(() => endpoint.close());
  return endpoint;
}

const clientOf = ({ url }: FakeHttpEndpoint, options: Partial<ClientOptions> = {}): ReturnType<typeof createClient> =>
  createClient({ url: `${url}/`, key: 'mk_test', ...options });

const keysOf = ({ requests }: FakeHttpEndpoint): unknown[] => requests.map(({ headers }) => headers['idempotency-key']);

describe('a call that can be repeated', () => {
  it.each([
    { what: 'a 429', first: refuse(429, 'limit.rate', { 'Retry-After': '1' }), leastMs: 1000 },
    { what: 'a 503', first: refuse(503, 'unavailable.redis', { 'Retry-After': '1' }), leastMs: 1000 },
    { what: 'a 502 of a proxy', first: refuse(502, ''), leastMs: 0 },
    { what: 'a connection that is cut before its answer', first: cut, leastMs: 0 },
    { what: 'an answer that is cut in two', first: half, leastMs: 0 },
  ])('is sent again under its own key after $what', async ({ first, leastMs }) => {
    const endpoint = await endpointThat(first, accept);
    const startedAt = performance.now();
    const task = await clientOf(endpoint).send('echo', 'hello');
    expect(task.id).toBe(ACCEPTED.id);
    expect(endpoint.requests).toHaveLength(2);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(leastMs);
    const [key, again] = keysOf(endpoint);
    expect(key).toMatch(/^[0-9a-f]{32}$/);
    expect(again).toBe(key);
    expect(endpoint.requests[0]).toMatchObject({ path: '/v1/tasks', headers: { authorization: 'Bearer mk_test' } });
  });

  it('has another key than the next one, or the key that it is given', async () => {
    const endpoint = await endpointThat(accept);
    const client = clientOf(endpoint);
    await Promise.all([client.send('echo', '1'), client.send('echo', '2')]);
    await client.send('echo', '3', { idempotencyKey: 'order-17' });
    expect(new Set(keysOf(endpoint)).size).toBe(3);
    expect(keysOf(endpoint)).toContain('order-17');
    expect(JSON.parse(endpoint.requests.at(-1)?.body ?? '')).toEqual({ agent: 'echo', input: '3' });
  });
});

describe('a call rejects', () => {
  it('with code, status and details of a refusal, at once', async () => {
    const endpoint = await endpointThat(refuse(422, 'agent.unknown'));
    const error = await clientOf(endpoint)
      .send('nobody', 'hello')
      .catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(ClientError);
    expect(error).toMatchObject({ code: 'agent.unknown', status: 422, details: { limit: 1 }, message: 'as agent.unknown', task: null });
    expect(endpoint.requests).toHaveLength(1);
  });

  it('at once when it would have to wait for longer than it may', async () => {
    const endpoint = await endpointThat(refuse(429, 'limit.budget', { 'Retry-After': '3600' }));
    await expect(clientOf(endpoint).send('echo', 'hello')).rejects.toMatchObject({ code: 'limit.budget', retryAfterMs: 3_600_000 });
    expect(endpoint.requests).toHaveLength(1);
  });

  it('when nothing answers for as long as it may be tried', async () => {
    const endpoint = await endpointThat(cut);
    const sending = clientOf(endpoint, { retryForMs: 600 }).send('echo', 'hello');
    await expect(sending).rejects.toMatchObject({ code: 'client.unreachable', status: null });
    expect(endpoint.requests.length).toBeGreaterThan(1);
  });

  it('when one answer takes too long', async () => {
    const endpoint = await endpointThat(() => undefined);
    const sending = clientOf(endpoint, { retryForMs: 0, timeoutMs: 50 }).send('echo', 'hello');
    await expect(sending).rejects.toMatchObject({ code: 'client.unreachable' });
  });

  it('without sending it again when that could do something twice', async () => {
    const endpoint = await endpointThat(cut);
    await expect(clientOf(endpoint).sessions.stop('team')).rejects.toMatchObject({ code: 'client.unreachable' });
    expect(endpoint.requests).toHaveLength(1);
  });

  it('when something else than Muster answers', async () => {
    const endpoint = await endpointThat((response) => response.end('<html>'));
    await expect(clientOf(endpoint).send('echo', 'hello')).rejects.toMatchObject({ code: 'client.unreadable', status: 200 });
  });

  it('instead of following a redirect with its key', async () => {
    const target = await endpointThat(accept);
    const endpoint = await endpointThat((response) => response.writeHead(307, { Location: `${target.url}/v1/tasks` }).end());
    await expect(clientOf(endpoint, { retryForMs: 0 }).send('echo', 'hello')).rejects.toMatchObject({ code: 'client.unreachable' });
    expect(target.requests).toEqual([]);
  });

  it('with the reason of its signal, before, within and between tries', async () => {
    const reason = new Error('enough');
    const before = await endpointThat(accept);
    await expect(clientOf(before).send('echo', 'hello', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(before.requests).toEqual([]);
    for (const respond of [(): void => undefined, refuse(503, 'unavailable.redis', { 'Retry-After': '20' })]) {
      const endpoint = await endpointThat(respond);
      const control = new AbortController();
      const sending = clientOf(endpoint).send('echo', 'hello', { signal: control.signal });
      await waitFor(() => endpoint.requests.length > 0, { deadlineMs: 5000, what: 'the request' });
      control.abort(reason);
      await expect(sending).rejects.toBe(reason);
    }
  });

  it('for an address that is none', () => {
    expect(() => createClient({ url: 'localhost', key: 'k' })).toThrow(expect.objectContaining({ code: 'client.invalid' }));
  });
});
