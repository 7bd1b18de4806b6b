import { MusterError } from '../errors/index.ts';
import type { TaskRequest } from '../tasks/index.ts';
import { listDaemons } from './daemon-store.ts';
import type { DaemonPorts } from './scripts.ts';

/** A target and an exclusion may name the same daemon, one by its name and one by its id. Errors: `request.invalid`. */
export async function assertTargetIsLeft(
  ports: DaemonPorts,
  tenant: string,
  { requirements: { targetDaemon: target, excludedDaemons: excluded = [] } = {} }: TaskRequest,
): Promise<void> {
  if (target === undefined || excluded.length === 0) return;
  const daemons = await listDaemons(ports, tenant);
  const named = daemons.find(({ id, name }) => id === target || name === target);
  if (named === undefined || !excluded.some((each) => each === named.id || each === named.name)) return;
  throw new MusterError(
    'request.invalid',
    `requirements: the target "${target}" is one of excludedDaemons, so that no daemon could run it`,
    { details: { targetDaemon: target, daemon: named.id } },
  );
}
