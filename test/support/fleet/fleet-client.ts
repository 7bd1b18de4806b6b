import type { TaskRequest } from '#shared/tasks/task-request.ts';
import { isTerminal, type TaskStatus } from '#shared/tasks/transitions.ts';
import { callApi, type CallOptions, type Reply } from '../call-api.ts';
import { waitFor } from '../wait-for.ts';

/** By default with the key of the admin of tenant `default`. */
export interface FleetCall extends CallOptions {
  /** The address of a service; by default the API's. */
  url?: string;
}

/** The fields of a task's record that scenarios read. */
export interface TaskView {
  id: string;
  status: TaskStatus;
  attempt: number;
  session: string | null;
  output: string | null;
  /** What the agent of the tests answers with: which of its runs it was. */
  result: { run: number } | null;
  error: { code: string; message: string } | null;
  outcome: { kind: string; reason: string | null } | null;
  createdAt: string;
  startedAt: string | null;
  completedAt: string | null;
}

export interface AttemptView {
  number: number;
  worker: string;
  daemonName: string | null;
  status: string;
  startedAt: string;
  endedAt: string | null;
  error: { code: string } | null;
}

/** A caller of the fleet's HTTP API. */
export interface FleetClient {
  call(method: string, path: string, options?: FleetCall): Promise<Reply>;
  /** Submits a task to the agent `work` (or the one named) and returns its id; fails unless the answer is 202. */
  submit(request?: Partial<TaskRequest>, options?: Omit<FleetCall, 'body'>): Promise<string>;
  /** Creates something else (a tenant, a key, a hook) and returns the answer's body; fails unless the answer is 201. */
  make(path: string, body: object, options?: Omit<FleetCall, 'body'>): Promise<Reply['body']>;
  task(id: string, options?: FleetCall): Promise<TaskView>;
  attempts(id: string, options?: FleetCall): Promise<AttemptView[]>;
  /** Waits until the task has one of these states. */
  reaches(id: string, statuses: readonly TaskStatus[], options?: FleetCall): Promise<TaskView>;
  /** Waits until all of them have ended, whatever happens to the API meanwhile. In their order. */
  ended(ids: readonly string[], deadlineMs: number, options?: FleetCall): Promise<TaskView[]>;
}

const REACH_MS = 20_000;
/** The number of concurrent calls while many tasks are read. */
const AT_ONCE = 20;

export function createFleetClient({ url, key }: { url: () => string; key: string }): FleetClient {
  const call: FleetClient['call'] = (method, path, options = {}) => callApi(method, `${options.url ?? url()}${path}`, { key, ...options });
  const task: FleetClient['task'] = async (id, options) => (await ok(call('GET', `/v1/tasks/${id}`, options))).body as TaskView;
  return {
    call,
    task,
    submit: async (request = {}, options = {}) => {
      const { status, body } = await call('POST', '/v1/tasks', { ...options, body: { agent: 'work', input: 'to do', ...request } });
      if (status !== 202) throw new Error(`expected 202, got ${status}: ${JSON.stringify(body)}`);
      return String(body.id);
    },
    make: async (path, draft, options = {}) => {
      const { status, body } = await call('POST', path, { ...options, body: draft });
      if (status !== 201) throw new Error(`expected 201, got ${status}: ${JSON.stringify(body)}`);
      return body;
    },
    attempts: async (id, options) => (await ok(call('GET', `/v1/tasks/${id}/attempts`, options))).body.items as AttemptView[],
    reaches: (id, statuses, options) =>
      waitFor(async () => [await task(id, options)].find(({ status }) => statuses.includes(status)), {
        deadlineMs: REACH_MS,
        everyMs: 30,
        what: `task ${id} to be ${statuses.join(' or ')}`,
      }),
    ended: (ids, deadlineMs, options) => allEnded((id) => task(id, options), ids, deadlineMs),
  };
}

async function allEnded(read: (id: string) => Promise<TaskView>, ids: readonly string[], deadlineMs: number): Promise<TaskView[]> {
  const found = new Map<string, TaskView>();
  const readEnded = async (id: string): Promise<void> => {
    // What cannot be read now is read in the next round.
    const seen = await read(id).catch(() => null);
    if (seen && isTerminal(seen.status)) found.set(id, seen);
  };
  const left = (): string[] => [...new Set(ids)].filter((id) => !found.has(id));
  // Only the first few are read while they have not ended: to ask for hundreds again and again would keep the fleet busy.
  const round = async (): Promise<boolean> => {
    for (let next = left().slice(0, AT_ONCE); next.length > 0; next = left().slice(0, AT_ONCE)) {
      await Promise.all(next.map(readEnded));
      if (next.some((id) => !found.has(id))) return false;
    }
    return true;
  };
  await waitFor(round, { deadlineMs, everyMs: 100, what: `the end of ${ids.length} tasks` }).catch(async (cause: unknown) => {
    await Promise.all(left().map(readEnded));
    const [count, rest] = [found.size, left().join(', ')];
    throw new Error(`${count} of ${ids.length} tasks ended in ${deadlineMs} ms; not ${rest}`, { cause });
  });
  return ids.map((id) => found.get(id) as TaskView);
}

async function ok(reply: Promise<Reply>): Promise<Reply> {
  const answer = await reply;
  if (answer.status !== 200) throw new Error(`expected 200, got ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer;
}
