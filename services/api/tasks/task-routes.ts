import type { Route } from '#shared/http/index.ts';
import { taskActionRoutes } from './act-on-task.ts';
import { getTasks } from './list-tasks.ts';
import { taskReadRoutes, type TaskReadPorts } from './read-task.ts';
import { streamTask, type StreamPorts } from './stream-task.ts';
import { postTask, type SubmitPorts } from './submit-task.ts';
import { postTasks } from './submit-tasks.ts';

export type TaskPorts = SubmitPorts & TaskReadPorts & StreamPorts;

/** `/v1/tasks`: submitting, reading, streaming and steering tasks. */
export function taskRoutes(ports: TaskPorts): Route[] {
  return [postTask(ports), postTasks(ports), getTasks(ports), ...taskReadRoutes(ports), streamTask(ports), ...taskActionRoutes(ports)];
}
