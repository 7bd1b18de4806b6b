import type { AgentDefinition, Settings, Source, TenantLimits } from '../../config/index.ts';
import { MusterError } from '../../errors/index.ts';
import { laneOfAgent, type NewTask } from '../../ledger/index.ts';
import type { SharedLane } from '../../tasks/index.ts';
import type { AcceptRequest } from './request.ts';

interface LaneRules {
  settings: Settings;
  /** Of its tenant; null for none. */
  limits: TenantLimits | null;
}

/**
 * The lanes of a task: its own, which is named by its producer or its session's, and the shared ones of its agent and its
 * source. It runs when it holds all of them.
 * Errors: `request.invalid` when its agent, made by API, names a lane that the configuration does not have.
 */
export function lanesOf(
  request: AcceptRequest,
  definition: AgentDefinition,
  { settings, limits }: LaneRules,
  source: Source,
): Pick<NewTask, 'lane' | 'sharedLanes'> {
  const ofSession = request.session === undefined ? undefined : { name: sessionLane(request.session), limit: 1 };
  const own = request.lane ?? ofSession;
  return {
    lane: own ? { ...own, ...(request.order === undefined ? {} : { order: request.order }) } : null,
    sharedLanes: sharedLanesOf(request.agent, definition, { settings, limits }, settings.retries[source].sharedLane),
  };
}

function sharedLanesOf(agent: string, definition: AgentDefinition, rules: LaneRules, ofSource: string | undefined): SharedLane[] {
  const lanes: SharedLane[] = [];
  if (definition.lane !== undefined) lanes.push(sharedLane(agent, definition.lane, rules.settings));
  if (ofSource !== undefined && ofSource !== definition.lane) lanes.push(sharedLane(agent, ofSource, rules.settings));
  const limit = agentLimit(agent, definition, rules.limits);
  if (limit !== undefined) lanes.push({ name: laneOfAgent(agent), limit });
  return lanes;
}

/** How many tasks of an agent run at once; nothing when nothing bounds them. */
function agentLimit(agent: string, { maxRunning }: AgentDefinition, limits: TenantLimits | null): number | undefined {
  const own = limits && Object.hasOwn(limits.runningByAgent, agent) ? limits.runningByAgent[agent] : undefined;
  return own ?? maxRunning;
}

function sharedLane(agent: string, name: string, { lanes }: Settings): SharedLane {
  const lane = Object.hasOwn(lanes, name) ? lanes[name] : undefined;
  if (!lane) throw new MusterError('request.invalid', `The agent "${agent}" is in the lane "${name}", which is not configured`);
  return { name, limit: lane.limit };
}

/** The lane of a session: its tasks run one at a time, but for runs of schedules. */
export function sessionLane(id: string): string {
  return `session:${id}`;
}
