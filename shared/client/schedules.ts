import type { HttpCalls } from './http-calls.ts';
import { readPages } from './pages.ts';
import type { Run, Schedule, SchedulePatch, SchedulePreview, SchedulePreviewRequest, ScheduleRequest } from './openapi.gen.ts';
import type { ListScheduleRunsQuery, ListSchedulesQuery } from './queries.ts';
import { newKey } from './send-tasks.ts';
import { SentTask, type TaskPorts } from './sent-task.ts';

interface Signalled {
  signal?: AbortSignal | undefined;
}

/** Schedules, and the runs that they made. */
export class Schedules {
  readonly #ports: TaskPorts;
  readonly #calls: HttpCalls;

  constructor(ports: TaskPorts) {
    this.#ports = ports;
    this.#calls = ports.calls;
  }

  /** Makes a schedule. With an `idempotencyKey` the same request again gives the same schedule; by default only the client's own repetitions. */
  async create(request: ScheduleRequest, { signal }: Signalled = {}): Promise<Schedule> {
    const idempotencyKey = request.idempotencyKey ?? newKey();
    return await this.#calls.json({ method: 'POST', path: '/v1/schedules', json: { ...request, idempotencyKey }, idempotencyKey, signal });
  }

  /** Newest first. */
  list(query: ListSchedulesQuery = {}, { signal }: Signalled = {}): AsyncGenerator<Schedule, void> {
    return readPages(this.#calls, { path: '/v1/schedules', query, signal });
  }

  async get(id: string, { signal }: Signalled = {}): Promise<Schedule> {
    return await this.#calls.json({ method: 'GET', path: pathOf(id), signal });
  }

  /** Changes what is given; `{ status: 'paused' }` and `{ status: 'active' }` pause and resume it. */
  async change(id: string, patch: SchedulePatch, { signal }: Signalled = {}): Promise<Schedule> {
    return await this.#calls.json({ method: 'PATCH', path: pathOf(id), json: patch, signal });
  }

  /** Its runs stay. */
  async remove(id: string, { signal }: Signalled = {}): Promise<void> {
    await this.#calls.json({ method: 'DELETE', path: pathOf(id), signal });
  }

  /** Runs it now, besides its times. */
  async run(id: string, { signal }: Signalled = {}): Promise<SentTask> {
    const request = { method: 'POST', path: pathOf(id, '/run'), idempotencyKey: newKey(), signal } as const;
    const { id: task } = await this.#calls.json<{ id: string }>(request);
    return new SentTask(this.#ports, task);
  }

  /** Newest first. */
  runs(id: string, query: ListScheduleRunsQuery = {}, { signal }: Signalled = {}): AsyncGenerator<Run, void> {
    return readPages(this.#calls, { path: pathOf(id, '/runs'), query, signal });
  }

  /** How a rule is read, and its next times. */
  async preview(request: SchedulePreviewRequest, { signal }: Signalled = {}): Promise<SchedulePreview> {
    return await this.#calls.json({ method: 'POST', path: '/v1/schedules/preview', json: request, isRepeatable: true, signal });
  }
}

function pathOf(id: string, rest = ''): string {
  return `/v1/schedules/${encodeURIComponent(id)}${rest}`;
}
