import type { HookRequest, ScheduleRequest, TaskRequest } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId } from '../../api/api.ts';
import { createTask } from '../new-task/create-task.ts';
import type { TourThing } from '../../tour/read-made.ts';
import { taskPath } from '../../routing/paths.ts';

/** The request that makes an example, for the browser and for curl. */
export interface ExampleCall<Body = object> {
  readonly path: string;
  readonly body: Body;
}

export interface Example {
  /** What it makes. */
  readonly thing: TourThing;
  readonly title: string;
  readonly text: string;
  readonly button: string;
  /** What the page shows that it leads to. */
  readonly seen: string;
  readonly needs: 'submit' | 'operate';
  readonly call: (agent: string) => ExampleCall;
  /** Makes it, and resolves to the page that shows it. */
  readonly make: (agent: string) => Promise<string>;
}

/** The agent of a new installation, which needs no model. */
const FIRST_AGENT = 'echo';

/** The agent that runs the examples. */
export function exampleAgent(agents: readonly string[]): string {
  return agents.includes(FIRST_AGENT) ? FIRST_AGENT : (agents[0] ?? FIRST_AGENT);
}

const taskCall = (agent: string): ExampleCall<TaskRequest> => ({ path: '/v1/tasks', body: { agent, input: 'Say hello to the fleet' } });
const scheduleCall = (agent: string): ExampleCall<ScheduleRequest> => ({
  path: '/v1/schedules',
  body: { every: '1h', agent, message: 'Look whether everything is well', name: 'Example: every hour' },
});
const hookCall = (agent: string): ExampleCall<HookRequest> => ({
  path: '/v1/hooks',
  body: { provider: 'none', agent, name: 'Example: no signature' },
});

/** One of each thing that makes work. */
export const EXAMPLES: readonly Example[] = [
  {
    thing: 'task',
    title: 'Run a task',
    text: 'An agent gets a text, and its page shows the answer while it is written.',
    button: 'Run an example task',
    seen: 'A task’s page has its answer, each attempt, and where its time went. All of them are at Tasks.',
    needs: 'submit',
    call: taskCall,
    make: async (agent) => {
      const id = await createTask(taskCall(agent).body);
      return taskPath({ id, tenant: null });
    },
  },
  {
    thing: 'schedule',
    title: 'Let one run at fixed times',
    text: 'A schedule makes a task every hour; this one also runs at once.',
    button: 'Make an example schedule',
    seen: 'Schedules lists the schedules with their last runs and the next one; each run is a task.',
    needs: 'submit',
    call: scheduleCall,
    make: async (agent) => {
      const { id } = await answerOf(api.POST('/v1/schedules', { body: scheduleCall(agent).body }));
      await answerOf(api.POST('/v1/schedules/{id}/run', byId(id)));
      return '/schedules';
    },
  },
  {
    thing: 'hook',
    title: 'Let a webhook start one',
    text: 'Another system posts to an address of its own. This one takes unsigned events, and gets one at once.',
    button: 'Make an example hook',
    seen: 'The event became this task. Hooks shows every delivery, also the refused ones.',
    needs: 'operate',
    call: hookCall,
    make: async (agent) => {
      const { id } = await answerOf(api.POST('/v1/hooks', { body: hookCall(agent).body }));
      await answerOf(api.POST('/hooks/{id}', { ...byId(id), body: { text: 'Something happened elsewhere' } }));
      return '/tasks?source=webhook';
    },
  },
];
