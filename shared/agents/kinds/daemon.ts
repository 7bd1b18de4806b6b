import { TaskFailure } from '../../errors/index.ts';
import type { DefinitionOf, KindOfAgent } from '../agent-kind.ts';

/** Agents that only daemons run. Their tasks wait in the queue `remote`, which hubs serve. */
export const daemon: KindOfAgent<DefinitionOf<'daemon'>> = {
  openRunner: () => () =>
    Promise.reject(new TaskFailure('DAEMON_UNRESPONSIVE', 'Only a daemon can run this agent, and this process is none')),
  check: () => undefined,
  secretsOf: () => [],
};
