import { readUsage } from '#shared/agents/index.ts';
import type { AgentResult, AgentUsage } from '#shared/config/index.ts';
import type { DaemonMessage } from '#shared/daemons/index.ts';

/** What the agent answered, by the daemon's last message. */
export function resultOf({ output, result, usage }: DaemonMessage<'task.completed'>): AgentResult {
  return {
    ...(output === null || output === undefined ? {} : { output }),
    ...(result === undefined ? {} : { result }),
    ...(usage ? { usage: usageOf(usage) } : {}),
  };
}

/** All that an attempt has used: daemons say it in all each time, so that a message that is lost or comes twice changes nothing. */
export function usageOf(usage: DaemonMessage<'task.usage'>['usage']): AgentUsage {
  return readUsage(Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== undefined)));
}
