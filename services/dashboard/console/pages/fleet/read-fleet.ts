import type { Attention, Daemon, Fleet, Task } from '#shared/client/openapi.gen.ts';
import { answerOf, api, itemsOf } from '../../api/api.ts';

/** A task that runs somewhere, as a link shows it. */
export type RunningTask = Pick<Task, 'id' | 'agent' | 'worker'>;

export interface FleetData extends Fleet {
  /** The daemons that the person's tenant registered. */
  registered: Daemon[];
  /** Running tasks of the person's tenant. */
  tasks: RunningTask[];
  /** What needs attention here: of workers, hubs, queues and daemons. */
  problems: Attention[];
}

const RUNNING_SHOWN = 200;

/** The pages of the console that what is shown here is about. */
const PAGES: ReadonlySet<string> = new Set(['/fleet', '/queues']);

/** The fleet, with what it runs. */
export async function readFleet(signal: AbortSignal): Promise<FleetData> {
  const [fleet, registered, tasks, attention] = await Promise.all([
    answerOf(api.GET('/v1/fleet', { signal })),
    itemsOf(api.GET('/v1/daemons', { signal })),
    itemsOf(api.GET('/v1/tasks', { params: { query: { status: 'running', limit: RUNNING_SHOWN } }, signal })),
    itemsOf(api.GET('/v1/attention', { signal })),
  ]);
  return { ...fleet, registered, tasks, problems: attention.filter(({ link }) => PAGES.has(link)) };
}
