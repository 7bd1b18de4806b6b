import { execFile } from 'node:child_process';
import { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { environmentSchema } from '#shared/config/environment.ts';
import { createLog } from '#shared/log/create-log.ts';
import { openTraces } from '#shared/log/traces/open-traces.ts';
import { traceparentFor } from '#shared/log/traces/traceparent.ts';
import type { SpanOptions, Traces } from '#shared/log/traces/traces.ts';
import { startCollector, type SpanCollector } from '../../../support/fleet/span-collector.ts';
import { waitFor } from '../../../support/wait-for.ts';

const lines: Record<string, unknown>[] = [];
const destination = new Writable({
  write: (line: Buffer, _encoding, done) => {
    lines.push(JSON.parse(line.toString()) as Record<string, unknown>);
    done();
  },
});
const log = createLog({ level: 'info', service: 'test', destination, hasSpans: true });

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLERS = `00-${TRACE}-00f067aa0ba902b7-01`;
const UNSAMPLED = `00-${TRACE}-00f067aa0ba902b7-00`;

const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
  lines.length = 0;
});

const open = async (endpoint: string, variables: Record<string, string> = {}): Promise<Traces> => {
  const env = environmentSchema.parse({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_BSP_SCHEDULE_DELAY: '5', ...variables });
  const traces = await openTraces({ env, service: 'test', log });
  if (traces === undefined) throw new Error('expected traces');
  opened.unshift(traces);
  return traces;
};

const collect = async (status?: number): Promise<SpanCollector> => {
  const collector = await startCollector(status);
  opened.push(collector);
  return collector;
};

describe('where no endpoint is set, or spans are off', () => {
  it.each([
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_SDK_DISABLED: 'True' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_TRACES_EXPORTER: 'none' },
  ])('there are no traces: %j', async (variables) => {
    expect(await openTraces({ env: environmentSchema.parse(variables), service: 'test', log })).toBeUndefined();
  });

  it('no process loads what records and sends them', async () => {
    const program = `
      import { registerHooks } from 'node:module';
      const seen = new Set();
      registerHooks({ resolve: (name, context, next) => { const found = next(name, context); seen.add(found.url); return found; } });
      const { loadConfig } = await import('#shared/config/index.ts');
      const { createLog, openTraces } = await import('#shared/log/index.ts');
      await import('./services/worker/create-worker-service.ts');
      const { env } = await loadConfig({}, '/');
      await openTraces({ env, service: 'worker', log: createLog({ level: 'silent', service: 'worker' }) });
      console.log([...seen].filter((url) => /opentelemetry\\/(?!api\\/)/.test(url)).length, seen.size > 100);
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { timeout: 50_000 });
    expect(stdout.trim()).toBe('0 true');
  }, 60_000);
});

describe('a span', () => {
  it('is sent with the names, attributes and headers that the environment gives', async () => {
    const collector = await collect();
    const traces = await open(`${collector.url}/`, {
      OTEL_SERVICE_NAME: 'agents',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=a%2Cb',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=s%3D1,x-more=2',
    });
    traces.enter('a', { attributes: { one: 1, none: undefined } }).end();
    const span = await collector.span(({ name }) => name === 'a', 'a');
    expect(span).toMatchObject({ service: 'agents', attributes: { one: 1 }, status: 0 });
    expect(collector.headers).toMatchObject({ 'x-key': 's=1', 'x-more': '2' });
    await waitFor(() => traces.counts.sent === 1, { deadlineMs: 5000, what: 'the count' });
  });

  it('has the ids that were given out before, and stands below its parent, which code and log know', async () => {
    const collector = await collect();
    const traces = await open(collector.url);
    const as = `00-${TRACE}-1111111111111111-01`;
    const first = traces.enter('first', { as, parent: CALLERS, links: [traceparentFor('other')] });
    expect(first.traceparent).toBe(as);
    const failing = first.run(async () => {
      log.info('inside');
      await traces.run('second', { codeOf: () => 'BROKEN' }, () => Promise.reject(new Error('with a secret in it')));
    });
    await expect(failing).rejects.toThrow('secret');
    first.end();
    log.info('outside');
    const [one, two] = await Promise.all(['first', 'second'].map((name) => collector.span((span) => span.name === name, name)));
    expect(one).toMatchObject({ traceId: TRACE, spanId: '1111111111111111', parentSpanId: '00f067aa0ba902b7' });
    expect(one?.links).toHaveLength(1);
    expect(two).toMatchObject({ traceId: TRACE, parentSpanId: '1111111111111111', status: 2, attributes: { 'error.type': 'BROKEN' } });
    expect(JSON.stringify(collector.spans)).not.toContain('secret');
    expect(lines).toMatchObject([{ msg: 'inside', trace_id: TRACE, span_id: '1111111111111111' }, { msg: 'outside' }]);
    expect(lines[1]).not.toHaveProperty('trace_id');
  });
});

describe('whether a trace is recorded', () => {
  const traceparents = Array.from({ length: 200 }, (_, number) => traceparentFor(`task ${number}`));

  it.each([
    { sampler: 'parentbased_always_on', share: '1', roots: 200, ofCallers: [1, 0] },
    { sampler: 'parentbased_always_off', share: '1', roots: 0, ofCallers: [1, 0] },
    { sampler: 'parentbased_traceidratio', share: '0.1', roots: 20, ofCallers: [1, 0] },
    { sampler: 'traceidratio', share: '0', roots: 0, ofCallers: [0, 0] },
    { sampler: 'always_on', share: '1', roots: 200, ofCallers: [1, 1] },
  ])('is decided by $sampler at its root, and by the caller', async ({ sampler, share, roots, ofCallers }) => {
    const traces = await open('http://127.0.0.1:1', { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: share });
    const recorded = (all: readonly SpanOptions[]): number =>
      all.filter((options) => traces.enter('x', options).traceparent.endsWith('-01')).length;
    const ofRoots = recorded(traceparents.map((as) => ({ as })));
    expect(Math.abs(ofRoots - roots)).toBeLessThanOrEqual(share === '0.1' ? 15 : 0);
    expect([recorded([{ parent: CALLERS }]), recorded([{ parent: UNSAMPLED }])]).toEqual(ofCallers);
  });

  it('counts below: a span of a trace that is not recorded is none', async () => {
    const traces = await open('http://127.0.0.1:1');
    const entered = traces.enter('x', { parent: UNSAMPLED });
    expect(entered.traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
    expect(traces.start('y', { parent: entered.traceparent })).toBeUndefined();
    expect(entered.run(() => traces.start('z'))).toBeUndefined();
    expect(traces.start('alone')).toBeUndefined();
    const recorded = traces.enter('a', { parent: CALLERS });
    expect(recorded.run(() => [entered.run(() => traces.start('b')), traces.outside(() => traces.start('c'))])).toEqual([
      undefined,
      undefined,
    ]);
  });
});

describe('a collector that does not take spans', () => {
  it('is said once, and what it refused is counted', async () => {
    const collector = await collect(400);
    const traces = await open(collector.url);
    for (let number = 1; number <= 2; number += 1) {
      traces.enter('a').end();
      await waitFor(() => traces.counts.refused === number, { deadlineMs: 5000, what: 'the refusal' });
    }
    expect(lines.filter(({ event }) => event === 'traces.refused')).toHaveLength(1);
    expect(traces.counts).toEqual({ sent: 0, refused: 2, dropped: 0 });
  });

  it('takes no more memory than its bound while it is away', async () => {
    const traces = await open('http://127.0.0.1:1', { OTEL_BSP_MAX_QUEUE_SIZE: '10' });
    for (let number = 0; number < 25; number += 1) traces.enter('a').end();
    expect(traces.counts).toMatchObject({ sent: 0, dropped: 15 });
    await traces.close();
    // It is closed once.
    opened.length = 0;
  });
});
