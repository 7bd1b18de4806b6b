import express from 'express';
import { sign } from '@octokit/webhooks-methods';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, type AgentFunction } from '#shared/config/define-config.ts';
import { TaskFailure } from '#shared/errors/task-failure.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { createKey } from '#shared/tenants/key-store.ts';
import { createApiService } from '../../../services/api/create-api-service.ts';
import { createWebhooksService } from '../../../services/webhooks/create-webhooks-service.ts';
import { awaitEnd } from '../../support/agents/await-task.ts';
import { startFakeModel } from '../../support/agents/fake-model.ts';
import { callApi, type CallOptions, type Reply } from '../../support/call-api.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { startFakeHttpEndpoint } from '../../support/fake-http-endpoint.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { useRedis } from '../../support/redis/use-redis.ts';
import { serveApp } from '../../support/serve-app.ts';
import { startCollector, type CollectedSpan } from '../../support/fleet/span-collector.ts';
import { useWorker } from '../../support/use-worker.ts';
import { waitFor } from '../../support/wait-for.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLERS = `00-${TRACE}-00f067aa0ba902b7-01`;
const PROMPT = 'please note the number of the secret';

const failing: AgentFunction = async ({ attempt }, { step }) => {
  await step('first', () => 1);
  if (attempt === 1) throw new TaskFailure('UPSTREAM_ERROR', 'it failed with a secret');
};
const gate = { open: (): void => undefined };
const held: AgentFunction = async (_task, { input }) => {
  await new Promise<void>((resolve) => (gate.open = resolve));
  await input();
};
const delegating: AgentFunction = async (_task, { delegate }) => (await delegate('echo', 'below')).output ?? '';
const noted: string[] = [];
const note = defineTool({
  description: 'Notes a number.',
  input: z.object({ n: z.number() }),
  run: ({ n }, { trace }) => {
    noted.push(trace.traceparent);
    return { noted: n };
  },
});

const redis = await useRedis();
const collector = closeAfterTests(await startCollector());
const model = closeAfterTests(await startFakeModel());
const receiver = closeAfterTests(await startFakeHttpEndpoint((response) => response.end()));
const parts = closeAfterTests(
  await openTestParts({
    redisUrl: redis.url,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '20',
      MUSTER_SEAL_KEY: Buffer.alloc(32).toString('base64'),
    },
    settings: {
      tools: { note },
      traces: { url: 'https://traces.example/{traceId}' },
      agents: {
        echo: { kind: 'echo' },
        noting: { kind: 'openai', model: 'small', baseUrl: model.baseUrl, apiKey: 'k', tools: ['note'] },
        failing: { kind: 'function', run: failing },
        held: { kind: 'function', run: held, takesInput: true },
        delegating: { kind: 'function', run: delegating },
      },
      outbound: { allowNetworks: ['127.0.0.0/8'] },
    },
  }),
);
const routers = [createApiService(parts).router, createWebhooksService(parts).router].filter((router) => router !== undefined);
const { url } = closeAfterTests(await serveApp(express().use(...routers)));
await useWorker(parts);

let key: string;
beforeEach(async () => {
  key = (await createKey(parts, { tenant: 'default', name: 'test', scopes: ['admin'] })).secret;
  model.mock.on({ predicate: () => true }, ({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? { content: 'Noted.', usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }
      : { content: '', toolCalls: [{ name: 'note', arguments: '{"n":1}', id: 'call-1' }] },
  );
});
afterEach(() => noted.splice(0));

const call = (method: string, path: string, options: CallOptions = {}): Promise<Reply> => callApi(method, url + path, { key, ...options });
const send = async (body: object, headers: Record<string, string> = {}): Promise<string> =>
  String((await call('POST', '/v1/tasks', { body: { input: PROMPT, ...body }, headers })).body.id);
const ofTask = (id: string, name: string, attempt = 1): Promise<CollectedSpan> =>
  collector.span(
    (span) =>
      span.name === name && span.attributes['muster.task.id'] === id && Number(span.attributes['muster.attempt'] ?? attempt) === attempt,
    `${name} of ${id}`,
  );
const below = (parent: CollectedSpan, name: string): Promise<CollectedSpan> =>
  collector.span((span) => span.parentSpanId === parent.spanId && span.name === name, `${name} below ${parent.name}`);

describe('a task', () => {
  it('is one trace from its caller to model, tool and callback', async () => {
    const id = await send({ agent: 'noting', callbackUrl: `${receiver.url}/back` }, { traceparent: CALLERS });
    const attempt = await ofTask(id, 'attempt noting');
    const request = await collector.span(({ spanId }) => spanId === attempt.parentSpanId, 'of the request');
    const [chat, tool, delivery] = await Promise.all(
      ['chat small', 'execute_tool note', 'deliver callback'].map((name) => below(attempt, name)),
    );
    expect([request, attempt, chat, tool, delivery].map((span) => span?.traceId)).toEqual(Array(5).fill(TRACE));
    expect(request).toMatchObject({
      name: 'POST /v1/tasks',
      parentSpanId: '00f067aa0ba902b7',
      attributes: { 'http.response.status_code': 202 },
    });
    expect(attempt).toMatchObject({ status: 0, attributes: { 'muster.attempt.end': 'completed', 'muster.task.status': 'completed' } });
    expect(tool?.attributes).toMatchObject({ 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'note' });
    const last = await collector.span(
      ({ name, attributes }) => name === 'chat small' && attributes['gen_ai.usage.input_tokens'] === 10,
      'answer',
    );
    expect(last).toMatchObject({
      parentSpanId: attempt.spanId,
      attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'small', 'gen_ai.usage.output_tokens': 5 },
    });
    expect(noted).toEqual([`00-${TRACE}-${tool?.spanId}-01`]);
    expect(receiver.requests.at(-1)?.headers['traceparent']).toBe(`00-${TRACE}-${delivery?.spanId}-01`);
    expect(model.mock.getLastRequest()?.headers?.['traceparent']).toBe(`00-${TRACE}-${last.spanId}-01`);
    expect(JSON.stringify(collector.spans)).not.toMatch(/secret|Noted|noted/);
    expect((await call('GET', `/v1/tasks/${id}`)).body).toMatchObject({ traceId: TRACE, traceUrl: `https://traces.example/${TRACE}` });
  });

  it('of a webhook is one trace from its request', async () => {
    const hook = (await call('POST', '/v1/hooks', { body: { provider: 'github', secret: 's3cret', agent: 'noting' } })).body.id as string;
    const body = '{"ref":"refs/heads/main"}';
    const headers = { 'x-hub-signature-256': await sign('s3cret', body), 'x-github-event': 'push', 'x-github-delivery': 'd-1' };
    expect((await callApi('POST', `${url}/hooks/${hook}`, { body, headers })).status).toBe(202);
    const request = await collector.span(({ name }) => name === 'POST /hooks/:id', 'of the delivery');
    const attempt = await below(request, 'attempt noting');
    await below(attempt, 'execute_tool note');
    expect(request.parentSpanId).toBeUndefined();
  });

  it('is not recorded where its caller says so, and goes on in the trace', async () => {
    const id = await send({ agent: 'noting' }, { traceparent: CALLERS.replace(/01$/, '00') });
    await awaitEnd(parts, id);
    parts.traces?.enter('a later one').end();
    await collector.span(({ name }) => name === 'a later one', 'that is later');
    expect(collector.spans.filter(({ attributes }) => attributes['muster.task.id'] === id)).toEqual([]);
    expect(noted[0]).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
  });

  it('that is tried again has an attempt more, which names the one before', async () => {
    const id = await send({ agent: 'failing', execution: { retryDelayMs: 1 } });
    const [first, second] = await Promise.all([ofTask(id, 'attempt failing'), ofTask(id, 'attempt failing', 2)]);
    expect(first).toMatchObject({ status: 2, attributes: { 'error.type': 'UPSTREAM_ERROR', 'muster.attempt.end': 'failed' } });
    expect(second).toMatchObject({
      traceId: first.traceId,
      parentSpanId: first.parentSpanId,
      status: 0,
      links: [{ traceId: first.traceId, spanId: first.spanId }],
    });
    await below(first, 'step first');
    expect(collector.spans.filter(({ parentSpanId }) => parentSpanId === second.spanId)).toEqual([]);
  });

  it('that delegates has its sub-tasks below the attempt that did, and goes on in another', async () => {
    const id = await send({ agent: 'delegating' });
    const before = await collector.span(
      ({ attributes }) => attributes['muster.task.id'] === id && attributes['muster.attempt.end'] === 'suspended',
      'that delegates',
    );
    await below(before, 'attempt echo');
    const after = await collector.span(
      ({ attributes }) => attributes['muster.task.id'] === id && attributes['muster.attempt.end'] === 'completed',
      'that goes on',
    );
    expect(after).toMatchObject({ traceId: before.traceId, links: [{ spanId: before.spanId }] });
  });

  it('names the traces of messages that went into it', async () => {
    const session = { agent: 'held', session: 'merging' };
    const id = await send({ ...session, mode: 'steer' });
    await waitFor(async () => (await call('GET', `/v1/tasks/${id}`)).body.status === 'running', { deadlineMs: 5000, what: 'the run' });
    const message = await send({ ...session, mode: 'steer' }, { traceparent: CALLERS });
    await waitFor(async () => (await call('GET', `/v1/tasks/${message}`)).body.gate === 'steer', { deadlineMs: 5000, what: 'the offer' });
    await parts.relay.idle();
    gate.open();
    await awaitEnd(parts, message);
    const attempt = await ofTask(id, 'attempt held');
    expect(attempt.links).toMatchObject([{ traceId: TRACE }]);
  });

  it('that nobody asked for by HTTP begins a trace', async () => {
    const { id } = await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'x' });
    expect(await ofTask(id, 'attempt echo')).toBeDefined();
  });
});
