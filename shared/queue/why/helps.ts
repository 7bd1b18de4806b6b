import type { WaitGate } from './wait-reason.ts';

/** What helps at a gate that holds a task back, or refuses it; the same words in `why`, in chats and in refusals. */
export const HELPS = {
  lane: 'It starts when the task before it has ended. Cancel that task, or use another session.',
  steer: 'The running task has yet to take it in. Stop that task to start this one.',
  cap: "It starts when one of the tenant's tasks ends. An administrator can raise the tenant's caps, or the fleet's where that is full.",
  time: 'It starts at its time. Send it again without `scheduledFor` to start it now.',
  debounce: 'It starts when no more messages come.',
  retry: 'It is tried again at its time. Retry it to start it now.',
  provider: 'It starts when the provider takes requests again. Retry it to start it now.',
  budget: 'It starts when the budget has money again: at its next window, or when it is raised. Retry it to check again now.',
  circuit: 'It starts when its endpoint answers again. Retry it to try now.',
  failures: 'It starts when a person retries it, or one of the tasks that failed. See to their cause first.',
  agent: 'It starts when somebody resumes its agent.',
  repeats: 'All tasks of this input start when a person retries one of them. See to what sends it first, or cancel them.',
  daemon:
    'It starts when a daemon that meets its needs is connected and has a free slot. Connect one, or send the task again with other needs.',
  commands:
    'It starts when other commands have ended. An operator can give attempts (more) users of their own by `commands.users`, or set `commands.sharedUser`.',
  suspect: 'It comes back by itself. Its worker was lost while it ran, so it runs apart from others.',
  turn: 'It goes out when the turn of its tenant comes. A higher priority or more slots bring that forward.',
  fleet: 'It starts when something in the fleet ends. A higher priority brings it forward; an operator can raise `limits.maxConcurrent`.',
  paused: 'An operator has to resume the queue.',
  worker: 'An operator has to start a worker that serves this queue.',
  queue: 'It starts when a slot becomes free. A higher priority or another worker brings that forward.',
  outbox: 'A worker adds its ticket within seconds. Should this last, see whether a worker serves `maintenance`.',
  rate: 'It starts when its queue may start another. An operator can raise the `limiter` of the queue.',
  clock: "Times count by Redis's clock. An operator should synchronise the clock of this server.",
  deadline: 'It ends as stale. Send it again with a later deadline.',
} as const satisfies Record<WaitGate, string>;

/** The same for lanes of several sessions. */
export const LANE_HELPS = {
  agent:
    "It starts when enough of the agent's tasks have ended. An administrator can raise the agent's `maxRunning`, or the tenant's `runningByAgent`.",
  shared: 'It starts when the tasks before it in the lane have ended. An operator can raise the `limit` of the lane.',
} as const;

/** What helps when a task is refused. */
export const REFUSAL_HELPS = {
  rate: 'Send less often, or ask an administrator for a higher rate.',
  waiting: "It is accepted when fewer tasks wait. An administrator can raise the tenant's `waiting`.",
  pressure: 'Send it again later, or with a higher priority.',
} as const;
