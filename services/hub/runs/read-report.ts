import { readUsage } from '#shared/agents/index.ts';
import type { AgentResult, AgentUsage } from '#shared/config/index.ts';
import type { DaemonMessage } from '#shared/daemons/index.ts';

/** What the agent answered, by the daemon's last message, without what it used. */
export function resultOf({ output, result }: DaemonMessage<'task.completed'>): AgentResult {
  return { ...(output === null || output === undefined ? {} : { output }), ...(result === undefined ? {} : { result }) };
}

/** All that an attempt has used, each of one model. Daemons say it in all each time, so that a message that is lost or comes twice changes nothing. */
export function usesOf({ byModel = [], ...all }: DaemonMessage<'task.usage'>['usage']): AgentUsage[] {
  return (byModel.length > 0 ? byModel : [all]).map((each) => readUsage(each));
}
