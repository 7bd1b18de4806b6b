import type { ServerContext } from '@modelcontextprotocol/server';
import { isTerminal, type TaskState } from '#shared/tasks/index.ts';

/** Of one call: a task that goes on and off again and again is no reason for more. */
const MAX_NOTIFICATIONS = 100;

/** What tells a client that asked for it how the task of its call stands, each time that this changes. */
export function progressOf({ mcpReq }: ServerContext): (state: TaskState) => void {
  const { _meta: { progressToken } = {} } = mcpReq;
  if (progressToken === undefined) return () => undefined;
  let [progress, last] = [0, ''];
  return ({ status, gate }) => {
    const message = gate === undefined || gate === null ? `The task is ${status}` : `The task is ${status}: it waits at the gate "${gate}"`;
    if (isTerminal(status) || message === last || progress === MAX_NOTIFICATIONS) return;
    [progress, last] = [progress + 1, message];
    // Who is gone needs none.
    void mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message } }).catch(() => undefined);
  };
}
