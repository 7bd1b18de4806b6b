import type { AgentDefinition, Settings, Source } from '../../config/index.ts';
import { MusterError } from '../../errors/index.ts';
import type { NewTask } from '../../ledger/index.ts';
import type { SharedLane } from '../../tasks/index.ts';
import type { AcceptRequest } from './build-task.ts';

/**
 * The lanes of a task: its own one, which is its session's, else the one that its producer names; and those that it shares, which are
 * its agent's and its source's. It runs when it has all of them.
 * Errors: `request.invalid` when its agent, made by API, names a lane that the configuration does not have.
 */
export function lanesOf(
  request: AcceptRequest,
  definition: AgentDefinition,
  settings: Settings,
  source: Source,
): Pick<NewTask, 'lane' | 'sharedLanes'> {
  const own = request.session === undefined ? request.lane : { name: sessionLane(request.session), limit: 1 };
  const names = new Set([definition.lane, settings.retries[source].sharedLane].filter((name) => name !== undefined));
  return {
    lane: own ? { ...own, ...(request.order === undefined ? {} : { order: request.order }) } : null,
    sharedLanes: [...names].map((name) => sharedLane(request.agent, name, settings)),
  };
}

function sharedLane(agent: string, name: string, { lanes }: Settings): SharedLane {
  const lane = Object.hasOwn(lanes, name) ? lanes[name] : undefined;
  if (!lane) throw new MusterError('request.invalid', `The agent "${agent}" is in the lane "${name}", which is not configured`);
  return { name, limit: lane.limit };
}

/** The lane of a session: its tasks run one at a time. */
export function sessionLane(id: string): string {
  return `session:${id}`;
}
