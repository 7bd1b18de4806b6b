import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { Daemon, type DaemonEvent, type DaemonHandler, type DaemonOptions, HubRefusal, TaskFailure } from 'muster/daemon';
import { executeMessage, type FakeConnection, type FakeHub, startFakeHub } from '../../../support/daemons/fake-hub.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { waitFor } from '../../../support/wait-for.ts';

const folder = await useFolder();
const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

interface Started {
  readonly daemon: Daemon;
  readonly events: DaemonEvent[];
  readonly ended: Promise<unknown>;
}

const echo: DaemonHandler = (task) => Promise.resolve(task.input);

/** Ends when its signal aborts, and not before. */
const untilStopped: DaemonHandler = (_task, { signal }) => delay(60_000, undefined, { signal });

const reportAll: DaemonHandler = (task, { write, progress, reportUsage }) => {
  progress('halfway', 50);
  write(`${task.agent} says `);
  write(task.input);
  reportUsage({ inputTokens: 1, outputTokens: 2 });
  reportUsage({ inputTokens: 3, outputTokens: 4, costMicroUsd: 5 });
  return Promise.resolve({ result: { ok: true } });
};

const failAsAsked: DaemonHandler = (task) =>
  Promise.reject(task.input === 'coded' ? new TaskFailure('INVALID_INPUT', 'unreadable', { details: { line: 3 } }) : new Error('oh'));

const writeDone: DaemonHandler = (_task, { write }) => Promise.resolve(write('done'));

const repeatTwoInputs: DaemonHandler = async (_task, { input, inputArrived, write }) => {
  for (let left = 2; left > 0;) {
    await inputArrived();
    for (const { text } of await input()) {
      write(`${text};`);
      left -= 1;
    }
  }
};

async function startHub(maxPayload?: number): Promise<FakeHub> {
  const hub = await startFakeHub(0, maxPayload);
  open.push(() => hub.close());
  return hub;
}

function startDaemon(hub: FakeHub, options: Partial<DaemonOptions> = {}): Started {
  const events: DaemonEvent[] = [];
  const daemon = new Daemon({
    hub: hub.url,
    token: 'mdt_secret',
    handler: echo,
    reconnect: { minMs: 1, maxMs: 20 },
    acknowledgeMs: 20,
    onEvent: (event) => events.push(event),
    ...options,
  });
  const ended = daemon.run().catch((error: unknown) => error);
  open.push(async () => {
    await daemon.stop();
    await ended;
  });
  return { daemon, events, ended };
}

interface Connected extends Started {
  readonly hub: FakeHub;
  readonly connection: FakeConnection;
}

/** Starts a hub and a daemon, and returns once the hub has the daemon's hello. */
async function connectDaemon(options: Partial<DaemonOptions> = {}): Promise<Connected> {
  const hub = await startHub();
  const started = startDaemon(hub, options);
  const connection = await hub.connection(0);
  await connection.first('daemon.hello');
  return { ...started, hub, connection };
}

const ofType = <T extends DaemonEvent['type']>(events: DaemonEvent[], type: T): Extract<DaemonEvent, { type: T }>[] =>
  events.filter((event): event is Extract<DaemonEvent, { type: T }> => event.type === type);

const seen = (events: DaemonEvent[], type: DaemonEvent['type']): Promise<DaemonEvent> =>
  waitFor(() => ofType(events, type)[0], { deadlineMs: 5000, what: `the event ${type}` });

describe('a daemon that connects', () => {
  it('sends its token in a header and says what it is', async () => {
    const hub = await startHub();
    startDaemon(hub, { name: 'laptop', capabilities: ['browser'], slots: 3, agents: ['coder'], version: '1.2.3' });
    const connection = await hub.connection(0);
    expect(await connection.first('daemon.hello')).toMatchObject({
      protocol: 1,
      name: 'laptop',
      capabilities: ['browser'],
      slots: 3,
      agents: ['coder'],
      version: '1.2.3',
      running: [],
      finished: [],
    });
    expect(connection.authorization).toBe('Bearer mdt_secret');
    expect(await connection.first('daemon.heartbeat')).toMatchObject({ isDraining: false });
  });

  it('sends how busy its machine is with every heartbeat', async () => {
    const hub = await startHub();
    hub.welcome({ heartbeatMs: 5 });
    startDaemon(hub, { measure: () => ({ load: 0.25, memoryMb: 512 }) });
    const connection = await hub.connection(0);
    await waitFor(() => connection.all('daemon.heartbeat').length > 3, { deadlineMs: 5000, what: 'heartbeats' });
    expect(connection.all('daemon.heartbeat').at(-1)).toMatchObject({ load: 0.25, memoryMb: 512 });
  });

  it.each([
    ['a token that is not known', 401, 'token'],
    ['an address without a hub', 404, 'not-a-hub'],
    ['an address where something else refuses', 403, 'not-a-hub'],
  ])('gives up for %s', async (_what, status, reason) => {
    const hub = await startHub();
    hub.refuse(status);
    const refusal = await startDaemon(hub).ended;
    expect(refusal).toBeInstanceOf(HubRefusal);
    expect(refusal).toMatchObject({ reason });
    expect((refusal as Error).message).not.toContain('mdt_secret');
  });

  it('tries again while the hub is away, or cannot take daemons', async () => {
    const hub = await startHub();
    hub.refuse(503);
    const { events } = startDaemon(hub);
    await seen(events, 'disconnected');
    hub.refuse(null);
    await hub.connection(0);
    expect(await seen(events, 'connected')).toMatchObject({ kept: 0, dropped: 0 });
  });

  it.each([
    [4401, 'token'],
    [4409, 'taken-over'],
  ])('stops what runs and gives up when the hub closes with %i', async (code, reason) => {
    const { connection, ended, daemon } = await connectDaemon({ handler: untilStopped });
    connection.send(executeMessage());
    await connection.first('task.accepted');
    connection.close(code);
    expect(await ended).toMatchObject({ reason });
    expect(daemon.running).toBe(0);
  });

  it('goes on when something before the hub answers 403 for a time', async () => {
    const { hub, connection, daemon, events } = await connectDaemon({ handler: untilStopped });
    connection.send(executeMessage());
    await connection.first('task.accepted');
    hub.refuse(403);
    connection.cut();
    await waitFor(() => ofType(events, 'disconnected').some(({ message }) => message.includes('403')), {
      deadlineMs: 5000,
      what: 'the 403',
    });
    expect(daemon.running).toBe(1);
    hub.refuse(null);
    expect((await (await hub.connection(1)).first('daemon.hello')).running).toHaveLength(1);
  });

  it('takes a hub that is silent for gone, and connects again', async () => {
    const hub = await startHub();
    hub.welcome({ heartbeatMs: 20 });
    startDaemon(hub);
    const first = await hub.connection(0);
    await first.first('daemon.heartbeat');
    first.freeze();
    expect(await (await hub.connection(1)).first('daemon.hello')).toMatchObject({ running: [] });
  });
});

describe('a task on a daemon', () => {
  it('is accepted, written and completed, with what it used', async () => {
    const { connection } = await connectDaemon({ handler: reportAll });
    const execute = executeMessage({ input: 'hi' });
    connection.send(execute);
    const name = { taskId: execute.taskId, token: execute.token };
    expect(await connection.first('task.completed')).toMatchObject({
      ...name,
      result: { ok: true },
      usage: {
        inputTokens: 4,
        outputTokens: 6,
        byModel: [
          { inputTokens: 1, outputTokens: 2 },
          { inputTokens: 3, outputTokens: 4, costMicroUsd: 5 },
        ],
      },
    });
    expect(
      connection
        .all('task.output')
        .map(({ text }) => text)
        .join(''),
    ).toBe('coder says hi');
    expect(connection.messages.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['daemon.hello', 'daemon.heartbeat', 'task.accepted', 'task.output']),
    );
    expect(connection.messages.at(-1)?.type).toBe('task.completed');
  });

  it('fails with the code that its handler chose, else with AGENT_ERROR', async () => {
    const { connection } = await connectDaemon({ handler: failAsAsked });
    connection.send(executeMessage({ input: 'coded', taskId: 'a' }));
    connection.send(executeMessage({ input: 'plain', taskId: 'b' }));
    expect((await connection.first('task.failed', ({ taskId }) => taskId === 'a')).error).toEqual({
      code: 'INVALID_INPUT',
      message: 'unreadable',
      retryable: false,
      details: { line: 3 },
    });
    expect((await connection.first('task.failed', ({ taskId }) => taskId === 'b')).error).toMatchObject({
      code: 'AGENT_ERROR',
      message: 'oh',
      retryable: true,
    });
  });

  it('fails when its result is larger than the hub takes', async () => {
    const { connection } = await connectDaemon({ handler: () => Promise.resolve('x'.repeat(2000)), maxMessageBytes: 1000 });
    connection.send(executeMessage());
    expect((await connection.first('task.failed')).error.code).toBe('OUTPUT_TOO_LARGE');
  });

  it('ends as too large when the hub closes the connection for its size, also when it is an end from disk', async () => {
    const hub = await startHub(2000);
    const dataDir = join(folder, 'too-large');
    const { daemon } = startDaemon(hub, { dataDir, slots: 2 });
    const first = await hub.connection(0);
    await first.first('daemon.hello');
    first.send(executeMessage({ taskId: 'small', input: 'x' }));
    await first.first('task.completed');
    first.send(executeMessage({ taskId: 'large', input: 'x'.repeat(3000) }));
    const second = await hub.connection(1);
    expect((await second.first('task.failed')).error).toMatchObject({ code: 'OUTPUT_TOO_LARGE', retryable: false });
    expect(await second.first('task.completed')).toMatchObject({ taskId: 'small' });
    await daemon.stop();
    const written = await Promise.all((await readdir(dataDir)).map((name) => readFile(join(dataDir, name), 'utf8')));
    expect(written).toHaveLength(2);
    expect(written.filter((text) => text.includes('OUTPUT_TOO_LARGE'))).toHaveLength(1);
    expect(hub.connections).toHaveLength(2);
  });

  it('waits long before it sends again what no failure can stand for', async () => {
    const hub = await startHub(500);
    const { events } = startDaemon(hub, {
      handler: (_task, { write }) => Promise.resolve(write('x'.repeat(1000))),
      reconnect: { minMs: 1, maxMs: 60_000 },
    });
    const connection = await hub.connection(0);
    await connection.first('daemon.hello');
    connection.send(executeMessage());
    expect(await seen(events, 'disconnected')).toMatchObject({ retryMs: 60_000, message: expect.stringContaining('1009') as string });
  });

  it('runs once however often the hub sends it, and its end is sent again for it', async () => {
    let runs = 0;
    const { connection } = await connectDaemon({ handler: () => Promise.resolve(String((runs += 1))) });
    const execute = executeMessage();
    connection.send(execute);
    await connection.first('task.completed');
    connection.send(execute);
    await waitFor(() => connection.all('task.completed').length === 2, { deadlineMs: 5000, what: 'the second end' });
    expect(runs).toBe(1);
    expect(connection.all('task.accepted')).toHaveLength(2);
  });

  it('is stopped by a cancel, and the hub learns that it has ended', async () => {
    const { connection } = await connectDaemon({ handler: untilStopped });
    const { taskId, token } = executeMessage();
    connection.send(executeMessage({ taskId, token }));
    await connection.first('task.accepted');
    connection.send({ type: 'task.cancel', taskId, token, reason: 'no longer wanted' });
    expect((await connection.first('task.failed')).error).toMatchObject({ code: 'CANCELLED', message: 'no longer wanted' });
  });

  it('that does not run here is reported as ended when the hub cancels it', async () => {
    const { connection } = await connectDaemon();
    connection.send({ type: 'task.cancel', taskId: 'unknown', token: 9, reason: 'x' });
    expect(await connection.first('task.failed')).toMatchObject({ taskId: 'unknown', token: 9, error: { code: 'CANCELLED' } });
  });

  it('takes each message once, while it runs', async () => {
    const { connection } = await connectDaemon({ handler: repeatTwoInputs });
    const { taskId, token } = executeMessage();
    connection.send(executeMessage({ taskId, token }));
    for (const [id, text] of [
      ['1', 'one'],
      ['1', 'one'],
      ['2', 'two'],
    ] as const) {
      connection.send({ type: 'task.input', taskId, token, id, text });
    }
    await connection.first('task.completed');
    expect(
      connection
        .all('task.output')
        .map(({ text }) => text)
        .join(''),
    ).toBe('one;two;');
  });

  it('is stopped after its timeout, also when no hub is there to say so', async () => {
    const { connection } = await connectDaemon({ handler: untilStopped });
    connection.send(executeMessage({ timeoutMs: 10 }));
    expect((await connection.first('task.failed')).error.code).toBe('EXECUTION_TIMEOUT');
  });

  it('sends its end again until the hub acknowledges it', async () => {
    const hub = await startHub();
    hub.welcome({ heartbeatMs: 10 });
    const { daemon, events } = startDaemon(hub);
    const connection = await hub.connection(0);
    await connection.first('daemon.hello');
    const { taskId, token } = executeMessage();
    connection.send(executeMessage({ taskId, token }));
    await waitFor(() => connection.all('task.completed').length > 1, { deadlineMs: 5000, what: 'the second end' });
    connection.send({ type: 'task.acknowledged', taskId, token, outcome: 'kept' });
    await seen(events, 'acknowledged');
    expect(daemon.unacknowledged).toBe(0);
  });
});

describe('a daemon whose connection is lost', () => {
  it('goes on, says what runs, and sends the output that the next hub does not have', async () => {
    const hub = await startHub();
    const gate = Promise.withResolvers<void>();
    const handler: DaemonHandler = async (_task, { write }) => {
      write('one ');
      await gate.promise;
      write('two');
    };
    const { events } = startDaemon(hub, { handler });
    const first = await hub.connection(0);
    await first.first('daemon.hello');
    const { taskId, token } = executeMessage();
    first.send(executeMessage({ taskId, token }));
    await first.first('task.output');
    hub.welcome({ keep: [taskId], resume: [{ taskId, token, seq: 1 }] });
    first.cut();
    await seen(events, 'disconnected');
    gate.resolve();
    const second = await hub.connection(1);
    expect((await second.first('daemon.hello')).running).toEqual([{ taskId, token }]);
    await second.first('task.completed');
    expect(second.all('task.output').map(({ seq, text }) => [seq, text])).toEqual([[2, 'two']]);
  });

  it('sends all output again to a hub that has none of it', async () => {
    const hub = await startHub();
    const gate = Promise.withResolvers<void>();
    const handler: DaemonHandler = async (_task, { write }) => {
      write('one ');
      await gate.promise;
      write('two');
    };
    startDaemon(hub, { handler });
    const first = await hub.connection(0);
    await first.first('daemon.hello');
    first.send(executeMessage());
    await first.first('task.output');
    first.cut();
    const second = await hub.connection(1);
    await second.first('task.output');
    gate.resolve();
    await second.first('task.completed');
    expect(second.all('task.output').map(({ seq, text }) => [seq, text])).toEqual([
      [1, 'one '],
      [2, 'two'],
    ]);
  });

  it('stops what the hub drops, and reports nothing of it', async () => {
    const { hub, connection: first, daemon, events } = await connectDaemon({ handler: untilStopped });
    const execute = executeMessage();
    first.send(execute);
    await first.first('task.accepted');
    hub.welcome({ drop: [execute.taskId] });
    first.cut();
    const second = await hub.connection(1);
    await waitFor(() => daemon.running === 0, { deadlineMs: 5000, what: 'the attempt to end' });
    expect(await seen(events, 'ended')).toMatchObject({ outcome: 'dropped' });
    expect(daemon.unacknowledged).toBe(0);
    expect([...second.all('task.failed'), ...second.all('task.completed')]).toEqual([]);
  });

  it('stops the older attempt of a task when the hub sends a newer one', async () => {
    const hub = await startHub();
    const { events } = startDaemon(hub, {
      slots: 2,
      handler: (task, context) => (task.attempt === 1 ? untilStopped(task, context) : echo(task, context)),
    });
    const connection = await hub.connection(0);
    await connection.first('daemon.hello');
    connection.send(executeMessage({ taskId: 'again', token: 1001 }));
    await connection.first('task.accepted');
    connection.send(executeMessage({ taskId: 'again', token: 1002, attempt: 2 }));
    expect(await connection.first('task.completed')).toMatchObject({ token: 1002 });
    await waitFor(() => ofType(events, 'ended').some(({ outcome }) => outcome === 'dropped'), {
      deadlineMs: 5000,
      what: 'the older one to end',
    });
  });
});

describe('results on disk', () => {
  it('are there before they are sent, outlive the process, and go once acknowledged', async () => {
    const dataDir = join(folder, 'outlive');
    const { hub, connection: first, daemon } = await connectDaemon({ dataDir, handler: writeDone });
    const { taskId, token } = executeMessage();
    first.send(executeMessage({ taskId, token }));
    await first.first('task.completed');
    expect(await readdir(dataDir)).toEqual([`${taskId}-${token}.json`]);
    await first.first('task.output');
    await daemon.stop();

    const next = startDaemon(hub, { dataDir });
    const second = await hub.connection(1);
    expect((await second.first('daemon.hello')).finished).toEqual([{ taskId, token }]);
    await second.first('task.completed');
    expect(second.all('task.output')).toMatchObject([{ taskId, token, seq: 1, text: 'done' }]);
    second.send({ type: 'task.acknowledged', taskId, token, outcome: 'refused' });
    expect(await seen(next.events, 'acknowledged')).toMatchObject({ taskId, outcome: 'refused' });
    await waitFor(async () => (await readdir(dataDir)).length === 0, { deadlineMs: 5000, what: 'the file to go' });
  }, 20_000);

  it('that cannot be read are reported, and hold nothing up', async () => {
    const dataDir = join(folder, 'unreadable');
    const { hub, connection, daemon } = await connectDaemon({ dataDir });
    connection.send(executeMessage());
    await connection.first('task.completed');
    await daemon.stop();
    await writeFile(join(dataDir, 'broken-1.json'), '{"final":{"type":"task.completed"');
    const { events } = startDaemon(hub, { dataDir });
    await seen(events, 'connected');
    expect(await seen(events, 'problem')).toMatchObject({ message: expect.stringContaining('broken-1.json') as string });
    expect((await (await hub.connection(1)).first('daemon.hello')).finished).toHaveLength(1);
  }, 20_000);

  it('do not leave the folder whatever a task is called', async () => {
    const dataDir = join(folder, 'names');
    const { connection } = await connectDaemon({ dataDir });
    connection.send(executeMessage({ taskId: '../../evil', token: 5 }));
    await connection.first('task.completed');
    expect(await readdir(dataDir)).toEqual(['%2E%2E%2F%2E%2E%2Fevil-5.json']);
  });
});

describe('a daemon that drains', () => {
  it('says so at once, ends what runs, and waits for the acknowledgement', async () => {
    const gate = Promise.withResolvers<void>();
    const { connection, daemon, ended } = await connectDaemon({ handler: () => gate.promise, acknowledgeMs: 5000 });
    const { taskId, token } = executeMessage();
    connection.send(executeMessage({ taskId, token }));
    await connection.first('task.accepted');
    const drained = daemon.drain();
    await connection.first('daemon.heartbeat', ({ isDraining }) => isDraining);
    gate.resolve();
    await connection.first('task.completed');
    expect(connection.isOpen).toBe(true);
    connection.send({ type: 'task.acknowledged', taskId, token, outcome: 'kept' });
    await drained;
    expect(await ended).toBeUndefined();
    await waitFor(() => !connection.isOpen, { deadlineMs: 5000, what: 'the connection to close' });
  });

  it('ends at once when it is stopped, and the hub learns that it was', async () => {
    const { connection, daemon, ended } = await connectDaemon({ handler: untilStopped });
    const { taskId, token } = executeMessage();
    connection.send(executeMessage({ taskId, token }));
    await connection.first('task.accepted');
    const stopped = daemon.stop();
    expect((await connection.first('task.failed')).error.code).toBe('DAEMON_CRASHED');
    connection.send({ type: 'task.acknowledged', taskId, token, outcome: 'kept' });
    await stopped;
    expect(await ended).toBeUndefined();
  });

  it('ends without a hub', async () => {
    const hub = await startHub();
    hub.refuse(503);
    const { daemon, events, ended } = startDaemon(hub);
    await seen(events, 'disconnected');
    await daemon.drain();
    expect(await ended).toBeUndefined();
  });
});
