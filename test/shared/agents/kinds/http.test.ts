import { gzipSync } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { createGuardedFetch } from '#shared/agents/guarded-fetch.ts';
import { runHttp } from '#shared/agents/kinds/http.ts';
import type { AgentResult } from '#shared/config/define-config.ts';
import type { DefinitionOf } from '#shared/agents/agent-kind.ts';
import { TaskFailure } from '#shared/errors/task-failure.ts';
import { systemClock } from '#shared/time/clock.ts';
import { type AgentRunOptions, failureOf, type ObservedRun, observeRun, TRACEPARENT } from '../../../support/agents/agent-run.ts';
import { startFakeHttpEndpoint, type FakeHttpEndpoint } from '../../../support/fake-http-endpoint.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

let endpoint: FakeHttpEndpoint;

afterEach(() => endpoint.close());

type Observed = ObservedRun<DefinitionOf<'http'>>;

/** An attempt of an agent whose endpoint answers like this. */
async function given(
  respond: (response: ServerResponse) => void,
  definition: Partial<DefinitionOf<'http'>> = {},
  options: AgentRunOptions = {},
): Promise<Observed> {
  endpoint = await startFakeHttpEndpoint(respond);
  return observeRun<'http'>({ kind: 'http', url: `${endpoint.url}/agent`, ...definition }, options);
}

function attempt({ run }: Observed, allowNetworks: readonly string[] = ['127.0.0.0/8']): Promise<AgentResult> {
  const fetch = createGuardedFetch({ allowNetworks, maxResponseBytes: 10_000 });
  return runHttp(run, { fetch, clock: systemClock });
}

const json =
  (answer: unknown) =>
  (response: ServerResponse): void =>
    void response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(answer));

const events =
  (...chunks: string[]) =>
  (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of chunks) response.write(chunk);
    response.end();
  };

describe('an http agent', () => {
  it('keeps the digits of numbers that would lose some, as texts', async () => {
    const observed = await given((response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"result":{"order":7615917337495251231,"n":0.1,"far":1e400}}');
    });
    expect(await attempt(observed)).toEqual({ result: { order: '7615917337495251231', n: 0.1, far: '1e400' } });
  });

  it('posts the task with the trace, and answers with the JSON it gets', async () => {
    const answer = { output: 'done', result: [1], usage: { inputTokens: 1, outputTokens: 2, costMicroUsd: 3 } };
    const observed = await given(
      json(answer),
      { headers: { 'x-team': 'red', host: 'elsewhere', 'Content-Length': '3' } },
      { task: { attempt: 2 } },
    );
    expect(await attempt(observed)).toEqual(answer);
    const [request] = endpoint.requests;
    expect(request).toMatchObject({ method: 'POST', path: '/agent' });
    expect(request?.headers).toMatchObject({ 'content-type': 'application/json', 'x-team': 'red', traceparent: TRACEPARENT });
    expect(request?.headers.host).toBe(new URL(endpoint.url).host);
    expect(JSON.parse(request?.body ?? '')).toEqual({
      task: {
        id: '01JD0000000000000000000000',
        tenant: 'acme',
        agent: 'tested',
        input: 'hello',
        system: null,
        session: null,
        source: 'api',
        visitor: null,
        context: {},
        metadata: {},
        correlationId: null,
      },
      attempt: 2,
      history: [],
      attachments: [],
      traceparent: TRACEPARENT,
    });
  });

  it('posts the earlier turns of its session', async () => {
    const history = [{ taskId: '01JD0000000000000000000001', input: 'one', output: 'two' }];
    await attempt(await given(json({}), {}, { history, task: { session: 's1' } }));
    expect(JSON.parse(endpoint.requests[0]?.body ?? '')).toMatchObject({ task: { session: 's1' }, history });
  });

  it('signs the body when it has a secret, with an id of its own per attempt', async () => {
    const ids: unknown[] = [];
    // An attempt that was preempted or lost leaves its number to the next one.
    for (const [number, token] of [
      [1, 1],
      [1, 2],
      [2, 3],
    ] as const) {
      const observed = await given(json({}), { secret: SECRET }, { task: { attempt: number }, token });
      await attempt(observed);
      const { headers, body } = endpoint.requests[0]!;
      expect(() => new Webhook(SECRET).verify(body, headers as Record<string, string>)).not.toThrow();
      expect(() => new Webhook(SECRET).verify(`${body} `, headers as Record<string, string>)).toThrow('signature');
      ids.push(headers['webhook-id']);
      if (number === 1) await endpoint.close();
    }
    expect(new Set(ids).size).toBe(3);
  });

  it('sends no signature without a secret', async () => {
    await attempt(await given(json({})));
    expect(endpoint.requests[0]?.headers).not.toHaveProperty('webhook-signature');
  });

  it('fails for good when its secret cannot sign, and does not quote it', async () => {
    const failure = await failureOf(attempt(await given(json({}), { secret: 'whsec_***' })));
    expect(failure).toMatchObject({ code: 'INVALID_INPUT', class: 'permanent' });
    expect(failure.message).not.toContain('***');
  });

  it('answers nothing after 204', async () => {
    expect(await attempt(await given((response) => void response.writeHead(204).end()))).toEqual({});
  });

  it.each([
    ['an unknown field', json({ answer: 42 })],
    ['another type of output', json({ output: 42 })],
    ['something else than an object', json('done')],
    ['broken JSON', (response: ServerResponse) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{')],
    ['another content type', (response: ServerResponse) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')],
  ])('fails with AGENT_ERROR when it is answered with %s', async (_name, respond) => {
    expect(await failureOf(attempt(await given(respond)))).toMatchObject({ code: 'AGENT_ERROR', class: 'transient' });
  });

  it.each([
    [302, 'RESOURCE_NOT_FOUND', 'permanent'],
    [400, 'INVALID_INPUT', 'permanent'],
    [401, 'PERMISSION_DENIED', 'permanent'],
    [403, 'PERMISSION_DENIED', 'permanent'],
    [404, 'RESOURCE_NOT_FOUND', 'permanent'],
    [422, 'INVALID_INPUT', 'permanent'],
    [500, 'PROVIDER_ERROR', 'transient'],
  ])('turns status %i into %s', async (status, code, kind) => {
    const observed = await given((response) => void response.writeHead(status, { location: '/elsewhere' }).end('because'));
    expect(await failureOf(attempt(observed))).toMatchObject({ code, class: kind, details: { status } });
    expect(endpoint.requests).toHaveLength(1);
  });

  it('fails with the text of the endpoint', async () => {
    const failure = await failureOf(attempt(await given((response) => void response.writeHead(500).end('out of paper'))));
    expect(failure.message).toContain('out of paper');
  });

  it.each([
    [
      'in its answer',
      (response: ServerResponse) => void response.writeHead(401).end(`${'.'.repeat(480)} Bearer sk-0123456789abcdef ${SECRET}`),
    ],
    ['in its stream', events(`event: error\ndata: {"code":"THROTTLED","message":"no: sk-0123456789abcdef","retryAfterMs":5000}\n\n`)],
  ])('hides its headers and its secret when the endpoint quotes them %s', async (_where, respond) => {
    const observed = await given(respond, { secret: SECRET, headers: { authorization: 'Bearer sk-0123456789abcdef' } });
    const failure = await failureOf(attempt(observed));
    expect(failure.message).toContain('[hidden]');
    expect(failure.message).not.toMatch(/sk-|MfKQ/);
  });

  it('is throttled by a 429 for as long as Retry-After requests', async () => {
    const observed = await given((response) => void response.writeHead(429, { 'retry-after': '12' }).end());
    expect(await failureOf(attempt(observed))).toMatchObject({ code: 'THROTTLED', class: 'throttled', retryAfterMs: 12_000 });
  });

  it('fails with NETWORK_ERROR when nobody listens', async () => {
    const observed = await given(json({}));
    await endpoint.close();
    endpoint = await startFakeHttpEndpoint(json({}));
    expect(await failureOf(attempt(observed))).toMatchObject({ code: 'NETWORK_ERROR', details: { reason: 'ECONNREFUSED' } });
  });

  it('fails with NETWORK_ERROR when the connection is cut in the middle of the answer', async () => {
    const observed = await given((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"output":', () => response.destroy());
    });
    expect(await failureOf(attempt(observed))).toMatchObject({ code: 'NETWORK_ERROR', class: 'transient' });
  });

  it('rejects with the reason of the abort while it waits, and hangs up', async () => {
    const arrived = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const observed = await given((response) => {
      response.once('close', closed.resolve);
      arrived.resolve();
    });
    const running = attempt(observed);
    await arrived.promise;
    const reason = new Error('cancelled');
    observed.abort(reason);
    await expect(running).rejects.toBe(reason);
    await closed.promise;
  });

  it('hangs up on an answer that it does not read', async () => {
    const closed = Promise.withResolvers<void>();
    const observed = await given((response) => {
      response.once('close', closed.resolve);
      response.writeHead(200, { 'content-type': 'video/mp4' });
      response.write('endless');
    });
    expect(await failureOf(attempt(observed))).toMatchObject({ code: 'AGENT_ERROR' });
    await closed.promise;
  });

  it('fails with OUTPUT_TOO_LARGE when the answer is over the limit', async () => {
    expect(await failureOf(attempt(await given(json({ output: 'x'.repeat(10_000) }))))).toMatchObject({
      code: 'OUTPUT_TOO_LARGE',
      class: 'permanent',
    });
  });

  it('fails with OUTPUT_TOO_LARGE when the answer is over the limit once unpacked', async () => {
    const observed = await given((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync(JSON.stringify({ output: 'x'.repeat(1_000_000) })));
    });
    expect(await failureOf(attempt(observed))).toMatchObject({ code: 'OUTPUT_TOO_LARGE' });
  });

  it('refuses an address with a password in it, and does not quote it', async () => {
    const observed = await given(json({}));
    const url = `http://me:hunter2@${new URL(endpoint.url).host}/`;
    const failure = await failureOf(attempt(observeRun<'http'>({ kind: 'http', url })));
    expect(failure.code).toBe('INVALID_INPUT');
    expect(failure.message).not.toContain('hunter2');
    expect(observed.written).toEqual([]);
  });
});

describe('an http agent that may not reach this machine', () => {
  const spellings = ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', '0.0.0.0'];

  it.each(spellings)('is refused for good when its URL names %s', async (host) => {
    await given(json({}));
    const { port } = new URL(endpoint.url);
    const failure = await failureOf(attempt(observeRun<'http'>({ kind: 'http', url: `http://${host}:${port}/` }), []));
    expect(failure).toMatchObject({ code: 'PERMISSION_DENIED', class: 'permanent' });
    expect(failure.message).toContain('allowNetworks');
    expect(endpoint.requests).toHaveLength(0);
  });

  it('reaches a name that leads to an allowed network', async () => {
    const observed = await given(json({ output: 'here' }));
    const url = `http://localhost:${new URL(endpoint.url).port}/`;
    expect(await attempt(observeRun<'http'>({ kind: 'http', url }))).toEqual({ output: 'here' });
    expect(observed.written).toEqual([]);
  });
});

describe('an http agent that is answered with events', () => {
  it('streams the output as it comes', async () => {
    const open = Promise.withResolvers<ServerResponse>();
    const observed = await given((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: first \n\n');
      open.resolve(response);
    });
    const running = attempt(observed);
    expect(await observed.firstWrite).toBe('first ');
    (await open.promise).end('event: output\ndata: second\ndata: line\n\n');
    expect(await running).toEqual({});
    expect(observed.written).toEqual(['first ', 'second\nline']);
  });

  it('reads events that are cut anywhere, also inside a character', async () => {
    const bytes = Buffer.from('data: grüße\n\n');
    const cut = bytes.indexOf(0xbc);
    const observed = await given((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(bytes.subarray(0, cut), () => setImmediate(() => response.end(bytes.subarray(cut))));
    });
    await attempt(observed);
    expect(observed.written.join('')).toBe('grüße');
  });

  it('takes the answer from "result", notes from "progress", and skips what it does not know', async () => {
    const observed = await given(
      events('event: progress\ndata: half\n\n', 'event: ping\ndata: x\n\n', 'event: result\ndata: {"result":{"ok":true}}\n\n'),
    );
    expect(await attempt(observed)).toEqual({ result: { ok: true } });
    expect(observed.notes).toEqual(['half']);
    expect(observed.written).toEqual([]);
  });

  it('ends at [DONE] although the connection stays open', async () => {
    const observed = await given((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: all\n\ndata: [DONE]\n\n');
    });
    expect(await attempt(observed)).toEqual({});
    expect(observed.written).toEqual(['all']);
  });

  it('fails with the code of "error"', async () => {
    const observed = await given(events('event: error\ndata: {"code":"THROTTLED","message":"busy","retryAfterMs":4000}\n\n'));
    expect(await failureOf(attempt(observed))).toMatchObject({ code: 'THROTTLED', message: 'busy', retryAfterMs: 4000 });
  });

  it('fails with AGENT_ERROR when "error" has no code', async () => {
    expect(await failureOf(attempt(await given(events('event: error\ndata: it broke\n\n'))))).toMatchObject({
      code: 'AGENT_ERROR',
      message: 'it broke',
    });
  });

  it('fails with NETWORK_ERROR when the stream is cut', async () => {
    const observed = await given((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: half\n\n', () => setImmediate(() => response.destroy()));
    });
    expect(await failureOf(attempt(observed))).toMatchObject({ code: 'NETWORK_ERROR', class: 'transient' });
  });

  it('rejects with the reason of the abort between two events', async () => {
    const observed = await given((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: half\n\n');
    });
    const running = attempt(observed);
    await observed.firstWrite;
    const reason = new Error('cancelled');
    observed.abort(reason);
    await expect(running).rejects.toBe(reason);
  });

  it('hangs up and fails with what write throws when the output is too long', async () => {
    const closed = Promise.withResolvers<void>();
    const tooLarge = new TaskFailure('OUTPUT_TOO_LARGE', 'enough');
    const onWrite = (): never => {
      throw tooLarge;
    };
    const respond = (response: ServerResponse): void => {
      response.once('close', closed.resolve);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: more\n\n');
    };
    const observed = await given(respond, {}, { onWrite });
    await expect(attempt(observed)).rejects.toBe(tooLarge);
    await closed.promise;
  });
});
