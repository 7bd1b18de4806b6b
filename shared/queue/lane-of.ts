import type { AgentDefinition } from '../config/agent-definitions.ts';
import type { Settings, Source } from '../config/settings.ts';
import { MusterError } from '../errors/muster-error.ts';
import type { NewTask } from '../ledger/new-task.ts';
import type { AcceptRequest } from './build-task.ts';
import { sessionLane } from './session-lane.ts';

/**
 * The lane of a task, most specific first: its session's, the one its producer names, its agent's, its source's; null for none.
 * Errors: `request.invalid` when its agent, made by API, names a lane that the configuration does not have.
 */
export function laneOf(request: AcceptRequest, definition: AgentDefinition, settings: Settings, source: Source): NewTask['lane'] {
  const order = request.order === undefined ? {} : { order: request.order };
  if (request.session !== undefined) return { name: sessionLane(request.session), limit: 1, ...order };
  if (request.lane) return { ...request.lane, ...order };
  const name = definition.lane ?? settings.retries[source].sharedLane;
  if (name === undefined) return null;
  const lane = Object.hasOwn(settings.lanes, name) ? settings.lanes[name] : undefined;
  if (!lane) throw new MusterError('request.invalid', `The agent "${request.agent}" is in the lane "${name}", which is not configured`);
  return { name, limit: lane.limit, ...order };
}
