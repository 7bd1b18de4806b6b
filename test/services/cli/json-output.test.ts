import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Command } from 'commander';
import { createProgram } from '../../../services/cli/create-program.ts';
import { OFFLINE_DAEMON } from '../../support/daemons/offline-daemon.ts';
import { type FakeHttpEndpoint, startFakeHttpEndpoint } from '../../support/fake-http-endpoint.ts';
import { answer, record, TASK_ID } from './fake-api.ts';
import { runMuster } from './run-muster.ts';

/** A record with what any command reads before it prints. */
const ITEM = {
  ...OFFLINE_DAEMON,
  ...record(),
  level: 'warning',
  name: 'n',
  to: 'slack',
  severity: 'warning',
  tenants: null,
  firing: [],
  summary: 's',
  tenant: null,
  text: 'Look',
  since: null,
  mediaType: 'text/plain',
  bytes: 1,
  number: 1,
  taskId: TASK_ID,
  question: 'Go on?',
  schema: null,
  answer: null,
  at: '2026-01-01T00:00:00.000Z',
  nextFireAt: '2026-01-01T00:00:00.000Z',
  stopping: 0,
  removed: { tasks: 1 },
  kept: 'Backups keep it.',
};
const ANSWER = { ...ITEM, items: [ITEM], nextCursor: null };

/** What commands need besides their arguments. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  send: ['--no-wait'],
  'schedule create': ['every day', 'Hello'],
  'schedule backfill': ['--since', '2026-01-01T00:00:00Z'],
  'hooks create': ['--provider', 'github', '--agent', 'echo'],
  'limits set': ['--running', '5'],
  'limits preview': ['--running', '5'],
  'budgets set': ['--scope', 'tenant', '--hard', '5'],
  retry: [TASK_ID],
  cancel: [TASK_ID],
  discard: [TASK_ID],
  'erase session': ['--yes'],
  'erase person': ['--yes'],
};

/** They print no single answer: their JSON is lines until Ctrl-C. */
const STREAMS = new Set(['watch']);

const program = createProgram({
  contextOf: () => {
    throw new Error('No command runs');
  },
  version: '0.0.0',
  doctor: () => Promise.resolve(0),
  run: () => Promise.resolve(),
  io: { stdout: { write: () => true }, stderr: { write: () => true } },
});

function allOf(command: Command, path: readonly string[] = []): { command: Command; path: readonly string[] }[] {
  return [{ command, path }, ...command.commands.flatMap((inner) => allOf(inner, [...path, inner.name()]))];
}

function takesJson(command: Command): boolean {
  return command.options.some(({ long }) => long === '--json') || (command.parent !== null && takesJson(command.parent));
}

const commands = allOf(program)
  .filter(({ command, path }) => takesJson(command) && !STREAMS.has(path.join(' ')))
  .map(({ command, path }) => [path.join(' '), path, command.registeredArguments.filter(({ required }) => required)] as const);

let api: FakeHttpEndpoint;
beforeAll(async () => {
  api = await startFakeHttpEndpoint((response) => answer(response, 200, ANSWER));
});
afterAll(() => api.close());

it('there are commands to look at', () => {
  expect(commands.length).toBeGreaterThan(50);
});

it.each(commands)('muster %s prints an answer as JSON where it takes --json', async (name, path, required) => {
  const args = [...path, ...required.map(() => TASK_ID), ...(NEEDED[name] ?? []), '--json'];
  const { code, stdout, stderr } = await runMuster(args, { env: { MUSTER_URL: api.url, MUSTER_API_KEY: 'a-key' } });
  expect([code, stderr]).toEqual([0, '']);
  expect(() => void JSON.parse(stdout)).not.toThrow();
});
