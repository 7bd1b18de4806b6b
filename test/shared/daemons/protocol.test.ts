import { describe, expect, it } from 'vitest';
import {
  CLOSE_CODES,
  type DaemonMessage,
  type DaemonMessageToSend,
  type HubMessage,
  type HubMessageToSend,
  parseDaemonMessage,
  parseHubMessage,
  PROTOCOL,
  protocolSchema,
} from '#shared/daemons/index.ts';

const attempt = { taskId: 'tsk_1', token: 1 };
const hello: DaemonMessageToSend = { type: 'daemon.hello', protocol: PROTOCOL, name: 'desk', slots: 2 };

/** One of each, with no more than it needs. */
const FROM_DAEMON: DaemonMessageToSend[] = [
  hello,
  { type: 'daemon.heartbeat', load: 0.5, memoryMb: 100 },
  { type: 'task.accepted', ...attempt },
  { type: 'task.progress', ...attempt, note: 'half', percent: 50 },
  { type: 'task.usage', ...attempt, usage: { inputTokens: 1, cachedInputTokens: 1, byModel: [{ model: 'm', inputTokens: 1 }] } },
  { type: 'task.output', ...attempt, seq: 1, text: 'a' },
  { type: 'task.ask', ...attempt, seq: 1 },
  { type: 'task.completed', ...attempt, output: 'a', result: { n: 1 }, usage: { inputTokens: 1 } },
  { type: 'task.failed', ...attempt, error: { code: 'COMMAND_FAILED', message: 'it ended with 1', retryable: true, details: {} } },
  { type: 'workspaces.kept', kept: [{ agent: 'coder', session: 's', taskId: 'tsk_1' }] },
];

const FROM_HUB: HubMessageToSend[] = [
  { type: 'hub.welcome', daemonId: 'dmn_1', heartbeatMs: 10_000, keep: [], drop: [] },
  { type: 'task.execute', ...attempt, attempt: 1, agent: 'coder', input: 'write it', timeoutMs: 1000 },
  { type: 'task.cancel', ...attempt, reason: 'enough' },
  { type: 'task.input', ...attempt, id: 'tsk_2', text: 'and this' },
  { type: 'task.answer', ...attempt, seq: 1, answer: '"yes"' },
  { type: 'task.acknowledged', ...attempt, outcome: 'kept' },
  { type: 'workspaces.remove', remove: [{ agent: 'coder', taskId: 'tsk_1' }] },
  { type: 'error', code: 'message.invalid', message: 'no' },
];

describe('messages', () => {
  it.each(FROM_DAEMON)('reads $type of a daemon', (message) => {
    expect(parseDaemonMessage(JSON.stringify(message))).toMatchObject({ ok: true, message });
  });

  it.each(FROM_HUB)('reads $type of the hub', (message) => {
    expect(parseHubMessage(JSON.stringify(message))).toMatchObject({ ok: true, message });
  });

  it('are read with defaults for what may be left out', () => {
    const read = parseDaemonMessage(JSON.stringify(hello));
    const expected: DaemonMessage<'daemon.hello'> = {
      type: 'daemon.hello',
      protocol: 1,
      name: 'desk',
      capabilities: [],
      slots: 2,
      running: [],
      finished: [],
    };
    expect(read).toEqual({ ok: true, message: expected });
    const cancel: HubMessage<'task.cancel'> = { type: 'task.cancel', ...attempt, reason: '' };
    expect(parseHubMessage(JSON.stringify(cancel))).toEqual({ ok: true, message: cancel });
  });

  it('keep the digits of numbers that would lose some, as texts', () => {
    const frame = JSON.stringify({ type: 'task.completed', ...attempt, result: { order: 0 } }).replace(
      '"order":0',
      '"order":7615917337495251231',
    );
    expect(parseDaemonMessage(frame)).toMatchObject({ ok: true, message: { result: { order: '7615917337495251231' } } });
  });

  it('read a usage of an older daemon as one of one model', () => {
    const usage = { inputTokens: 3, model: 'large' };
    expect(parseDaemonMessage(JSON.stringify({ type: 'task.completed', ...attempt, usage }))).toEqual({
      ok: true,
      message: { type: 'task.completed', ...attempt, usage: { ...usage, outputTokens: 0 } },
    });
  });

  it.each([
    ['a model more than it may name', { byModel: Array.from({ length: 51 }, (_, at) => ({ model: `m${at}` })) }, 'usage.byModel: '],
    ['a model whose name is no line', { byModel: [{ model: 'a\nb' }] }, 'usage.byModel.0.model: '],
    ['tokens that nothing uses', { byModel: [{ inputTokens: 2e12 }] }, 'usage.byModel.0.inputTokens: '],
    ['fewer cached tokens than none', { cachedInputTokens: -1 }, 'usage.cachedInputTokens: '],
    ['a part of a token', { cachedInputTokens: 0.5 }, 'usage.cachedInputTokens: '],
    ['models by name', { byModel: { large: { inputTokens: 1 } } }, 'usage.byModel: '],
  ])('refuse a usage with %s, and say where', (_what, usage, where) => {
    for (const type of ['task.usage', 'task.completed']) {
      expect(parseDaemonMessage(JSON.stringify({ type, ...attempt, usage }))).toEqual({
        ok: false,
        code: 'message.invalid',
        message: expect.stringContaining(`${type}: ${where}`),
      });
    }
  });

  it('lose the fields that nobody knows', () => {
    const read = parseDaemonMessage(JSON.stringify({ type: 'task.accepted', ...attempt, colour: 'red' }));
    expect(read).toEqual({ ok: true, message: { type: 'task.accepted', ...attempt } });
  });

  it.each([
    ['message.not-json', '{'],
    ['message.invalid', '[]'],
    ['message.invalid', '{"type":1}'],
    ['message.unknown-type', '{"type":"toString"}'],
    ['message.unknown-type', '{"type":"task.execute"}'],
    ['message.invalid', '{"type":"task.output","taskId":"a","token":1,"seq":0,"text":""}'],
    ['message.invalid', '{"type":"task.accepted","taskId":"a","token":"1"}'],
    ['message.invalid', '{"type":"daemon.heartbeat","load":2}'],
  ])('are refused with %s: %s', (code, frame) => {
    expect(parseDaemonMessage(frame)).toMatchObject({ ok: false, code });
  });
});

it('the published schema has every message of both directions, and the closing codes', () => {
  const schema = protocolSchema();
  expect(Object.keys(schema['daemonToHub'] as object)).toEqual(FROM_DAEMON.map(({ type }) => type));
  expect(Object.keys(schema['hubToDaemon'] as object)).toEqual(FROM_HUB.map(({ type }) => type));
  expect(schema['closeCodes']).toEqual(CLOSE_CODES);
  expect(schema['daemonToHub']).toMatchObject({ 'daemon.hello': { type: 'object', required: expect.arrayContaining(['name', 'slots']) } });
});
